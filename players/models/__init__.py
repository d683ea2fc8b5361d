"""Tables about people, one module for each subject."""

from players.models.identity import (
    Document,
    DocumentContent,
    DocumentKind,
    Duplicate,
    Ground,
    Part,
    RefusalReason,
    Resolution,
    Submission,
    SubmissionStatus,
    Trait,
)
from players.models.people import Agreement, Jurisdiction, LimitsAsked, Player, Staff, User, UserManager

__all__ = [
    "Agreement",
    "Document",
    "DocumentContent",
    "DocumentKind",
    "Duplicate",
    "Ground",
    "Jurisdiction",
    "LimitsAsked",
    "Part",
    "Player",
    "RefusalReason",
    "Resolution",
    "Staff",
    "Submission",
    "SubmissionStatus",
    "Trait",
    "User",
    "UserManager",
]
