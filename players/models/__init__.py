"""Tables about people, one module for each subject."""

from players.models.people import Agreement, Jurisdiction, LimitsAsked, Player, Staff, User, UserManager

__all__ = ["Agreement", "Jurisdiction", "LimitsAsked", "Player", "Staff", "User", "UserManager"]
