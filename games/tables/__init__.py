"""What every table has: its rules and limits, its state, and the parts that all table pages show."""
