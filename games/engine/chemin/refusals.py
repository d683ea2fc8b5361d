"""Reasons for which an action at the table is refused."""

from __future__ import annotations

from enum import StrEnum


class Refusal(StrEnum):
    """All reasons. A refused action changes nothing."""

    # Seats
    NO_SUCH_SEAT = "no_such_seat"
    SEAT_TAKEN = "seat_taken"
    NOT_SEATED = "not_seated"
    ALREADY_AWAY = "already_away"
    NOT_AWAY = "not_away"
    ALREADY_LEAVING = "already_leaving"
    AWAY_FROM_PLAY = "away_from_play"
    # Turns
    NOT_NOW = "not_now"
    NOT_YOUR_TURN = "not_your_turn"
    NOBODY_IS_ASKED = "nobody_is_asked"
    # Money
    BAD_AMOUNT = "bad_amount"
    NOT_COVERED = "not_covered"
    BELOW_MINIMUM = "below_minimum"
    ABOVE_MAXIMUM = "above_maximum"
    NOT_THE_FULL_AMOUNT = "not_the_full_amount"
    NOT_UNDER_THE_FULL_AMOUNT = "not_under_the_full_amount"
    MORE_THAN_IS_OPEN = "more_than_is_open"
    LESS_THAN_HALF = "less_than_half"
    # Cards
    RULE_BINDS = "rule_binds"
    ADVICE_BINDS = "advice_binds"
    ALREADY_ADVISED = "already_advised"
    WRONG_SHOE = "wrong_shoe"


class Refused(Exception):
    """The action is not allowed in this state; `reason` names the rule."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason.value)
        self.reason = reason
