"""Player accounts across money and games: registration, protection, closing, data export, erasure."""
