"""People, tables and money for tests, made through the product's own services."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

from django.db import connection
from django.utils import timezone

from audit import approvals
from audit.models import Approval
from games.betting.limits import StoredLimits
from games.change_requests import requests
from games.models import ScheduledVersion, Shape, SoloSeat, Table, TableVersion
from games.solo import Played, add_chip, open_table, play_round, solo_seat_at
from games.tables import status
from games.tables.checks import TableClock, TableLimits
from games.tables.chemin_rules import CheminClock, CheminRules
from games.tables.clock import Clock
from games.tables.default_tables import Shipped, baccarat_limits, shipped
from games.tables.versions import make_table
from games.variants import VARIANTS
from players.account import terms
from players.identity import verification
from players.identity.uploads import check_upload
from players.identity.verification import Details
from players.models import (
    Agreement,
    Conversation,
    DocumentKind,
    Jurisdiction,
    Part,
    Player,
    ServiceMessage,
    Submission,
    Topic,
    User,
)
from players.protection.limits import required
from tests.harness.owner import as_owner
from tests.people import a_member_of_staff
from tests.players import papers
from tests.wallet.money_moves import write
from wallet import ledger
from wallet.ledger import accounts, purse
from wallet.models import Mode

PASSWORD = "long enough for anyone"
_numbers = count(1)


def a_player(
    jurisdiction: str = "SE", *, real: int = 0, free: int = 0, password: str | None = None, is_known: bool = True
) -> Player:
    """A player with that much real and free money, in minor units. *is_known*: with a confirmed identity."""
    player = a_newcomer(jurisdiction, password=password, is_known=is_known)
    _set_required_limits(player)
    for mode, kind, amount in ((Mode.REAL, "cashier", real), (Mode.FREE, "mint", free)):
        if amount:
            _give(player, mode, kind, amount)
    return player


def a_newcomer(
    jurisdiction: str = "SE", *, agrees: bool = True, password: str | None = None, is_known: bool = True
) -> Player:
    """A player without money who has set no limits and answered no offer of them, and may not have agreed to the terms
    in force, nor have a confirmed identity.
    """
    where = Jurisdiction.objects.get(pk=jurisdiction)
    user = User.objects.create_user(f"player{next(_numbers)}.{uuid4().hex[:6]}@example.com", password, verified=True)
    player = Player.objects.create(
        user=user, jurisdiction=where, currency=where.currencies[0], birth_date=date(1990, 1, 1)
    )
    if agrees:
        Agreement.objects.create(player=player, terms_version=terms.VERSION)
    accounts.open_accounts(player)
    if is_known:
        confirm_identity(player)
    return player


def confirm_identity(player: Player) -> None:
    """Have somebody confirm who *player* is, without a name or a document."""
    as_owner("INSERT INTO players_identity (player_id, by) VALUES (%s, 'register:test')", [player.pk])


def _set_required_limits(player: Player) -> None:
    """Set the limits that the jurisdiction requires before play, so high that no test reaches them; decline offers."""
    asked = [(player.pk, kind, period, 10**11, str(player)) for kind, period in required(player)]
    with connection.cursor() as cursor:
        if not asked:
            cursor.execute("SELECT players_answer_limit_offer(%s)", [player.pk])
        cursor.executemany(
            "SELECT players_change_limit(%s::bigint, 'player', %s::text, %s::text, %s::bigint, %s::text, '')", asked
        )


def _give(player: Player, mode: Mode, kind: str, amount: int) -> None:
    source = accounts.house_account(kind, player.currency, mode)
    cash = accounts.player_account(player.pk, mode)
    lines = (
        ledger.Line(source, player.currency, mode, -amount),
        ledger.Line(cash, player.currency, mode, amount),
    )
    write(ledger.Journal(uuid4(), "deposit" if mode is Mode.REAL else "top_up", lines))


def a_submission(player: Player, **details: Any) -> Submission:
    """Return an identity submission of *player* with unique values; *details* replaces some of them."""
    number = uuid4().hex
    said = Details(
        given_names="Ada " + number.translate(str.maketrans("0123456789", "ghijklmnop")),
        family_name="Bergström",
        street=f"Storgatan {number[:6]}",
        postal_code="111 22",
        city="Malmö",
        phone="",
        document_kind=DocumentKind.PASSPORT,
        document_number=number[:12].upper(),
    )
    evidence = {part: check_upload(papers.picture(f"{part} {number[:8]}")) for part in (Part.FRONT, Part.ADDRESS)}
    return verification.submit(player=player, details=replace(said, **details), evidence=evidence)


def a_verified_player(jurisdiction: str = "SE", *, real: int = 0, free: int = 0) -> Player:
    """A player with a verified identity."""
    player = a_player(jurisdiction, real=real, free=free)
    verification.verify(submission_id=a_submission(player).pk, by=a_member_of_staff("compliance"))
    return player


def shipped_with(variant: str) -> Shipped:
    """Return the first shipped table of a variant. Raises StopIteration if none is shipped."""
    return next(each for each in shipped() if each.variant == variant)


def a_free_name(name: str, slug: str) -> str:
    """The name, with the slug behind it if another table has it: no two tables have one name."""
    return f"{name} {slug}" if Table.objects.filter(name__iexact=name).exists() else name


def a_table(
    slug: str = "baccarat", *, variant: str = "baccarat", limits: StoredLimits | None = None, is_open: bool = True
) -> Table:
    """A solo table with the name of its game and, unless given, the limits of the shipped one; open unless asked
    otherwise.
    """
    name = a_free_name(VARIANTS[variant].label("en", "name"), slug)
    allowed = limits or shipped_with(variant).limits
    table = make_table(slug=slug, name=name, variant=variant, limits=allowed, by="staff:test")
    if is_open:
        table = status.open_table(table_id=table.pk, reason="for a test", by="staff:test")
    return table


def a_golden_table(*, limits: StoredLimits | None = None) -> Table:
    """The open `golden` table."""
    return a_table("golden", variant="golden", limits=limits)


UNHURRIED = Clock(betting=600_000, call=600_000, card=100_000, pause=600_000)
"""A pace at which nothing is due by itself while a test runs."""


def a_shared_table(
    variant: str = "no_commission",
    *,
    slug: str = "live",
    limits: StoredLimits | None = None,
    clock: Clock = UNHURRIED,
    is_open: bool = True,
) -> Table:
    """A shared table, open unless asked otherwise, without a round. Its steps are due when the test says so."""
    table = make_table(
        slug=slug,
        name=a_free_name("Live", slug),
        variant=variant,
        shape=Shape.SHARED,
        limits=limits or shipped_with(variant).limits,
        clock=clock,
        by="staff:test",
    )
    if is_open:
        table = status.open_table(table_id=table.pk, reason="for a test", by="staff:test")
    return table


UNHURRIED_CHEMIN = CheminClock(
    ask=600_000,
    decide=600_000,
    deal=600_000,
    choice=600_000,
    pause=600_000,
    house_player=500_000,
    missed=2,
    removal=3_600_000,
)
"""The same at a Chemin de Fer table."""


def a_chemin_live_table(
    currency: str = "SEK",
    *,
    slug: str = "chemin",
    seat_count: int = 9,
    minimum: int = 1_000,
    maximum: int = 100_000,
    house_players: int = 0,
    clock: CheminClock = UNHURRIED_CHEMIN,
    is_open: bool = True,
) -> Table:
    """A table of `chemin_de_fer`, open unless asked otherwise, with nobody at it; with house players a practice table.
    Banks are minor units. Its steps are due when the test says so.
    """
    table = make_table(
        slug=slug,
        name=a_free_name("Chemin", slug),
        variant="chemin_de_fer",
        shape=Shape.CHEMIN,
        limits=CheminRules(currency, seat_count, minimum, maximum, house_players).stored(),
        clock=clock,
        by="staff:test",
    )
    if is_open:
        table = status.open_table(table_id=table.pk, reason="for a test", by="staff:test")
    return table


def a_purse(player: Player, amount: int, mode: Mode = Mode.REAL) -> None:
    """Move that much of the player's money into the purse, in minor units."""
    purse.rebuy(player=player, mode=mode, amount=amount, key=uuid4())


def a_seat(player: Player, table: Table, mode: Mode = Mode.REAL, /, **bets: int) -> SoloSeat:
    """The player's seat at the table with one chip on each bet named: ``a_seat(player, table, tie=1000)``."""
    open_table(player=player, table_id=table.pk, mode=mode)
    for bet, chip in bets.items():
        add_chip(player=player, table_id=table.pk, mode=mode, bet=bet, chip=chip)
    return solo_seat_at(player=player, table_id=table.pk, mode=mode)


def a_round(player: Player, table: Table, mode: Mode = Mode.REAL, /, **bets: int) -> Played:
    """A round played with one chip on each bet named, long enough after the player's last game."""
    seat = a_seat(player, table, mode, **bets)
    let_time_pass(player)
    return play_round(
        player=player, table_id=table.pk, mode=mode, round_id=seat.round_id, slip_version=seat.slip_version
    )


def let_time_pass(player: Player) -> None:
    """Move the start of the player's last game back, so that another may begin where the law asks for a pause."""
    if seconds := player.jurisdiction.seconds_between_games:
        back = "UPDATE games_lastgame SET began_at = began_at - make_interval(secs => %s) WHERE player_id = %s"
        as_owner(back, [seconds, player.pk])


def put_live(
    *,
    table_id: int,
    limits: TableLimits,
    clock: TableClock | None = None,
    jurisdictions: Sequence[str] | None = None,
    modes: Sequence[Mode] | None = None,
    reason: str = "for a test",
    goes_live_at: datetime | None = None,
) -> TableVersion:
    """Another version of a table, asked for by one supervisor and approved by another; the newest there is then."""
    asked = requests.ask_version(
        table_id=table_id,
        limits=limits,
        clock=clock,
        jurisdictions=jurisdictions,
        modes=modes,
        goes_live_at=goes_live_at,
        reason=reason,
        staff=a_member_of_staff("supervisor", factor=False),
    )
    approve(asked)
    return TableVersion.objects.filter(table_id=table_id).latest("number")


def other_limits() -> StoredLimits:
    """Return the limits of the `baccarat` table with another maximum on Tie in SEK."""
    limits = baccarat_limits()
    limits["SEK"]["bets"]["tie"] = [1000, 5000]
    return limits


def scheduled(table: Table, limits: StoredLimits | None = None) -> ScheduledVersion:
    """Other limits of a `baccarat` table, approved for tomorrow."""
    tomorrow = timezone.now() + timedelta(days=1)
    put_live(table_id=table.pk, limits=limits or other_limits(), reason="a new season", goes_live_at=tomorrow)
    return ScheduledVersion.objects.latest("pk")


def an_overdue_complaint(
    player: Player, text: str = "Still nothing.", *, age: timedelta = timedelta(days=15)
) -> Conversation:
    """A complaint that was sent *age* ago, and is to be decided within 14 days."""
    begun = Conversation.objects.create(player=player, topic=Topic.COMPLAINT, began_at=timezone.now() - age)
    ServiceMessage.objects.create(conversation=begun, text=text)
    return begun


def approve(asked: Approval, reason: str = "seen") -> None:
    """Have another person approve the request."""
    staff = a_member_of_staff("supervisor", factor=False)
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(staff), person=staff.person, reason=reason, may=lambda permission: True
    )
