"""Calls and announcements at a shared table, in the active language."""

from django.utils.translation import gettext as _

from games.betting.error_messages import table_pauses
from games.labels import announcement, calls
from games.models import Phase
from games.shared.state import Coming, State

CALL = "No more bets"  # the croupier's call in English


def call(state: State) -> tuple[str, str, str]:
    """Return the croupier's call, the call in English where the language is another, and an explanation."""
    played = state.round
    if state.is_stopped:
        return _("The table is stopped"), "", _why_stopped(state)
    if state.is_halted:
        return _("Play is stopped"), "", _halted(state)
    if state.is_cutting:
        return (
            _("The new shoe is being cut"),
            "",
            _("Players add random numbers to the shuffle. The next round opens in a moment."),
        )
    if played is None:
        if state.is_open:
            return _("The table opens in a moment"), "", _("A new shoe is being shuffled.")
        if state.is_paused:
            return _pauses()
        return _("The table is closed"), "", ""
    match played.phase:
        case Phase.BETTING:
            return _("Place your bets"), "", ""
        case Phase.CLOSED:
            return _no_more_bets()[0], _no_more_bets()[1], _("The cards are about to be dealt.")
        case Phase.DEALT if not state.is_announced:
            return _no_more_bets()[0], _no_more_bets()[1], _dealing(state)
        case _ if played.is_void:
            returned = _("All stakes were returned.")
            if played.dealt_at is not None:
                returned = _("All stakes were returned and any payout was reversed.")
            return _("This round was voided"), "", returned
        case Phase.VOID if state.is_paused:
            return _pauses()
        case Phase.VOID:
            return _("The table is closed"), "", ""
    assert state.coup is not None  # noqa: S101  (a round with all cards shown, or settled, was dealt)
    return announcement(state.coup), "", _("The next round opens in a moment.") if _is_next(state) else ""


def _dealing(state: State) -> str:
    """Return what the croupier says of the cards that are open."""
    said = calls(state.coup) if state.coup is not None else {}
    return said.get(state.turned) or _("The cards are being dealt.")


def _why_stopped(state: State) -> str:
    """Return why a table is stopped; once the incident of its round is ruled on, return the ruling."""
    played = state.round
    if played is not None and played.is_void:
        return _voided(played)
    if played is not None and played.is_confirmed:
        return _result_confirmed()
    return _("Something went wrong. The shift supervisor has been called. Accepted bets are safe.")


def _halted(state: State) -> str:
    if state.lets_bets_go:
        return _("No new bets are accepted. Bets on the table will be played and paid unless you remove them.")
    return _("The next round opens when play resumes.")


def _pauses() -> tuple[str, str, str]:
    return _("The table is paused"), "", _("The next round opens when the table resumes.")


def _no_more_bets() -> tuple[str, str]:
    text = _("No more bets")
    return text, "" if text == CALL else CALL


def notes(state: State) -> tuple[str, ...]:
    """Return the announcements shown with the call, the most important last: low windows show that alone."""
    played = state.round
    found = []
    if state.is_stopped or played is None:
        return ()
    if played.is_confirmed:
        found.append(_result_confirmed())
    if state.is_halted:
        return (*found, *_before_the_halt(state))
    if played.phase == Phase.BETTING and played.number == 1:
        found.append(_("A new shoe."))
    if state.is_playing and played.is_last:
        found.append(_("Last round of this shoe."))
    if state.is_late:
        found.append(is_late() if state.is_playing else _("The next round opens as soon as cards can be dealt again."))
    if not state.is_open and not state.is_playing and (played.is_void or played.cards):
        found.append(table_pauses() if state.is_paused else _("The table is closed."))
    if state.is_playing and not state.is_open:
        found.append(_ends_after_this_round(state))
    if not state.is_playing and state.is_open and _is_shuffled_now(state):
        found.append(_("The shoe has ended. A new one is being shuffled."))
    return tuple(found)


def is_late() -> str:
    """Return what is said while cards do not come."""
    return _("No cards can be dealt at the moment. Bets stay as they are, and play goes on as soon as possible.")


def _ends_after_this_round(state: State) -> str:
    if state.is_house_stopped:
        return _("Play stops after this round.")
    return _("The table pauses after this round.") if state.is_paused else _("The table closes after this round.")


def _before_the_halt(state: State) -> tuple[str, ...]:
    """Return the result of the last round before a house stop, which the call does not give then."""
    if state.round is None or state.is_playing:
        return ()
    if state.round.is_void:
        return (_voided(state.round),)
    return (announcement(state.coup),) if state.coup else ()


def _is_shuffled_now(state: State) -> bool:
    """Return whether the next round comes from another shoe."""
    return state.shoe is None or state.shoe.is_spent or (state.round is not None and state.round.is_last)


def _is_next(state: State) -> bool:
    """Return whether another round follows from this shoe."""
    return state.is_open and not state.is_playing and not _is_shuffled_now(state)


def is_void(state: State) -> bool:
    return state.round is not None and state.round.is_void


def _result_confirmed() -> str:
    return _("The shift supervisor has reviewed this round. The result stands.")


def _voided(played: Coming) -> str:
    if played.dealt_at is not None:  # only staff void a dealt round
        return _("The shift supervisor voided this round. All stakes were returned and any payout was reversed.")
    return _("This round was voided before any cards were dealt. All stakes were returned.")
