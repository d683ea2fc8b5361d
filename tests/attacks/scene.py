"""A house in which every table of money, of the event log and of players' protection has rows."""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

from django.db import connection, transaction
from django.utils import timezone

from audit import approvals, log
from audit.models import (
    Category,
    Checkpoint,
    Cosignature,
    Cursor,
    Delivery,
    Leaf,
    Report,
    ReportState,
    Rolled,
    Significant,
    Tile,
    Weight,
)
from audit.significant import builtin, detection, workflow
from audit.verification.verify import entry_of, leaf_hash
from backoffice.money import deposits
from games.errors import OperatorSilent
from games.models import Phase
from players import cases
from players import staff as staffing
from players.account import closures
from players.api import tokens
from players.api.views import session_for
from players.login import credentials, locks, sessions
from players.models import ApiCall, Jurisdiction, LimitKind, Outcome, Period, Player, RegisterCheck, RuleSource, Scope
from players.protection import borrowed_money, exclusions, limits, national_rules, play_sessions, screening
from tests import builders
from tests.audit.reporting import a_broken_kind, a_kind, asked, made_here, registered
from tests.builders import a_player, a_table, a_verified_player
from tests.harness.owner import as_owner, create_as_owner
from tests.harness.reference_host import Fault
from tests.hours import settle
from tests.live.at_table import a_live_table, advance_to, bet
from tests.notices import a_notice
from tests.operator_wallet import a_visit, an_operator
from tests.people import a_member_of_staff
from tests.voiding import void_as_two_agree
from tests.wallet import holds, studios
from tests.wallet.adjusting import adjust
from tests.wallet.at_the_bank import a_payment
from tests.wallet.coups import Coup, a_bank, coup_player, house_player
from tests.wallet.money_moves import a_round, cash
from tests.wallet.payout_builders import a_withdrawal, approve
from tests.wallet.statement_builders import confirmed, drafted
from tests.wallet.stopped import go_on, stop
from wallet import exchange_rates, payouts, webhooks
from wallet.ledger import hourly_totals
from wallet.models import (
    Account,
    BankNotice,
    BankOrder,
    BankPayout,
    BankPayoutNotice,
    LedgerHourlyTotal,
    NoticePath,
    OperatorBet,
    PartnerKind,
    PastHold,
    WebhookDelivery,
    WebhookTry,
)
from wallet.operator_wallet import operators, queue
from wallet.payments import notifications
from wallet.provider_statements import drafts
from wallet.seamless_wallet import partners
from wallet.seamless_wallet.signing import signing_key
from wallet.withdrawals import TWO_PEOPLE_ABOVE

CALLBACK = "http://127.0.0.1/callback/"


def fill() -> tuple[Player, Player]:
    """Create the rows; return a player with plenty of money, and one whose stakes have a limit."""
    attacked, other = a_verified_player(real=3 * TWO_PEOPLE_ABOVE["SEK"]), a_player("GB", real=10_000)
    limited = a_player(real=10_000)
    limits.set_limit(player=limited, kind=LimitKind.STAKE, period=Period.DAY, amount=1000, by=str(limited))
    _money(attacked)
    _statements(attacked)
    _coup(attacked, limited)
    _called(attacked)
    _played(attacked)
    _protection(other)
    _staff()
    a_notice()
    _partners(attacked)
    _remotely()
    _reports()
    _significant()
    _hours()
    _stopped()
    _seal()
    return attacked, limited


def _money(player: Player) -> None:
    payment = a_payment(player)
    notifications.keep(payment.variant, NoticePath.RETURN, b"raw", notifications.Decision.NOTED, payment=payment)
    holds.hold(uuid4(), cash(player), 1000)
    a_round(player, staked=100, paid=250)
    adjust(player, 100)
    approve(a_withdrawal(player, TWO_PEOPLE_ABOVE["SEK"] + 100))  # its second approval is open
    withdrawal = a_withdrawal(player)
    word = payouts.BankAnswer(withdrawal.reference, "accepted", withdrawal.amount, withdrawal.currency)
    payouts.hear(word, provider="test", path="callback", raw=b"raw")
    order = BankOrder.objects.create(reference=uuid4(), amount=1, currency="SEK", callback_url=CALLBACK)
    BankNotice.objects.create(order=order, body="{}")
    payout = BankPayout.objects.create(reference=uuid4(), iban="", amount=1, currency="SEK", callback_url=CALLBACK)
    BankPayoutNotice.objects.create(payout=payout, body="{}")


def _partners(player: Player) -> None:
    """Create a studio with keys and a round of which one bet was rolled back, an operator, a webhook and a rate."""
    game = studios.a_game(player)
    game.bet(100)
    game.win(200)
    game.bet(100, transaction="taken back")
    game.roll_back("taken back")
    game.roll_back("back before it came")
    for _ in range(2):
        studios.another_key(game.partner)
        partners.end_key(key=signing_key(game.partner), reason="for a test", by=a_member_of_staff("finance"))
    studios.another_key(game.partner)
    studios.a_partner(PartnerKind.OPERATOR)
    by = a_member_of_staff("administrator")
    address = "https://hooks.example/"
    hook, _secret = webhooks.add(name="Warehouse", address=address, kinds=["player.registered"], by=by)
    rate = exchange_rates.Rate("SEK", date(2026, 3, 20), Decimal(11))
    exchange_rates.store([rate], by=a_member_of_staff("finance"), is_imported=False)
    delivery = WebhookDelivery.objects.create(webhook=hook, event_id=1, kind="player.registered")
    WebhookTry.objects.create(delivery=delivery, status=503, milliseconds=12, said="HTTP 503")
    a_member_of_staff("operator")


def _remotely() -> None:
    """Create an operator whose player came and was announced again. It was notified of a round, refuses another one,
    has not answered about a bet, and is being asked for one.
    """
    table = a_table("remote")
    with an_operator() as operator:
        visitor = operator.visit(game="remote")
        visitor.plays(table, banker=5_000)
        queue.send_due()
        operator.doubt(table)
        operator.host.fail("bet", Fault.ERROR)
        with suppress(OperatorSilent):
            visitor.plays(table, banker=5_000)
        operators.announce(operator.partner, a_visit(visitor.name, "another"))
    OperatorBet.objects.create(
        launch=visitor.launch, player=visitor.player, round_id=uuid4(), game="remote", currency="SEK", amount=5_000
    )


def _statements(player: Player) -> None:
    """Create a confirmed statement with a difference that somebody settled, one that waits, and a note on a deposit."""
    staff = a_member_of_staff("finance")
    statement = confirmed([{"reference": "x"}], staff=staff)
    drafts.note(statement.differences.get().pk, text="for a test", settles=True, by=str(staff))
    drafted([{"reference": "y"}], staff=staff)
    deposits.note(player.payments.latest("begun_at").pk, text="for a test", settles=False, by=str(staff))


def _coup(banker: Player, punter: Player) -> None:
    """Create a coup that is being played, and a house player who waits for another."""
    coup = Coup(a_bank(coup_player(banker), 1000))
    coup.lay(coup_player(punter), 500)
    house_player(1000)


def _called(player: Player) -> None:
    """Create a call that the player's API client made once, a revoked token, and sessions of API clients."""
    token, _key = tokens.make(user=player.user, name="for a test", scopes=[Scope.PLAY], days=1)
    call = ApiCall.objects.create(token=token, key="once", request_hash=bytes(32), status=0, body="")
    call.status, call.body = 200, "{}"
    call.save(update_fields=["status", "body"])
    old, _key = tokens.make(user=player.user, name="of before", scopes=[Scope.READ], days=1)
    tokens.revoke(token_id=old.pk, by=str(player))
    session_for(token, "192.0.2.7")
    sessions.begin_for_api_client(user=a_player().user, ip="192.0.2.7", name="somebody else's")


def _played(player: Player) -> None:
    """Create a solo round, a round of a shared table that two people voided, and one that is not voided."""
    builders.a_round(player, a_table(), player=5000)
    live_table = a_live_table()
    bet(player, live_table, player=5000)
    void_as_two_agree(advance_to(live_table, Phase.SETTLED).pk)
    advance_to(live_table, Phase.BETTING)
    bet(player, live_table, player=5000)
    advance_to(live_table, Phase.SETTLED)


def _hours() -> None:
    """Create the totals of a past hour, and a hold as it was at its end."""
    settle()
    hour = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=3)
    LedgerHourlyTotal.objects.create(
        hour=hour, journal_kind="stake", account_kind="cash", currency="SEK", mode="R", entries=1, amount=-1, into=0
    )
    Rolled.objects.create(totals=hourly_totals.HOURLY_TOTALS, hour=hour, rows=1)
    account = Account.objects.filter(owner__isnull=False).order_by("pk")[0]
    create_as_owner(PastHold(hour=hour, round_id=uuid4(), account=account, amount=100))


def _staff() -> None:
    """Give a staff member another role, with two others."""
    asker, decider = a_member_of_staff("administrator"), a_member_of_staff("compliance")
    asked = staffing.ask_for_roles(
        member=a_member_of_staff("support"), roles=["operator"], reason="for a test", by=asker
    )
    approvals.decide(
        approval_id=asked.pk, yes=True, by=str(decider), person=decider.person, reason="for a test", may=bool
    )


def _protection(player: Player) -> None:
    one, other = a_member_of_staff("compliance"), a_member_of_staff("compliance")
    exclusion = exclusions.exclude(player=player, days=30, reason="for a test", by=one)
    asked = exclusions.ask(exclusion=exclusion, reason="for a test", by=one)
    approvals.decide(approval_id=asked.pk, yes=True, by=str(other), person=other.person, reason="seen", may=bool)
    exclusions.exclude_self(player=player, months=None, by=str(player))
    asked = national_rules.ask(
        where=Jurisdiction.objects.get(pk="SE"),
        rule="pause_asks",
        value=True,
        source=RuleSource.READ,
        reason="for a test",
        by=one,
    )
    approvals.decide(approval_id=asked.pk, yes=True, by=str(other), person=other.person, reason="seen", may=bool)
    locks.lock(player=player, reason="for a test", by=one)
    borrowed_money.block_deposits(player=player, reason="for a test", by=one)
    screening.read_due()
    cases.ask_source_of_funds(player=player, due_at=datetime(2100, 1, 1, tzinfo=UTC), reason="for a test", by=one)
    locks.unlock(player=player, reason="for a test", by=other)
    RegisterCheck.objects.create(player=player, register="test", outcome=Outcome.CLEAR)
    play_sessions.choose_interval(player=player, minutes=30)
    as_owner("INSERT INTO players_limitreminder (player_id, is_review) VALUES (%s, false)", [player.pk])
    session = uuid4()
    play_sessions.read_session(player, session)
    as_owner("SELECT players_note_round(%s, %s, 'R', 100, 250)", [player.pk, session])
    closures.begin(player=a_player(), ip="192.0.2.1")
    credentials.prove(player.user_id, ["email", "next@example.com"], "default")  # and not changed
    log.record("test.named", by="system", on=str(player), data={}, personal={"name": "Ada"})


def _significant() -> None:
    """Create an acknowledged significant event of a category that a member mutes, and the rows of the detection."""
    now = timezone.now()
    detection.keep(detection.Found("test", Category.ERROR, Weight.NOTICE, "ledger", "Something", now))
    workflow.acknowledge(significant_ids=Significant.objects.values_list("pk", flat=True), by="staff:1")
    workflow.mute(who="staff:1", categories=[Category.ERROR])
    Cursor.objects.create(name="test")
    builtin.beat("test")


def _reports() -> None:
    """Create a report that is ready, one that failed, and one of the house that is being made."""
    with registered(a_kind(), a_broken_kind("broken")), transaction.atomic():
        made_here(asked())
        made_here(asked("broken"))
        report = asked(by="system")
        Report.objects.filter(pk=report.pk).update(state=ReportState.MAKING)


def _stopped() -> None:
    """Stop the house, and let play continue."""
    stop()
    go_on()


def _seal() -> None:
    """Seal some events while others wait, with a tile of the first leaves and a checkpoint that nobody signed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT audit_seal(3)")
    first = Leaf.objects.select_related("event").get(leaf=0).event
    Tile.objects.create(level=0, number=0, hashes=leaf_hash(entry_of(bytes(first.body), bytes(first.salt or b""))))
    checkpoint = Checkpoint.objects.create(size=2, root=bytes(32), at=timezone.now(), note="for a test")
    Delivery.objects.create(checkpoint=checkpoint, to="file:/for/a/test")
    Cosignature.objects.create(checkpoint=checkpoint, witness="for a test")
