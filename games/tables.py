"""Tables as staff handle them: made, put live under new limits, opened and closed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from types import NoneType
from typing import cast

from django.conf import settings
from django.db import connection, transaction

from audit import log
from audit.log import Json
from games.chemin.rules import GuestClock, GuestRules, GuestRulesError, StoredGuestLimits
from games.engine.chemin import new_table
from games.engine.chemin.frozen import freeze
from games.engine.liability import largest_loss
from games.engine.odds import LIVE_MINIMUM, lowest_return
from games.limits import Limits, StoredLimits
from games.live import news
from games.live.clock import Clock, ClockError
from games.models import CheminTable, LiveTable, Shape, Table, TableVersion
from games.variants import GAMES, VARIANTS
from games.variants.game import GuestGame
from games.versions import languages, rules
from wallet.models import Mode


@dataclass(frozen=True)
class Approved:
    """Why something comes into force: which approval, of what, who asked for it and why, and who decided."""

    approval_id: int
    asked_by: str
    decided_by: str
    reason: str
    digest: str  # of the rules that it was asked for under
    based_on: int | None  # the version that was in force then, None of a table that is to be made
    due_at: datetime | None  # where it waits for its time

    def told(self) -> dict[str, Json]:
        """Return what the event log says of it."""
        told: dict[str, Json] = {"approval": self.approval_id, "asked_by": self.asked_by}
        return told | ({"due": self.due_at.isoformat()} if self.due_at else {})


TableLimits = StoredLimits | StoredGuestLimits  # of games with bets on two hands; of those that guests play
TableClock = Clock | GuestClock

# Rounds share the lock on a table's row, one after another, and could keep a change waiting while play goes on.
# This lock is given in the order it was asked for: rounds in progress end, those that come now wait for the change.
STAND_IN_LINE = "LOCK TABLE games_table IN EXCLUSIVE MODE"


class TableError(Exception):
    """Something that may not be done to a table, in a sentence for staff."""


class NothingChanged(TableError):
    """A new version that would be like the one in force."""

    def __init__(self) -> None:
        super().__init__("These are the limits, the clock and the rules in force: nothing would change.")


class UnusableLimits(TableError):
    """Limits that the rules, the chips or the players of the table cannot be used with."""


class WrongShape(TableError):
    """A table that does not deal for those whom its game is for."""

    def __init__(self) -> None:
        super().__init__("A game of guests against each other has a guests' table; every other game has another one.")


class UnusableClock(TableError):
    """A table where the house keeps time without a pace, or with one of another kind of table; or a solo table with
    one.
    """


class Overtaken(TableError):
    """What was asked for no longer fits: the table has another version by now, or the program other rules."""


class MissingLanguage(TableError):
    """A game that cannot be shown in a language of the house."""

    def __init__(self, variant: str, missing: Mapping[str, Sequence[str]]) -> None:
        texts = "; ".join(f"{language}: {', '.join(lacking)}" for language, lacking in missing.items())
        super().__init__(f"{variant} lacks texts ({texts}). It needs every language of the house.")


class ReturnTooLow(TableError):
    """A bet that returns under 75 % at some stake the limits allow (GLI-19 v3.0, 4.7.1)."""

    def __init__(self, bet: str, currency: str, stake: int, rtp: Fraction) -> None:
        super().__init__(
            f"{bet} returns {float(rtp):.2%} at a stake of {stake} minor units of {currency}; 75 % is the least."
        )


@transaction.atomic
def make_table(
    *,
    slug: str,
    name: str,
    variant: str,
    limits: TableLimits,
    by: str,
    shape: Shape = Shape.SOLO,
    clock: TableClock | None = None,
    approval: Approved | None = None,
) -> Table:
    """Make a closed table with its first version. The house does so by itself when it is furnished; what staff
    want is made because of an *approval* (`games.versions`). A shared one has a clock and, in its limits, what the
    house may lose in a round; it is one table for real money and one for free. So is a guests' table, which has one
    currency and a clock of its own kind; where the house plays places of it, it is for free money alone.

    Raises ReturnTooLow, MissingLanguage, UnusableLimits, UnusableClock, WrongShape, KeyError for an unknown variant.
    """
    table = Table(slug=slug, name=name, variant=variant, shape=shape)
    if approval:
        check_is_as_asked(table, digest=approval.digest, based_on=None)
    check(table, limits, clock)
    table.save(force_insert=True)
    reason = approval.reason if approval else "The table is made."
    _put_live(table, limits=limits, clock=clock, reason=reason, by=by, approval=approval)
    if shape is Shape.SHARED:
        LiveTable.objects.bulk_create([LiveTable(table=table, mode=mode) for mode in Mode])
    if shape is Shape.GUESTS:
        _lay_out(table, GuestRules.of(limits))
    return table


@transaction.atomic
def new_version(
    *,
    table_id: int,
    limits: TableLimits,
    reason: str,
    by: str,
    clock: TableClock | None = None,
    approval: Approved | None = None,
) -> TableVersion:
    """Put other limits in force at a table, another pace where it has one (None keeps it), or the rules the program has
    now, from this moment on (GLI-19 v3.0, A.5.1, A.6.1). Once the table was opened, the database takes other limits and
    another pace with their *approval* only.

    Waits for rounds in progress at a solo table, which end under the version they were staked under; the bets that lie
    on the table stay, and pages drawn before are refused. At a shared table the round in progress, its bets included,
    keeps the version it opened with. A guests' table keeps its currency, its places and its house players: guests sit
    there. Raises what `check_change` raises, Overtaken, Table.DoesNotExist.
    """
    with connection.cursor() as cursor:
        cursor.execute(STAND_IN_LINE)
    table = Table.objects.select_for_update(of=("self",)).select_related("version").get(pk=table_id)
    if approval:
        check_is_as_asked(table, digest=approval.digest, based_on=approval.based_on)
    clock = check_change(table, limits, clock)
    return _put_live(table, limits=limits, clock=clock, reason=reason, by=by, approval=approval)


def check_is_as_asked(table: Table, *, digest: str, based_on: int | None) -> None:
    """Refuse what was asked for under rules of this *digest* while version *based_on* was in force at *table*, if that
    is not how things stand. Raises Overtaken.
    """
    if (table.version and table.version.number) != based_on:
        raise Overtaken("The table has another version since this was asked for. Ask for it again.")
    if digest != GAMES[table.variant].digest:
        raise Overtaken("The program has other rules since this was asked for. Ask for it again.")


def check_change(table: Table, limits: TableLimits, clock: TableClock | None) -> TableClock | None:
    """Refuse what cannot follow the version in force at *table*, and return the clock it would have.

    Raises NothingChanged, UnusableLimits, UnusableClock, ReturnTooLow, MissingLanguage.
    """
    before = table.version
    if clock is None and before and before.clock:
        clock = (GuestClock if table.shape == Shape.GUESTS else Clock).of(before.clock)
    in_force = before and (before.limits, before.clock, before.rules_digest)
    if in_force == (limits, clock and clock.stored(), GAMES[table.variant].digest):
        raise NothingChanged
    if before and (gone := before.limits.keys() - limits.keys()):
        raise UnusableLimits(f"Players with {', '.join(sorted(gone))} would lose the table: close it instead.")
    if before and table.shape == Shape.GUESTS:
        _check_places_stay(before.limits, limits)
    check(table, limits, clock)
    return clock


def follow_rules(*, by: str) -> None:
    """Give every table whose rules are not those of this program a version with them; nothing is dealt there before.
    The database takes it without an approval since limits and pace stay what they were.
    """
    rules.keep()
    for table in Table.objects.filter(version__isnull=False).select_related("version").order_by("pk"):
        if table.version and table.version.rules_digest != GAMES[table.variant].digest:
            new_version(
                table_id=table.pk, limits=table.version.limits, reason="The program has other rules now.", by=by
            )


@transaction.atomic
def set_open(*, table_id: int, is_open: bool, reason: str, by: str) -> Table:
    """Open or close a table; what is in progress concludes (GLI-19 v3.0, 2.4.1). Doing it twice changes and records
    nothing.

    Raises TableError where no reason is given, Table.DoesNotExist.
    """
    if not reason.strip():
        raise TableError("Say why: the reason is kept in the log.")
    table = Table.objects.select_for_update().get(pk=table_id)
    if table.is_open != is_open:
        table.is_open = is_open
        table.save(update_fields=["is_open"])
        for live_table_id in table.live.values_list("pk", flat=True):
            news.tell(live_table_id)
        log.record(
            "table.opened" if is_open else "table.closed",
            by=by,
            on=f"table:{table.pk}",
            data={"reason": reason.strip()},
        )
    return table


@transaction.atomic
def close_tables(*, variant: str | None, reason: str, by: str) -> Sequence[Table]:
    """Close every open table of a game, None: of the whole house; what is in progress concludes (GLI-19 v3.0, 2.4.1).
    Return those that were open.

    Raises TableError where no reason is given or there is no such game.
    """
    if not reason.strip():
        raise TableError("Say why: the reason is kept in the log.")
    if variant is not None and variant not in GAMES:
        raise TableError("The house has no such game.")
    found = Table.objects.filter(is_open=True).order_by("pk")
    if variant is not None:
        found = found.filter(variant=variant)
    return [set_open(table_id=table.pk, is_open=False, reason=reason, by=by) for table in found]


@transaction.atomic
def set_chat_language(*, table_id: int, language: str, by: str) -> Table:
    """Say which language is spoken in the chat of a table; none means any. Doing it twice changes and records nothing.

    Raises TableError for a language that the house does not have, Table.DoesNotExist.
    """
    if language and language not in dict(settings.LANGUAGES):
        raise TableError("The house has no such language.")
    table = Table.objects.select_for_update().get(pk=table_id)
    if table.chat_language != language:
        before, table.chat_language = table.chat_language, language
        table.save(update_fields=["chat_language"])
        data: dict[str, Json] = {"before": before, "after": language}
        log.record("table.chat_language", by=by, on=f"table:{table.pk}", data=data)
    return table


def check_returns(variant_slug: str, limits: StoredLimits) -> None:
    """Refuse limits under which some allowed stake returns less than 75 %, rounding included. Raises ReturnTooLow."""
    variant = VARIANTS[variant_slug]
    for currency in limits:
        allowed = Limits.of(limits, currency)
        for bet, (low, high) in ((bet, (each.minimum, each.maximum)) for bet, each in allowed.bets.items()):
            rtp, stake = lowest_return(variant, bet, low, high, allowed.step)
            if rtp < LIVE_MINIMUM:
                raise ReturnTooLow(bet, currency, stake, rtp)


def check_usable(variant_slug: str, limits: StoredLimits, shape: Shape = Shape.SOLO) -> None:
    """Refuse limits under which the table could not be played: every bet of the rules has them, every minimum, maximum
    and chip is a multiple of the step, and a shared table says what the house may lose in a round. Raises
    UnusableLimits.
    """
    expected = {bet.code for bet in VARIANTS[variant_slug].bets}
    for currency, entry in limits.items():
        step, chips, bets = entry["step"], entry["chips"], entry["bets"]
        if bets.keys() != expected:
            raise UnusableLimits(f"{currency}: the bets are not {', '.join(sorted(expected))}.")
        if step < 1 or not chips or any(chip < 1 or chip % step for chip in chips):
            raise UnusableLimits(f"{currency}: every chip must be a multiple of the step.")
        if not entry.get("tray", chips) or set(entry.get("tray", chips)) - set(chips):
            raise UnusableLimits(f"{currency}: the tray holds some of the chips of the table, and no others.")
        for bet, (low, high) in bets.items():
            if not 0 < low <= high or low % step or high % step:
                raise UnusableLimits(f"{currency}, {bet}: from {low} to {high} in steps of {step} cannot be staked.")
        if (shape is Shape.SHARED) is not ("liability" in entry):
            raise UnusableLimits(f"{currency}: a shared table has a liability, and a solo table none.")
        if shape is Shape.SHARED:
            _check_liability(variant_slug, limits, currency)


def _check_liability(variant_slug: str, limits: StoredLimits, currency: str) -> None:
    """One player alone can place any bet at its maximum, or the limits would promise what the house does not hold."""
    liability = limits[currency].get("liability")
    for bet, (_low, high) in limits[currency]["bets"].items():
        worst = largest_loss(VARIANTS[variant_slug], {bet: high})
        if type(liability) is not int or liability < worst:
            raise UnusableLimits(f"{currency}, {bet}: {high} can win {worst}, more than the liability of {liability}.")


def _guest_rules(limits: TableLimits) -> GuestRules:
    """Read the limits of a guests' table. Raises UnusableLimits."""
    try:
        return GuestRules.of(limits)
    except GuestRulesError as error:
        raise UnusableLimits(str(error)) from error


def _check_places_stay(before: TableLimits, after: TableLimits) -> None:
    """Whoever sits somewhere sits there on, and for real money never against the house. Raises UnusableLimits."""
    was, will_be = GuestRules.of(before), _guest_rules(after)
    if (was.places, was.house_players) != (will_be.places, will_be.house_players):
        raise UnusableLimits("A guests' table keeps its places and its house players: make another one instead.")


def _lay_out(table: Table, rules: GuestRules) -> None:
    """Put up the table with nobody at it, once for each kind of money that it is played for."""
    modes = [Mode.FREE] if rules.is_practice else list(Mode)
    live_tables = LiveTable.objects.bulk_create([LiveTable(table=table, mode=mode) for mode in modes])
    nobody = freeze(new_table(rules.table_rules))
    CheminTable.objects.bulk_create([CheminTable(live_table=each, state=nobody) for each in live_tables])


def check(table: Table, limits: TableLimits, clock: TableClock | None) -> None:
    """Refuse what the table, which need not be stored, could not be played under. Raises UnusableLimits, UnusableClock,
    ReturnTooLow, MissingLanguage, WrongShape, KeyError for an unknown variant.
    """
    shape = Shape(table.shape)
    if isinstance(GAMES[table.variant], GuestGame) is not (shape is Shape.GUESTS):
        raise WrongShape
    if not isinstance(clock, {Shape.SOLO: NoneType, Shape.SHARED: Clock, Shape.GUESTS: GuestClock}[shape]):
        raise UnusableClock("A shared table has a clock, a guests' table one of its own kind, and a solo table none.")
    if clock:
        _check_pace(clock)
    if shape is Shape.GUESTS:
        _guest_rules(limits)
    else:
        bets = cast("StoredLimits", limits)
        check_usable(table.variant, bets, shape)
        check_returns(table.variant, bets)
    if missing := languages.missing(table.variant):
        raise MissingLanguage(table.variant, missing)


def _check_pace(clock: TableClock) -> None:
    """Refuse a pace that no table can keep. Raises UnusableClock."""
    try:
        type(clock).of(clock.stored())
    except ClockError as error:
        raise UnusableClock(str(error)) from error


def _put_live(
    table: Table, *, limits: TableLimits, clock: TableClock | None, reason: str, by: str, approval: Approved | None
) -> TableVersion:
    game, before = GAMES[table.variant], table.version
    table.version = TableVersion.objects.create(
        table=table,
        number=before.number + 1 if before else 1,
        rules_version=game.version,
        rules_digest=game.digest,
        limits=limits,
        clock=clock and clock.stored(),
        approval_id=approval.approval_id if approval else None,
    )
    table.save(update_fields=["version"])
    log.record(
        "table.version",
        by=by,
        on=f"table:{table.pk}",
        data={
            "after": _described(table.version),
            "before": _described(before) if before else None,
            "reason": reason,
            **(approval.told() if approval else {}),
        },
    )
    return table.version


def _described(version: TableVersion) -> dict[str, Json]:
    described: dict[str, Json] = {
        "limits": cast("Json", version.limits),
        "number": version.number,
        "rules_digest": version.rules_digest,
        "rules_version": version.rules_version,
    }
    return {**described, "clock": cast("Json", version.clock)} if version.clock else described
