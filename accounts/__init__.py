"""What a player does with an account: registration, protection, closing, data export, erasure."""
