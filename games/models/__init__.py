"""What the house stores about its games: tables and their versions, the rounds that come next, and the rounds that were
played.

Foreign keys have no index of their own where a constraint's begins with them or nothing looks that way: what a round
writes to, it pays for.
"""

from games.models.chat import (
    ChatBan,
    ChatBlock,
    ChatMessage,
    ChatName,
    ChatNameTaken,
    ChatReport,
    Grounds,
    ReportDecision,
    ReportReason,
)
from games.models.chemin import (
    CheminCoup,
    CheminMove,
    CheminSeat,
    CheminStake,
    CheminTable,
    CheminTenure,
    Decider,
    PlayFinding,
    PlayReason,
    PlayReport,
    WhyLeft,
)
from games.models.hourly_totals import BetTally, CardTally, Evidence, ReturnsAlarm, ShuffleTally, StopPolicy, Tally
from games.models.letters import IncidentLetter, IncidentNote, LetterCopy, LetterEnd, LetterKind
from games.models.live import (
    OPEN_PHASES,
    UNDEALT,
    LiveRound,
    LiveSeat,
    LiveTable,
    LiveTotal,
    Phase,
    Shoe,
    ShoeEnding,
)
from games.models.rounds import Participation, ReplayDue, Result, Round, Wager
from games.models.rules import HowEnded, RulesVersion, ScheduledVersion, ScheduleEnding
from games.models.solo import ChipSet, FavouriteBet, FavouriteTable, NextRound, OpenTable
from games.models.tables import Shape, Status, Table, TableVersion
from games.models.voids import Incident, IncidentKind, IncidentRuling, Ruling, Void, VoidPart, VoidReason, VoidTold

__all__ = [
    "OPEN_PHASES",
    "UNDEALT",
    "BetTally",
    "CardTally",
    "ChatBan",
    "ChatBlock",
    "ChatMessage",
    "ChatName",
    "ChatNameTaken",
    "ChatReport",
    "CheminCoup",
    "CheminMove",
    "CheminSeat",
    "CheminStake",
    "CheminTable",
    "CheminTenure",
    "ChipSet",
    "Decider",
    "Evidence",
    "FavouriteBet",
    "FavouriteTable",
    "Grounds",
    "HowEnded",
    "Incident",
    "IncidentKind",
    "IncidentLetter",
    "IncidentNote",
    "IncidentRuling",
    "LetterCopy",
    "LetterEnd",
    "LetterKind",
    "LiveRound",
    "LiveSeat",
    "LiveTable",
    "LiveTotal",
    "NextRound",
    "OpenTable",
    "Participation",
    "Phase",
    "PlayFinding",
    "PlayReason",
    "PlayReport",
    "ReplayDue",
    "ReportDecision",
    "ReportReason",
    "Result",
    "ReturnsAlarm",
    "Round",
    "RulesVersion",
    "Ruling",
    "ScheduleEnding",
    "ScheduledVersion",
    "Shape",
    "Shoe",
    "ShoeEnding",
    "ShuffleTally",
    "Status",
    "StopPolicy",
    "Table",
    "TableVersion",
    "Tally",
    "Void",
    "VoidPart",
    "VoidReason",
    "VoidTold",
    "Wager",
    "WhyLeft",
]
