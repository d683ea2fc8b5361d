"""Tables about money, one module for each subject."""

from wallet.models.ledger import Account, AccountKind, Currency, Entry, Journal, Mode, PostingKey

__all__ = ["Account", "AccountKind", "Currency", "Entry", "Journal", "Mode", "PostingKey"]
