"""Tables about people, one module for each subject."""

from players.models.account_locks import AccountLock
from players.models.approvals import ApprovalNews
from players.models.closures import Closure, ClosureState
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
from players.models.limits import LimitChange, LimitKind, LimitOffer, LimitSource, Period
from players.models.log_in import LogInLock
from players.models.mail import Mail
from players.models.markers import Contact, ContactWay, Flag, FlagOutcome, Look, Marker, Sighting
from players.models.notes import Note, SearchWord, WordField
from players.models.notices import Notice
from players.models.pauses import (
    Exclusion,
    ExclusionKind,
    ExclusionLift,
    Outcome,
    PlayTime,
    RealityCheck,
    RegisterCheck,
    Sitting,
)
from players.models.people import Agreement, Jurisdiction, LimitsAsked, Player, Staff, User, UserManager
from players.models.replies import ReplyKind, ReplyTemplate, ReplyWithdrawal
from players.models.service import (
    DECIDED,
    HOUSES_TURN,
    CaseStep,
    ComplaintStep,
    Conversation,
    ConversationState,
    ServiceMessage,
    Topic,
    Verdict,
)
from players.models.sessions import Ended, Session
from players.models.staffing import StaffChange, StaffDeed
from players.models.tokens import ApiCall, ApiToken, Scope

__all__ = [
    "DECIDED",
    "HOUSES_TURN",
    "AccountLock",
    "Agreement",
    "ApiCall",
    "ApiToken",
    "ApprovalNews",
    "CaseStep",
    "Closure",
    "ClosureState",
    "ComplaintStep",
    "Contact",
    "ContactWay",
    "Conversation",
    "ConversationState",
    "Document",
    "DocumentContent",
    "DocumentKind",
    "Duplicate",
    "Ended",
    "Exclusion",
    "ExclusionKind",
    "ExclusionLift",
    "Flag",
    "FlagOutcome",
    "Ground",
    "Jurisdiction",
    "LimitChange",
    "LimitKind",
    "LimitOffer",
    "LimitSource",
    "LimitsAsked",
    "LogInLock",
    "Look",
    "Mail",
    "Marker",
    "Note",
    "Notice",
    "Outcome",
    "Part",
    "Period",
    "PlayTime",
    "Player",
    "RealityCheck",
    "RefusalReason",
    "RegisterCheck",
    "ReplyKind",
    "ReplyTemplate",
    "ReplyWithdrawal",
    "Resolution",
    "Scope",
    "SearchWord",
    "ServiceMessage",
    "Session",
    "Sighting",
    "Sitting",
    "Staff",
    "StaffChange",
    "StaffDeed",
    "Submission",
    "SubmissionStatus",
    "Topic",
    "Trait",
    "User",
    "UserManager",
    "Verdict",
    "WordField",
]
