"""What every call of a program passes: who calls, what may be said, what happens once, and how a refusal is worded."""
