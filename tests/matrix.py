"""Every address of the house with its answer to each reader; `tests/pages/test_matrix.py` compares the house with it.

A line is one address and one method. A method that has no line is refused to everyone who would get in (405).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache, cached_property
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import override

from accounts.harm_markers import CONTACT_DUE
from audit.models import Category, Significant, Weight
from audit.reports.kinds import Interval
from audit.reports.requests import clock
from audit.significant import detection
from backoffice.lists.index import LISTS as ALL_LISTS
from games.chemin.collusion.player_reports import report
from games.models import Incident, LiveTable, Participation, Phase, PlayReason, ShoeEnding, Table
from games.shared import malfunction, shoes
from players.api import tokens
from players.cases import ask_source_of_funds
from players.models import (
    CaseKind,
    ContactWay,
    Duplicate,
    LimitKind,
    Part,
    Period,
    Player,
    Scope,
    ServiceMessage,
    Staff,
    Submission,
    Topic,
    User,
)
from players.protection import exclusions
from players.protection.harm_markers import find, raise_flag, record_contact
from players.protection.limits import set_limit
from players.support.conversations import begin
from tests.audit.reporting import asked, made_here
from tests.builders import a_golden_table, a_player, a_round, a_submission, a_table, scheduled
from tests.chemin.at_table import a_bank, a_chemin_table, seated_players
from tests.live.at_table import a_live_table, advance_to, bet, round_at, step
from tests.live.talk import say
from tests.notices import a_notice
from tests.operator_wallet import an_operator
from tests.people import PASSWORD, a_member_of_staff, roles_with
from tests.voiding import cancel
from tests.wallet.at_the_bank import a_payment
from tests.wallet.statement_builders import confirmed, drafted, named
from tests.wallet.studios import a_game
from wallet import webhooks
from wallet.models import (
    Account,
    Journal,
    Mode,
    OperatorMessage,
    Partner,
    Payment,
    ProviderStatement,
    Webhook,
    WebhookDelivery,
    WebhookTry,
)
from wallet.payments.sandbox import request_for
from wallet.sandbox_bank.orders import seal
from wallet.seamless_wallet.signing import signing_key

PLAYERS = ("player", "other_player")  # the first one owns the objects of the addresses
AT_WORK = ("operator", "supervisor", "finance", "compliance", "support")  # they see rounds
STAFF = (*AT_WORK, "administrator")
DECIDERS = ("supervisor", "finance", "compliance", "support", "administrator")  # they decide some kind of request
TABLE_STAFF = ("operator", "supervisor", "compliance")  # they see the tables
PLAYER_READERS = ("finance", "compliance", "support")
PLAY_EXAMINERS = ("supervisor", "compliance")  # they examine how players play
WORDING = ("compliance", "supervisor")  # they write the templates of answers
REPLYING = ("operator", "support", *WORDING)  # they read the templates
PUBLISHING = ("operator", "supervisor")  # they announce maintenance
ANSWERING = ("operator", "compliance", "support")  # they answer players
MODERATORS = ("supervisor", "support")  # they decide about chat messages
REPORTERS = ("finance", "compliance")  # they make reports
CHAT_READERS = (*MODERATORS, "compliance")
OVERSEERS = ("compliance", "administrator")  # they oversee staff accounts
TAKERS = ("finance", "compliance")  # they export rows of lists as files
CARING = ("compliance", "support")  # they protect players and know their identities
PAYING = ("supervisor", "finance", "compliance")  # they see withdrawals
LISTS = {each.label(): roles_with(each.readers) for each in ALL_LISTS}
ROLES = ("anonymous", *PLAYERS, *STAFF)
MONEY = 1_000_000  # minor units
BAN = {"length": "day", "grounds": "abuse", "note": "for a test"}
A_NAME = {"name": "Bo", "grounds": "abuse"}


class Answer(Enum):
    """The expected answer."""

    PAGE = "a page of the house"
    TEXT = "something for machines"
    DOCUMENT = "what a player sent in, in which nothing runs"
    FRAMED = "a page that the house alone may frame"
    INSIDE = "a redirect into the house"
    LOG_IN = "a redirect to the log-in page"
    FORBIDDEN = "403"
    NOT_FOUND = "404"
    UNSIGNED = "400, since no bank has signed it"


PAGE, TEXT, DOCUMENT, FRAMED, INSIDE, LOG_IN, FORBIDDEN, NOT_FOUND, UNSIGNED = Answer
Answers = dict[str, Answer]


class World:
    """The objects named in the addresses, each created at its first use."""

    @cached_property
    def player(self) -> Player:
        """The owner of the round."""
        return a_player(real=MONEY)

    @cached_property
    def table_id(self) -> int:
        """An open table of `baccarat`."""
        return a_table().pk

    @cached_property
    def operator_doubt(self) -> OperatorMessage:
        """A message that an operator refuses to book, of a round that its player has played here."""
        with an_operator() as operator:
            return operator.doubt(Table.objects.get(pk=self.table_id))

    @cached_property
    def webhook(self) -> Webhook:
        """With one delivery that was given up."""
        by = a_member_of_staff("administrator")
        address = "https://hooks.example/sabot"
        hook, _secret = webhooks.add(name="Warehouse", address=address, kinds=["player.registered"], by=by)
        given_up = WebhookDelivery.objects.create(
            webhook=hook, event_id=1, kind="player.registered", state="given_up", tries=20, ended_at=Now()
        )
        for status, said in ((503, "HTTP 503"), (None, "gaierror: Name or service not known")):
            WebhookTry.objects.create(delivery=given_up, status=status, milliseconds=120, said=said)
        return hook

    @cached_property
    def studio(self) -> Partner:
        """A studio whose game the player has played."""
        game = a_game(self.player)
        game.bet(2_500)
        game.win(5_000)
        return game.partner

    @cached_property
    def scheduled_id(self) -> int:
        """Other limits of a table that wait for tomorrow, by their approval."""
        return scheduled(a_table("tomorrow")).pk

    @cached_property
    def notice_id(self) -> int:
        """A notice that nobody is shown yet."""
        far = exclusions.now() + timedelta(days=300)
        return a_notice(timedelta(days=301), shown_from=far).pk

    @cached_property
    def token_id(self) -> int:
        """An API token of the player's."""
        return tokens.make(user=self.player.user, name="Chart", scopes=[Scope.READ], days=90)[0].pk

    @cached_property
    def token_of_staff_id(self) -> int:
        """An API token of a staff member."""
        return tokens.make(
            user=a_member_of_staff("compliance").user, name="Mirror of the log", scopes=[Scope.EVENTS], days=90
        )[0].pk

    @cached_property
    def live_slug(self) -> str:
        """A shared table that takes bets."""
        return a_live_table("no_commission", slug="shared").table.slug

    @cached_property
    def chat_message_id(self) -> int:
        """Something that somebody else said at that table."""
        return say(LiveTable.objects.get(table__slug=self.live_slug, mode=Mode.REAL)).pk

    @cached_property
    def chemin_slug(self) -> str:
        """A table of Chemin de Fer where somebody holds the bank, and the next player is asked to call."""
        live_table = a_chemin_table()
        seated_players(live_table)
        a_bank(live_table)
        return live_table.table.slug

    @cached_property
    def play_report_id(self) -> int:
        """A player's report about another player of that table."""
        live_table = LiveTable.objects.get(table__slug=self.chemin_slug, mode=Mode.REAL)
        reporter = live_table.chemin_seats.get(number=1).player
        assert reporter
        return report(
            player=reporter,
            live_table_id=live_table.pk,
            seat_id=live_table.chemin_seats.get(number=2).pk,
            reason=PlayReason.OTHER,
            text="Look at this.",
        ).pk

    @cached_property
    def golden_id(self) -> int:
        """An open table of `golden`."""
        return a_golden_table().pk

    @cached_property
    def significant_id(self) -> int:
        """Something significant about the player: a large deposit."""
        one = detection.Found(
            key="for a test",
            category=Category.LARGE_PAYMENT,
            weight=Weight.ALERT,
            on=str(self.player),
            title="Large deposit",
            happened_at=clock(),
            currency="SEK",
            amount=2_500_000,
            because="Amount: SEK 25,000.00; threshold: SEK 20,000.00.",
            rows=[{"What": "payment 1", "When (UTC)": "2026-01-01 12:00:00", "Amount": "SEK 25,000.00"}],
        )
        detection.keep(one)
        return Significant.objects.get(key=one.key).pk

    @cached_property
    def report_id(self) -> int:
        """A report on what was altered, in the last hour of this house."""
        now = clock()
        interval = Interval(now - timedelta(hours=1), now)
        return made_here(asked("alterations", interval=interval)).pk

    @cached_property
    def round_id(self) -> str:
        """A round of the player's."""
        return str(a_round(self.player, Table.objects.get(pk=self.table_id), player=1000).round_id)

    @cached_property
    def shoe_id(self) -> UUID:
        """A shoe of a shared table that has ended after some rounds of the player's."""
        live_table = a_live_table("pairs", slug="spent")
        for _ in range(3):
            bet(self.player, live_table, player=5_000, tie=1_000)
            shoe_id = advance_to(live_table, Phase.SETTLED).shoe_id
            step(live_table)
        bet(self.player, live_table, banker=5_000)
        cancel(round_id=round_at(live_table).pk, by="staff:1")
        with transaction.atomic():
            shoes.end(round_at(live_table).shoe, ShoeEnding.RETIRED)
        return shoe_id

    @cached_property
    def incident(self) -> Incident:
        """A reported incident of a round that takes bets at a shared table."""
        live_round = round_at(a_live_table("pairs", slug="stopped"))
        return malfunction.report(round_id=live_round.pk, cause="A card lay face up.", by="staff:1")

    @cached_property
    def chemin_id(self) -> int:
        """A table at which two players play each other."""
        live_table = a_chemin_table(slug="guests")
        seated_players(live_table, 2)
        return live_table.pk

    @cached_property
    def conversation_id(self) -> int:
        """A question of the player's that waits for an answer."""
        return begin(player=self.player, topic=Topic.QUESTION, text="Where is my round?\nPlease look.").pk

    @cached_property
    def complaint_id(self) -> int:
        """A complaint of the player's that waits for an answer."""
        text = "The banker’s third card was wrong.\nPlease look."
        return begin(player=self.player, topic=Topic.COMPLAINT, text=text).pk

    @cached_property
    def submission(self) -> Submission:
        """The identity submission of a player who may have a second account."""
        one, other = a_player(), a_player()
        a_submission(one, document_number="SAME1234")
        return a_submission(other, document_number="SAME1234")

    @cached_property
    def document_id(self) -> UUID:
        """A picture of it."""
        return self.submission.document_set.get(part=Part.FRONT).pk

    @cached_property
    def pair(self) -> Duplicate:
        """The player whose second account this may be."""
        return Duplicate.objects.get(second=self.submission.player)

    @cached_property
    def exclusion_id(self) -> int:
        """An exclusion by staff of somebody else."""
        by = a_member_of_staff("support")
        return exclusions.exclude(player=a_player(), days=None, reason="for a test", by=by).pk

    @cached_property
    def payment(self) -> Payment:
        """A deposit of the player's that no bank has decided."""
        return a_payment(self.player)

    @cached_property
    def finance(self) -> Staff:
        """A member of finance."""
        return a_member_of_staff("finance")

    @cached_property
    def draft_id(self) -> UUID:
        """A statement that finance has uploaded and not confirmed."""
        return drafted([named("of-nobody-else")], staff=self.finance).pk

    @cached_property
    def statement(self) -> ProviderStatement:
        """A provider's statement with a line of which the house knows nothing."""
        return confirmed([named("of-nobody")])

    @cached_property
    def colleague_id(self) -> int:
        """A staff member, in a house where an administrator's requests are decided by others."""
        a_member_of_staff("compliance")
        return a_member_of_staff("support").pk

    @cached_property
    def funds_id(self) -> int:
        """A case about the source of another player's funds."""
        due = datetime(2100, 1, 1, tzinfo=UTC)
        by = a_member_of_staff("compliance")
        return ask_source_of_funds(player=a_player(), due_at=due, reason="for a test", by=by)

    @cached_property
    def case_id(self) -> int:
        """A case of the player's, about a limit that was asked for."""
        change = set_limit(
            player=self.player, kind=LimitKind.DEPOSIT, period=Period.MONTH, amount=10**9, by=str(self.player)
        )
        (found,) = find(CONTACT_DUE, players=[self.player.pk], seen=change.asked_at)
        raise_flag(CONTACT_DUE, found)
        case = self.player.case_set.get(kind=CaseKind.MARKER)
        record_contact(
            case_id=case.pk,
            made_at=case.opened_at,
            way=ContactWay.PHONE,
            said="The player is well and can afford it.",
            next_review=None,
            by=a_member_of_staff("support"),
        )
        return case.pk

    def user(self, role: str) -> User | None:
        """Return the user who requests the address."""
        if role == "anonymous":
            return None
        if role == "player":
            return with_password(self.player.user)
        if role == "finance":
            return with_password(self.finance.user)
        return with_password(a_player().user if role == "other_player" else a_member_of_staff(role).user)


@cache
def a_hash() -> str:
    """Hash of a password, computed once: important pages ask for the password again, so people need one."""
    return make_password(PASSWORD)


def with_password(user: User) -> User:
    """Give someone the password of the tests."""
    user.password = a_hash()
    user.save(update_fields=["password"])
    return user


Values = Callable[[World], Mapping[str, object]]


def nothing(world: World) -> Mapping[str, object]:
    """Return no arguments or data."""
    return {}


@dataclass(frozen=True)
class Line:
    """One address and method; ``arguments`` go into the address, ``data`` is what a good form sends."""

    name: str
    method: str
    answers: Answers
    arguments: Values = nothing
    data: Values = nothing

    @property
    def is_page(self) -> bool:
        """True if this is a page to look at."""
        return self.method == "GET" and PAGE in self.answers.values()

    def url(self, world: World, language: str = "en") -> str:
        """Return the address in *language*."""
        with override(language):
            return reverse(self.name, kwargs=dict(self.arguments(world)))


def everyone(answer: Answer) -> Answers:
    """Return the same answer for all readers."""
    return dict.fromkeys(ROLES, answer)


def visitors(answer: Answer) -> Answers:
    """Return an answer for readers who are not logged in; everyone else is redirected."""
    return everyone(INSIDE) | {"anonymous": answer}


def insiders(answer: Answer) -> Answers:
    """Return an answer for everyone who is logged in."""
    return everyone(answer) | {"anonymous": LOG_IN}


def players(answer: Answer, *, other: Answer | None = None) -> Answers:
    """Return an answer for players; the *other* player gets what does not belong to them."""
    return everyone(FORBIDDEN) | {"anonymous": LOG_IN, "player": answer, "other_player": other or answer}


def staff(answer: Answer, *roles: str) -> Answers:
    """Return an answer for staff in these roles."""
    return everyone(FORBIDDEN) | {"anonymous": LOG_IN} | dict.fromkeys(roles, answer)


def _given(data: Mapping[str, object]) -> Callable[[World], Mapping[str, object]]:
    """Return the same data for every world."""
    return lambda world: data


def a_colleague(world: World) -> Mapping[str, object]:
    """Return the arguments of the page about a staff member."""
    return {"staff_id": world.colleague_id}


def a_chance(world: World) -> Mapping[str, object]:
    """Return the data that a browser sends for the shuffle of a shoe that is not being cut."""
    return {"cut": uuid4(), "digest": "0" * 64}


def a_squeeze(world: World) -> Mapping[str, object]:
    """Return the data that the page of a player who turns cards sends, for a round that is not at the table."""
    return {"round_id": uuid4(), "side": "player", "place": 0, "share": 0}


def a_shared_table_in_real_mode(world: World) -> Mapping[str, object]:
    """Return the arguments of a shared table's addresses."""
    return {"slug": world.live_slug, "mode": Mode.REAL}


def a_journal(world: World) -> Mapping[str, object]:
    """Return the arguments of the address of the player's first journal."""
    first = Journal.objects.filter(entry__account__owner=world.player).order_by("pk")[0]
    return {"journal_id": first.pk}


def an_account(world: World) -> Mapping[str, object]:
    """Return the arguments of the address of the player's account."""
    return {"account_id": Account.objects.get(owner=world.player, kind="cash", mode=Mode.REAL).pk}


def a_deposit(world: World) -> Mapping[str, object]:
    """Return the arguments of the addresses of the player's deposit."""
    return {"payment_id": world.payment.pk}


def an_operator_message(world: World) -> Mapping[str, object]:
    """Return the arguments of the addresses of a message that an operator refuses."""
    return {"message_id": world.operator_doubt.pk}


def a_webhook(world: World) -> Mapping[str, object]:
    """Return the arguments of the addresses of a webhook."""
    return {"webhook_id": world.webhook.pk}


def a_studio(world: World) -> Mapping[str, object]:
    """Return the arguments of the addresses of a partner."""
    return {"partner_id": world.studio.pk}


def a_studio_key(world: World) -> Mapping[str, object]:
    """Return the arguments of the addresses of a partner's key."""
    return {"key_id": signing_key(world.studio).pk}


def a_statement(world: World) -> Mapping[str, object]:
    """Return the arguments of the addresses of a provider's statement."""
    return {"statement_id": world.statement.pk}


def a_draft(world: World) -> Mapping[str, object]:
    """Return the arguments of the addresses of a statement that finance has not confirmed."""
    return {"draft_id": world.draft_id}


def some_chemin_table(world: World) -> Mapping[str, object]:
    """Return the arguments of the addresses of a table where players play each other."""
    return {"slug": world.chemin_slug, "mode": Mode.REAL}


def two_players(world: World) -> Mapping[str, object]:
    """Return the arguments of the page about how two players play against each other."""
    return {"first_id": world.player.pk, "second_id": a_player().pk}


def a_panel_next_to_players(name: str) -> Callable[[World], Mapping[str, object]]:
    """Return the arguments of a panel next to it."""
    return lambda world: {**some_chemin_table(world), "name": name}


def a_panel_next_to_it(name: str) -> Callable[[World], Mapping[str, object]]:
    """Return the arguments of a panel next to a shared table."""
    return lambda world: {**a_shared_table_in_real_mode(world), "name": name}


def a_round_next_to_it(world: World) -> Mapping[str, object]:
    """Return the arguments of a round of the player's, inside the history next to its table."""
    played = Participation.objects.filter(round__shoe=world.shoe_id, player=world.player).earliest("at")
    return {"slug": "spent", "mode": Mode.REAL, "round_id": played.round_id}


def two_shared_tables(world: World) -> Mapping[str, object]:
    """Return the arguments of the page that shows two of them."""
    return {"positions": ((world.live_slug, Mode.REAL), (world.live_slug, Mode.FREE))}


def a_message_in_the_chat(world: World) -> Mapping[str, object]:
    """Return the arguments of actions on a message."""
    return dict(a_shared_table_in_real_mode(world)) | {"number": world.chat_message_id}


def the_message(world: World) -> Mapping[str, object]:
    """Return the arguments of staff actions on it."""
    return {"message_id": world.chat_message_id}


def a_submission_of(world: World) -> Mapping[str, object]:
    """Return the arguments of actions on a submission."""
    return {"submission_id": world.submission.pk}


def the_case(world: World) -> Mapping[str, object]:
    """Return the arguments of actions on a case."""
    return {"case_id": world.case_id}


def the_significant_event(world: World) -> Mapping[str, object]:
    """Return the arguments of the addresses of one significant event."""
    return {"significant_id": world.significant_id}


def the_report(world: World) -> Mapping[str, object]:
    """Return the arguments of the addresses of one report."""
    return {"report_id": world.report_id}


def a_stopped_table(world: World) -> Mapping[str, object]:
    """Return the arguments of actions on a shared table that is stopped."""
    return {"live_table_id": LiveTable.objects.get(stopped_by=world.incident).pk}


def the_incident(world: World) -> Mapping[str, object]:
    """Return the arguments of the addresses of one incident."""
    return {"incident_id": world.incident.pk}


def the_chemin_table(world: World) -> Mapping[str, object]:
    """Return the arguments of actions on a table at which players sit."""
    return {"live_table_id": world.chemin_id}


def a_stopped_round(world: World) -> Mapping[str, object]:
    """Return the arguments of actions on its round."""
    return {"round_id": world.incident.live_round_id}


def a_final_reason(world: World) -> dict[str, object]:
    """Return the form of an action that cannot be undone."""
    return {"reason": "for a test", "sure": "on"}


def a_likely_duplicate(world: World) -> Mapping[str, object]:
    """Return the arguments of actions on two players."""
    return {"first_id": world.pair.first_id, "second_id": world.pair.second_id}


def a_table_in_real_mode(world: World) -> Mapping[str, object]:
    """Return the arguments of a table page."""
    assert world.table_id
    return {"slug": "baccarat", "mode": Mode.REAL}


def golden_in_free_mode(world: World) -> Mapping[str, object]:
    """Return the arguments of actions at a table that has its own balance."""
    assert world.golden_id
    return {"slug": "golden", "mode": Mode.FREE}


def a_table_to_try(world: World) -> Mapping[str, object]:
    """Return the arguments of a visitor's pages."""
    assert world.table_id
    return {"slug": "baccarat"}


def a_session(world: World) -> Mapping[str, object]:
    """Return the arguments of questions about a session."""
    return {"session": uuid4()}


def a_conversation(world: World) -> Mapping[str, object]:
    """Return the arguments of a conversation's pages."""
    return {"conversation_id": world.conversation_id}


def a_complaint(world: World) -> Mapping[str, object]:
    """Name a complaint of the player's."""
    return {"conversation_id": world.complaint_id}


def an_answer(world: World) -> Mapping[str, object]:
    """Return an answer of staff who have read all messages."""
    return {"text": "We did.", "seen": ServiceMessage.objects.latest("pk").pk}


def the_player(world: World) -> Mapping[str, object]:
    """Return the arguments of a page about a player."""
    return {"player_id": world.player.pk}


def a_payment_of_theirs(world: World) -> Mapping[str, object]:
    """Return the arguments of the pages of a deposit."""
    return {"payment_id": world.payment.pk}


def at_the_sandbox_bank(world: World) -> Mapping[str, object]:
    """Return the arguments of the bank's page."""
    return {"order": seal(request_for(world.payment), settings.SANDBOX_BANK_KEY)}


def list_lines() -> Iterator[Line]:
    """Yield every address of every list. There is no row 0."""
    for listing in ALL_LISTS:
        readers, doers = LISTS[listing.label()], roles_with(action.permission for action in listing.actions)
        yield Line(listing.url_name(), "GET", staff(PAGE, *readers))
        yield Line(listing.url_name("file"), "GET", staff(TEXT, *(role for role in readers if role in TAKERS)))
        yield Line(listing.url_name("row"), "GET", staff(NOT_FOUND, *readers), lambda world: {"key": "0"})
        if listing.actions:
            yield Line(listing.url_name(), "POST", staff(INSIDE, *doers))


LINES = (
    # The front door
    Line("home", "GET", everyone(INSIDE)),
    Line("health", "GET", everyone(TEXT)),
    Line("ready", "GET", everyone(TEXT)),
    Line("metrics", "GET", everyone(NOT_FOUND)),
    Line("public_log", "GET", everyone(PAGE)),
    Line("log_checkpoint", "GET", everyone(NOT_FOUND)),  # nothing is sealed
    Line("log_tile", "GET", everyone(NOT_FOUND), lambda world: {"level": "0", "tile": "000"}),
    Line("service_worker", "GET", everyone(TEXT)),
    Line("felt_sheet", "GET", everyone(TEXT), lambda world: {"digest": "an-earlier-one"}),
    Line("offline", "GET", everyone(PAGE)),
    # The API, for people
    Line("api_schema", "GET", everyone(TEXT)),
    Line("api_docs", "GET", everyone(TEXT)),  # drawn by Swagger UI: looked at in tests/browser/test_api_docs.py
    Line("api_problems", "GET", everyone(PAGE)),
    Line("api_problem", "GET", everyone(PAGE), lambda world: {"code": "stale"}),
    # For everyone
    Line("lobby", "GET", everyone(PAGE)),
    Line("lobby_now", "GET", everyone(TEXT)),
    Line("fair", "GET", everyone(PAGE)),
    Line("shoe", "GET", everyone(PAGE), lambda world: {"shoe_id": world.shoe_id}),
    Line("shoe_proof", "GET", everyone(TEXT), lambda world: {"shoe_id": world.shoe_id}),
    Line("shoe_checker", "GET", everyone(DOCUMENT), lambda world: {"shoe_id": world.shoe_id}),
    Line("checker", "GET", everyone(DOCUMENT)),
    Line("terms", "GET", everyone(PAGE)),
    Line("help", "GET", everyone(PAGE)),
    Line("rules", "GET", everyone(PAGE), lambda world: {"slug": "baccarat"}),
    Line("set_language", "POST", everyone(INSIDE), data=lambda world: {"language": "sv", "next": "/en/terms/"}),
    Line("demo_outbox", "GET", everyone(PAGE)),
    # Visitors: a person without an account watches and plays with play chips
    Line("live_watch", "GET", visitors(PAGE), a_shared_table_in_real_mode),
    Line("demo_table", "GET", visitors(PAGE), a_table_to_try),
    Line("demo_bank_statement", "GET", everyone(TEXT)),
    Line("demo_start", "GET", everyone(INSIDE), a_table_to_try),
    Line("demo_start", "POST", visitors(PAGE), a_table_to_try),
    Line("demo_play", "POST", everyone(INSIDE), a_table_to_try, lambda world: {"action": "clear"}),
    Line("demo_watch", "GET", everyone(INSIDE), a_table_to_try),
    Line("demo_watch", "POST", everyone(INSIDE), a_table_to_try),
    # Coming and going
    Line("account_login", "GET", visitors(PAGE)),
    Line("account_login", "POST", visitors(PAGE)),
    Line("account_signup", "GET", visitors(PAGE)),
    Line("account_signup", "POST", visitors(PAGE)),
    Line("account_logout", "POST", everyone(INSIDE)),
    Line("mfa_authenticate", "GET", insiders(INSIDE)),
    Line("mfa_authenticate", "POST", insiders(INSIDE)),
    Line("mfa_login_webauthn", "GET", visitors(TEXT)),
    Line("mfa_login_webauthn", "POST", visitors(LOG_IN)),
    Line("account_unlock", "GET", insiders(INSIDE)),
    Line("account_unlock", "POST", insiders(INSIDE)),
    Line("account_email_verification_sent", "GET", insiders(INSIDE)),
    Line("account_email_verification_sent", "POST", insiders(INSIDE)),
    Line("account_reset_password", "GET", everyone(PAGE)),
    Line("account_reset_password", "POST", everyone(PAGE)),
    Line("account_confirm_password_reset_code", "GET", everyone(LOG_IN)),
    Line("account_confirm_password_reset_code", "POST", everyone(LOG_IN)),
    Line("account_complete_password_reset", "GET", everyone(INSIDE)),
    Line("account_complete_password_reset", "POST", everyone(INSIDE)),
    # Credentials: important changes ask for the password again
    Line("account_security", "GET", insiders(PAGE)),
    Line("account_email", "GET", insiders(PAGE)),
    Line("account_email", "POST", insiders(INSIDE)),
    Line("account_change_password", "GET", insiders(PAGE)),
    Line("account_change_password", "POST", insiders(PAGE)),
    *(
        Line(name, method, insiders(INSIDE), arguments)
        for name, arguments in (
            ("mfa_activate_totp", nothing),
            ("mfa_add_webauthn", nothing),
            ("mfa_edit_webauthn", lambda world: {"pk": 1}),
            ("mfa_remove_webauthn", lambda world: {"pk": 1}),
            ("mfa_generate_recovery_codes", nothing),
        )
        for method in ("GET", "POST")
    ),
    Line("mfa_deactivate_totp", "GET", insiders(INSIDE) | dict.fromkeys(PLAYERS, NOT_FOUND)),
    Line("mfa_deactivate_totp", "POST", insiders(INSIDE) | dict.fromkeys(PLAYERS, NOT_FOUND)),
    Line("mfa_view_recovery_codes", "GET", insiders(INSIDE)),
    Line("account_reauthenticate", "GET", insiders(PAGE)),
    Line("account_reauthenticate", "POST", insiders(PAGE)),
    Line("mfa_reauthenticate", "GET", insiders(PAGE) | dict.fromkeys(PLAYERS, INSIDE)),
    Line("mfa_reauthenticate", "POST", insiders(PAGE) | dict.fromkeys(PLAYERS, INSIDE)),
    Line("mfa_reauthenticate_webauthn", "GET", insiders(INSIDE)),
    Line("mfa_reauthenticate_webauthn", "POST", insiders(INSIDE)),
    # Identity of the player
    Line("identity", "GET", players(PAGE)),
    Line("identity", "POST", players(PAGE)),
    Line("identity_confirm", "POST", players(PAGE)),
    Line("identity_eid", "GET", players(INSIDE)),
    Line("identity_eid_back", "GET", players(INSIDE)),
    Line("sandbox_eid", "GET", players(PAGE)),
    Line("sandbox_eid", "POST", players(INSIDE), data=lambda world: {"say": "cancel"}),
    Line("documents", "GET", players(PAGE)),
    Line("documents", "POST", players(PAGE)),
    # Play
    Line("table", "GET", players(PAGE), a_table_in_real_mode),
    Line("table_play", "POST", players(INSIDE), a_table_in_real_mode, lambda world: {"action": "clear"}),
    Line("table_now", "POST", players(INSIDE), a_table_in_real_mode, lambda world: {"action": "keep"}),
    Line("table", "GET", players(PAGE), golden_in_free_mode),
    Line("table_rebuy", "POST", players(INSIDE), golden_in_free_mode, lambda world: {"amount": "100", "key": uuid4()}),
    Line("table_leave", "POST", players(INSIDE), golden_in_free_mode, lambda world: {"key": uuid4()}),
    Line("table", "GET", players(PAGE), a_shared_table_in_real_mode),
    Line("live_cut", "POST", players(TEXT), a_shared_table_in_real_mode, a_chance),
    Line("live_cut", "POST", players(TEXT), some_chemin_table, a_chance),
    Line("live_squeeze", "POST", players(TEXT), a_shared_table_in_real_mode, a_squeeze),
    Line("live_bet", "POST", players(INSIDE), a_shared_table_in_real_mode, lambda world: {"action": "undo"}),
    Line("live_framed", "GET", players(FRAMED), a_shared_table_in_real_mode),
    Line("multi_table_add", "GET", players(PAGE), two_shared_tables),
    Line("multi_table", "GET", players(PAGE), two_shared_tables),
    Line("live_now", "GET", players(TEXT), a_shared_table_in_real_mode),
    *(
        Line("live_panel", "GET", players(TEXT), a_panel_next_to_it(name))
        for name in ("limits", "history", "cashier", "rules", "settings")
    ),
    Line("live_panel_now", "GET", players(TEXT), a_panel_next_to_it("history")),
    Line("live_panel_round", "GET", players(TEXT, other=NOT_FOUND), a_round_next_to_it),
    Line(
        "live_top_up",
        "POST",
        players(TEXT),
        lambda world: {"slug": world.live_slug, "mode": Mode.FREE},
        lambda world: {"key": uuid4()},
    ),
    Line("table", "GET", players(PAGE), some_chemin_table),
    Line("chemin_act", "POST", players(INSIDE), some_chemin_table, lambda world: {"action": "pass", "question": 1}),
    Line("chemin_seat", "POST", players(INSIDE), some_chemin_table, lambda world: {"action": "join"}),
    Line("chemin_now", "GET", players(TEXT), some_chemin_table),
    Line("chemin_report", "GET", players(PAGE), some_chemin_table),
    Line("chemin_report", "POST", players(PAGE), some_chemin_table, lambda world: {"seat_id": 1, "reason": "other"}),
    *(Line("live_panel", "GET", players(TEXT), a_panel_next_to_players(name)) for name in ("rules", "settings")),
    Line("live_statistics", "GET", players(PAGE), a_shared_table_in_real_mode),
    Line("live_chips", "POST", players(INSIDE), a_shared_table_in_real_mode, lambda world: {"chips": 5_000}),
    Line("live_favourites", "POST", players(INSIDE), a_shared_table_in_real_mode, lambda world: {"action": "save"}),
    Line(
        "favourite_table",
        "POST",
        players(INSIDE),
        lambda world: {"slug": world.live_slug},
        lambda world: {"keep": "yes"},
    ),
    Line("live_chat", "GET", players(TEXT), a_shared_table_in_real_mode),
    Line(
        "live_chat_say",
        "POST",
        players(INSIDE),
        a_shared_table_in_real_mode,
        lambda world: {"text": "Hi", "name": "Bo1"},
    ),
    Line("live_chat_name", "POST", players(INSIDE), a_shared_table_in_real_mode, lambda world: {"name": "Bo2"}),
    Line("live_chat_message", "GET", players(PAGE), a_message_in_the_chat),
    Line("live_chat_report", "POST", players(INSIDE), a_message_in_the_chat, lambda world: {"reason": "abuse"}),
    Line("live_chat_block", "POST", players(INSIDE), a_message_in_the_chat),
    Line("live_chat_unblock", "POST", players(INSIDE), a_shared_table_in_real_mode, lambda world: {"block": "1"}),
    Line("house_now", "GET", players(TEXT)),
    Line("history", "GET", players(PAGE)),
    Line("history_csv", "GET", players(TEXT)),
    Line(
        "operator_balance",
        "GET",
        players(NOT_FOUND, other=NOT_FOUND),
        lambda world: {"slug": "baccarat", "mode": Mode.REAL},
    ),
    Line("operator_enter", "GET", everyone(NOT_FOUND), lambda world: {"code": "nobody-s"}),
    Line("round", "GET", players(PAGE, other=NOT_FOUND), lambda world: {"round_id": world.round_id}),
    Line("round_proof", "GET", players(TEXT, other=NOT_FOUND), lambda world: {"round_id": world.round_id}),
    Line("round_receipt", "GET", players(TEXT, other=NOT_FOUND), lambda world: {"round_id": world.round_id}),
    Line("round_log_proof", "GET", players(NOT_FOUND, other=NOT_FOUND), lambda world: {"round_id": world.round_id}),
    Line("round_receipts", "GET", players(TEXT)),
    Line("round_checker", "GET", players(DOCUMENT, other=NOT_FOUND), lambda world: {"round_id": world.round_id}),
    # Customer service
    Line("service", "GET", players(PAGE)),
    Line("service_new", "GET", players(PAGE)),
    Line("service_new", "POST", players(INSIDE), data=lambda world: {"topic": "question", "text": "When?"}),
    Line("service_thread", "GET", players(PAGE, other=NOT_FOUND), a_conversation),
    Line("service_thread", "POST", players(INSIDE, other=NOT_FOUND), a_conversation, lambda world: {"text": "More."}),
    Line("service_close", "POST", players(INSIDE, other=NOT_FOUND), a_conversation),
    Line("service_reopen", "POST", players(INSIDE, other=NOT_FOUND), a_complaint, lambda world: {"text": "But."}),
    # Money
    Line("statement", "GET", players(PAGE)),
    Line("statement_csv", "GET", players(TEXT)),
    Line("statement_pdf", "GET", players(TEXT)),
    Line("cashier", "GET", players(PAGE)),
    Line("cashier_deposit", "GET", players(INSIDE)),
    Line("cashier_deposit", "POST", players(INSIDE), data=lambda world: {"amount": "100", "key": uuid4()}),
    Line("cashier_payment", "GET", players(PAGE, other=NOT_FOUND), a_payment_of_theirs),
    Line("cashier_payment_state", "GET", players(TEXT, other=NOT_FOUND), a_payment_of_theirs),
    Line("cashier_payment_bank", "GET", players(INSIDE, other=NOT_FOUND), a_payment_of_theirs),
    Line("pay_callback", "POST", everyone(UNSIGNED), lambda world: {"provider": "sandbox"}),
    Line("pay_return", "GET", everyone(INSIDE), lambda world: {"token": world.payment.token}),
    Line("pay_return", "POST", everyone(UNSIGNED), lambda world: {"token": world.payment.token}),
    Line("sandbox_bank", "GET", everyone(PAGE), at_the_sandbox_bank),
    Line("sandbox_bank", "POST", everyone(INSIDE), at_the_sandbox_bank, lambda world: {"answer": "decline"}),
    Line("cashier_withdraw", "GET", players(PAGE)),
    Line("cashier_withdraw", "POST", players(PAGE), data=lambda world: {"amount": "100", "key": uuid4()}),
    Line("cashier_withdraw_cancel", "GET", players(INSIDE)),
    Line("cashier_withdraw_cancel", "POST", players(INSIDE), data=lambda world: {"withdrawal": "1"}),
    Line("cashier_top_up", "GET", players(INSIDE)),
    Line("cashier_top_up", "POST", players(INSIDE), data=lambda world: {"key": uuid4()}),
    # The player's account
    Line("account", "GET", players(PAGE)),
    Line("account_sessions", "GET", players(PAGE)),
    Line("account_sessions_end", "POST", players(INSIDE)),
    Line("account_session_end", "POST", players(INSIDE), a_session),
    Line("account_api_tokens", "GET", players(PAGE)),
    Line("account_api_token_new", "GET", players(INSIDE)),
    Line("account_api_token_new", "POST", players(INSIDE)),
    Line("account_api_token_revoke", "GET", players(PAGE, other=NOT_FOUND), lambda world: {"token_id": world.token_id}),
    Line(
        "account_api_token_revoke",
        "POST",
        players(INSIDE, other=NOT_FOUND),
        lambda world: {"token_id": world.token_id},
    ),
    Line("session_status", "GET", everyone(TEXT), a_session),
    Line("session_stay", "POST", everyone(TEXT), a_session),
    Line("terms_agree", "GET", players(INSIDE)),
    Line("account_close", "GET", players(PAGE)),
    Line("account_close", "POST", players(PAGE)),
    Line("account_data", "GET", players(INSIDE)),
    Line("account_data_export", "POST", players(INSIDE)),
    Line("terms_agree", "POST", players(INSIDE)),
    # Safer play
    Line("protection", "GET", players(PAGE)),
    Line("pause", "GET", players(PAGE)),
    Line("pause", "POST", players(INSIDE)),
    Line("time_out", "GET", players(INSIDE)),
    Line("time_out", "POST", players(INSIDE), data=lambda world: {"length": "day"}),
    Line("exclude_self", "GET", players(INSIDE)),
    Line("exclude_self", "POST", players(INSIDE), data=lambda world: {"months": "12", "is_sure": "on"}),
    Line("reality_interval", "GET", players(INSIDE)),
    Line("reality_interval", "POST", players(INSIDE), data=lambda world: {"minutes": "30"}),
    Line("reality_check", "POST", players(INSIDE), data=lambda world: {"answer": "continue"}),
    Line("limits", "GET", players(PAGE)),
    Line("limits", "POST", players(INSIDE), data=lambda world: {"stake-kind": "stake", "stake-day": "100"}),
    Line("limits_withdraw", "GET", players(INSIDE)),
    Line("limits_withdraw", "POST", players(INSIDE), data=lambda world: {"kind": "stake", "period": "day"}),
    Line("limits_confirm", "GET", players(INSIDE)),
    Line("limits_confirm", "POST", players(INSIDE), data=lambda world: {"kind": "stake", "period": "day"}),
    Line("limits_decline", "GET", players(INSIDE)),
    Line("limits_decline", "POST", players(INSIDE)),
    Line("limits_review", "GET", players(INSIDE)),
    Line("limits_review", "POST", players(INSIDE)),
    # The back office
    Line("staff_exclusions", "GET", staff(PAGE, "compliance", "support")),
    Line("staff_exclusions", "POST", staff(PAGE, "compliance", "support")),
    Line(
        "staff_exclusion_lift",
        "POST",
        staff(INSIDE, "compliance", "support"),
        lambda world: {"exclusion_id": world.exclusion_id},
        lambda world: {"reason": "for a test"},
    ),
    Line("staff_home", "GET", staff(PAGE, *STAFF)),
    Line("staff_roles", "GET", staff(PAGE, *STAFF)),
    Line("staff_search", "GET", staff(PAGE, *STAFF)),
    Line("styleguide", "GET", staff(PAGE, *STAFF)),
    Line("staff_stop", "GET", staff(PAGE, "supervisor", "compliance")),
    Line("staff_stop_house", "POST", staff(INSIDE, "supervisor"), data=a_final_reason),
    Line("staff_stop_end", "POST", staff(INSIDE, "supervisor"), data=a_final_reason),
    Line("staff_floor", "GET", staff(PAGE, *TABLE_STAFF)),
    Line("staff_floor_now", "GET", staff(TEXT, *TABLE_STAFF)),
    Line("staff_floor_table", "GET", staff(PAGE, *TABLE_STAFF), lambda world: {"key": f"live-{world.chemin_id}"}),
    Line("staff_tables", "GET", staff(PAGE, *TABLE_STAFF)),
    Line(
        "staff_table_status",
        "POST",
        staff(INSIDE, "operator", "supervisor"),
        lambda world: {"table_id": world.table_id},
        lambda world: {"action": "pause", "reason": "for a test"},
    ),
    Line("staff_table_new", "GET", staff(PAGE, "supervisor")),
    Line("staff_table_new", "POST", staff(PAGE, "supervisor")),
    Line("staff_table_change", "GET", staff(PAGE, "supervisor"), lambda world: {"table_id": world.table_id}),
    Line("staff_table_change", "POST", staff(PAGE, "supervisor"), lambda world: {"table_id": world.table_id}),
    Line(
        "staff_tables_close",
        "POST",
        staff(INSIDE, "supervisor"),
        data=lambda world: a_final_reason(world) | {"game": "all"},
    ),
    Line(
        "staff_table_chat",
        "POST",
        staff(INSIDE, "operator", "supervisor"),
        lambda world: {"table_id": LiveTable.objects.get(table__slug=world.live_slug, mode=Mode.REAL).table_id},
        lambda world: {"chat_language": "sv"},
    ),
    Line("staff_live_reopen", "POST", staff(INSIDE, "supervisor"), a_stopped_table, lambda world: {"reason": "mended"}),
    Line("staff_live_break_up", "GET", staff(PAGE, "supervisor"), the_chemin_table),
    Line("staff_live_break_up", "POST", staff(INSIDE, "supervisor"), the_chemin_table, a_final_reason),
    Line("staff_round_report", "POST", staff(INSIDE, "operator", "supervisor"), a_stopped_round, a_final_reason),
    Line("staff_round_cancel", "POST", staff(INSIDE, "supervisor"), a_stopped_round, a_final_reason),
    Line(
        "staff_incident_rule",
        "POST",
        staff(INSIDE, "supervisor"),
        the_incident,
        lambda world: {"decision": "stands"} | a_final_reason(world),
    ),
    Line("staff_chat", "GET", staff(PAGE, *CHAT_READERS)),
    Line("staff_chat_log", "GET", staff(PAGE, *CHAT_READERS)),
    Line("staff_chat_message", "GET", staff(PAGE, *CHAT_READERS), the_message),
    Line(
        "staff_chat_decide",
        "POST",
        staff(INSIDE, *MODERATORS),
        the_message,
        lambda world: {"decision": "removed", "sure": "on", "grounds": "abuse"},
    ),
    Line("staff_chat_ban", "POST", staff(INSIDE, *MODERATORS), the_player, lambda world: BAN),
    Line("staff_chat_name", "POST", staff(INSIDE, *MODERATORS), the_player, lambda world: A_NAME),
    Line("staff_chat_lift", "POST", staff(INSIDE, *MODERATORS), lambda world: {"ban_id": 1}),
    Line("staff_games", "GET", staff(PAGE, "supervisor", "compliance")),
    Line("staff_game", "GET", staff(PAGE, "supervisor", "compliance"), lambda world: {"variant": "baccarat"}),
    Line(
        "staff_game_table",
        "GET",
        staff(PAGE, "supervisor", "compliance"),
        lambda world: {"table_id": world.table_id},
    ),
    Line(
        "staff_schedule_withdraw",
        "POST",
        staff(INSIDE, "supervisor"),
        lambda world: {"approval_id": world.scheduled_id},
        lambda world: {"reason": "for a test"},
    ),
    Line("staff_returns", "GET", staff(PAGE, *PLAY_EXAMINERS)),
    Line("staff_returns_game", "GET", staff(PAGE, *PLAY_EXAMINERS), lambda world: {"variant": "baccarat"}),
    Line(
        "staff_returns_stop",
        "POST",
        staff(INSIDE, "supervisor"),
        lambda world: {"variant": "baccarat"},
        lambda world: {"stops": "1", "reason": "for a test"},
    ),
    Line("staff_play", "GET", staff(PAGE, *PLAY_EXAMINERS)),
    Line("staff_play_pair", "GET", staff(PAGE, *PLAY_EXAMINERS), two_players),
    Line("staff_play_reports", "GET", staff(PAGE, *PLAY_EXAMINERS)),
    Line(
        "staff_play_decide",
        "POST",
        staff(INSIDE, *PLAY_EXAMINERS),
        lambda world: {"report_id": world.play_report_id},
        lambda world: {"finding": "watched", "note": "for a test"},
    ),
    Line("staff_rounds", "GET", staff(PAGE, *AT_WORK)),
    Line("staff_round", "GET", staff(PAGE, *AT_WORK), lambda world: {"round_id": world.round_id}),
    Line("staff_randomness", "GET", staff(PAGE, "supervisor", "compliance")),
    Line("staff_incidents", "GET", staff(PAGE, *TABLE_STAFF)),
    Line("staff_incident", "GET", staff(PAGE, *TABLE_STAFF), the_incident),
    Line(
        "staff_incident_note",
        "POST",
        staff(INSIDE, *TABLE_STAFF),
        the_incident,
        lambda world: {"text": "for a test"},
    ),
    Line("staff_incident_letter", "GET", staff(PAGE, "supervisor"), the_incident),
    Line("staff_incident_letter", "POST", staff(PAGE, "supervisor"), the_incident, lambda world: {"kind": "apology"}),
    Line("staff_incident_letters", "GET", staff(TEXT, *TABLE_STAFF), the_incident),
    Line("staff_incident_export", "GET", staff(TEXT, "compliance"), the_incident),
    Line("payout_callback", "POST", everyone(UNSIGNED)),
    Line("staff_withdrawals", "GET", staff(PAGE, "finance", "supervisor", "compliance")),
    Line(
        "staff_withdrawal",
        "GET",
        staff(NOT_FOUND, "finance", "supervisor", "compliance"),
        lambda world: {"withdrawal_id": 1},
    ),
    Line(
        "staff_withdrawal_decide",
        "POST",
        staff(INSIDE, "finance", "supervisor"),
        lambda world: {"withdrawal_id": 1},
        lambda world: {"action": "approve", "reason": "for a test"},
    ),
    Line(
        "staff_withdrawal_release",
        "POST",
        staff(INSIDE, "finance", "compliance"),
        lambda world: {"withdrawal_id": 1},
        lambda world: {"reason": "for a test"},
    ),
    Line("staff_people", "GET", staff(PAGE, "compliance", "administrator")),
    Line("staff_person_new", "GET", staff(PAGE, "administrator")),
    Line("staff_person_new", "POST", staff(PAGE, "administrator")),
    Line("staff_person", "GET", staff(PAGE, "compliance", "administrator"), a_colleague),
    Line(
        "staff_person_ask",
        "POST",
        staff(INSIDE, "administrator"),
        lambda world: {**a_colleague(world), "action": "factors"},
        lambda world: {"reason": "for a test"},
    ),
    Line("staff_dashboard", "GET", staff(PAGE, *STAFF)),
    Line("staff_handbook", "GET", staff(PAGE, *STAFF)),
    Line("staff_dashboard_now", "GET", staff(TEXT, *STAFF)),
    Line("staff_approvals", "GET", staff(PAGE, *DECIDERS)),
    Line(
        "staff_approval",
        "GET",
        staff(PAGE, "supervisor", "compliance"),
        lambda world: {"approval_id": world.scheduled_id},
    ),
    Line(
        "staff_approval_decide",
        "POST",
        staff(INSIDE, *DECIDERS),
        lambda world: {"approval_id": 1},
        lambda world: {"yes": "1", "reason": "for a test"},
    ),
    Line(
        "staff_approval_withdraw",
        "POST",
        staff(INSIDE, *DECIDERS),
        lambda world: {"approval_id": 1},
        lambda world: {"reason": "for a test", "sure": "on"},
    ),
    Line("staff_ledger", "GET", staff(PAGE, *REPORTERS)),
    Line("staff_ledger_journal", "GET", staff(PAGE, *REPORTERS), a_journal),
    Line("staff_ledger_account", "GET", staff(PAGE, *REPORTERS), an_account),
    Line("staff_deposits", "GET", staff(PAGE, *REPORTERS)),
    Line("staff_deposit", "GET", staff(PAGE, *REPORTERS), a_deposit),
    Line("staff_deposit_ask", "POST", staff(INSIDE, "finance"), a_deposit),
    Line("staff_deposit_note", "POST", staff(INSIDE, "finance"), a_deposit, lambda world: {"text": "for a test"}),
    Line("staff_deposit_decide", "POST", staff(PAGE, "finance"), a_deposit),
    Line("staff_operators", "GET", staff(PAGE, *PAYING)),
    Line("staff_operator_message", "GET", staff(PAGE, *PAYING), an_operator_message),
    Line("staff_operator_resend", "POST", staff(INSIDE, "finance"), an_operator_message),
    Line(
        "staff_operator_settle",
        "POST",
        staff(INSIDE, "finance"),
        an_operator_message,
        lambda world: {"note": "Paid."},
    ),
    Line("staff_webhooks", "GET", staff(PAGE, "administrator", "compliance")),
    Line("staff_webhook_new", "GET", staff(PAGE, "administrator")),
    Line("staff_webhook_new", "POST", staff(PAGE, "administrator")),
    Line("staff_webhook", "GET", staff(PAGE, "administrator", "compliance"), a_webhook),
    Line("staff_webhook_change", "GET", staff(PAGE, "administrator"), a_webhook),
    Line("staff_webhook_change", "POST", staff(PAGE, "administrator"), a_webhook),
    Line("staff_webhook_secret", "POST", staff(PAGE, "administrator"), a_webhook),
    Line("staff_webhook_switch", "POST", staff(INSIDE, "administrator"), a_webhook, lambda world: {"on": "0"}),
    Line(
        "staff_webhook_resend",
        "POST",
        staff(INSIDE, "administrator"),
        lambda world: {"delivery_id": world.webhook.deliveries.get().pk},
    ),
    Line("staff_partners", "GET", staff(PAGE, *PAYING)),
    Line("staff_partner_new", "GET", staff(PAGE, "finance")),
    Line("staff_partner_new", "POST", staff(PAGE, "finance")),
    Line("staff_partner_key", "POST", staff(INSIDE, "finance"), a_studio, lambda world: {"reason": "for a test"}),
    Line("staff_partner_key_show", "POST", staff(INSIDE, "finance"), a_studio_key),
    Line(
        "staff_partner_key_end",
        "POST",
        staff(INSIDE, "finance"),
        a_studio_key,
        lambda world: {"reason": "for a test"},
    ),
    Line("staff_partner_off", "POST", staff(INSIDE, "finance"), a_studio, lambda world: {"reason": "for a test"}),
    Line("staff_exchange_rates", "GET", staff(PAGE, *REPORTERS)),
    Line("staff_exchange_rates", "POST", staff(PAGE, "finance")),
    Line("staff_statements", "GET", staff(PAGE, *REPORTERS)),
    Line("staff_statement_upload", "POST", staff(PAGE, "finance")),
    Line("staff_statement_draft", "GET", staff(PAGE, "finance"), a_draft),
    Line("staff_statement_confirm", "POST", staff(INSIDE, "finance"), a_draft),
    Line("staff_statement_discard", "POST", staff(INSIDE, "finance"), a_draft),
    Line("staff_statement", "GET", staff(PAGE, *REPORTERS), a_statement),
    Line("staff_statement_file", "GET", staff(TEXT, *REPORTERS), lambda world: {**a_statement(world), "name": "csv"}),
    Line(
        "staff_difference_note",
        "POST",
        staff(INSIDE, "finance"),
        lambda world: {**a_statement(world), "difference_id": world.statement.differences.get().pk},
        lambda world: {"text": "for a test"},
    ),
    Line("staff_api_tokens", "GET", staff(PAGE, *OVERSEERS)),
    Line("staff_api_token_new", "GET", staff(INSIDE, "compliance")),
    Line("staff_api_token_new", "POST", staff(INSIDE, "compliance")),
    Line(
        "staff_api_token_revoke",
        "POST",
        staff(INSIDE, *OVERSEERS),
        lambda world: {"token_id": world.token_of_staff_id},
    ),
    Line("staff_notices", "GET", staff(PAGE, *PUBLISHING, "compliance")),
    Line("staff_notice_new", "GET", staff(PAGE, *PUBLISHING)),
    Line("staff_notice_new", "POST", staff(PAGE, *PUBLISHING)),
    Line("staff_notice_withdraw", "POST", staff(INSIDE, *PUBLISHING), lambda world: {"notice_id": world.notice_id}),
    Line("staff_replies", "GET", staff(PAGE, *REPLYING)),
    Line("staff_reply_new", "GET", staff(PAGE, *WORDING)),
    Line("staff_reply_new", "POST", staff(PAGE, *WORDING)),
    Line("staff_reply", "GET", staff(PAGE, *REPLYING), lambda world: {"name": "deposit"}),
    Line("staff_reply", "POST", staff(PAGE, *WORDING), lambda world: {"name": "deposit"}),
    Line("staff_reply_withdraw", "POST", staff(INSIDE, *WORDING), lambda world: {"name": "deposit"}),
    Line("staff_service", "GET", staff(PAGE, *ANSWERING)),
    Line("staff_service_new", "GET", staff(PAGE, *ANSWERING), the_player),
    Line(
        "staff_service_new",
        "POST",
        staff(INSIDE, *ANSWERING),
        the_player,
        lambda world: {"topic": "protection", "text": "How are you?"},
    ),
    Line("staff_service_thread", "GET", staff(PAGE, *ANSWERING), a_conversation),
    Line("staff_service_thread", "POST", staff(INSIDE, *ANSWERING), a_conversation, an_answer),
    Line("staff_service_close", "POST", staff(INSIDE, *ANSWERING), a_conversation, an_answer),
    Line(
        "staff_complaint_decide",
        "POST",
        staff(INSIDE, *CARING),
        a_complaint,
        lambda world: {**an_answer(world), "verdict": "rejected", "sure": "on"},
    ),
    Line("staff_identity", "GET", staff(PAGE, "compliance", "support")),
    Line("staff_identity_case", "GET", staff(PAGE, "compliance", "support"), a_submission_of),
    Line("staff_identity_verify", "POST", staff(INSIDE, "compliance", "support"), a_submission_of),
    Line(
        "staff_identity_refuse",
        "POST",
        staff(INSIDE, "compliance", "support"),
        a_submission_of,
        lambda world: {"reason": "expired"},
    ),
    Line(
        "staff_document",
        "GET",
        staff(DOCUMENT, "compliance", "support"),
        lambda world: {"document_id": world.document_id},
    ),
    Line("staff_duplicates", "GET", staff(PAGE, "compliance", "support")),
    Line(
        "staff_duplicates",
        "POST",
        staff(PAGE, "compliance", "support"),
        nothing,
        lambda world: {"action": "different", "chosen": world.pair.pk},
    ),
    Line("staff_duplicate", "GET", staff(PAGE, "compliance", "support"), a_likely_duplicate),
    Line(
        "staff_duplicate",
        "POST",
        staff(INSIDE, "compliance", "support"),
        a_likely_duplicate,
        lambda world: {"shown": world.pair.pk, "resolution": "same", "note": "for a test"},
    ),
    Line("staff_significant", "GET", staff(PAGE, "compliance")),
    Line("staff_significant_event", "GET", staff(PAGE, "compliance"), the_significant_event),
    Line(
        "staff_significant_step",
        "POST",
        staff(INSIDE, "compliance"),
        the_significant_event,
        lambda world: {"step": "commented", "seen": "new", "text": "for a test"},
    ),
    Line(
        "staff_significant",
        "POST",
        staff(PAGE, "compliance"),
        nothing,
        lambda world: {"action": "close", "chosen": world.significant_id},
    ),
    Line(
        "staff_filter_save",
        "POST",
        staff(INSIDE, *STAFF),
        nothing,
        lambda world: {"path": reverse("staff_approvals"), "name": "Mine", "query": "whose=mine"},
    ),
    Line(
        "staff_filter_delete",
        "POST",
        staff(NOT_FOUND, *STAFF),
        lambda world: {"filter_id": 1},
        lambda world: {"path": reverse("staff_approvals")},
    ),
    Line(
        "staff_columns",
        "POST",
        staff(INSIDE, *STAFF),
        nothing,
        lambda world: {"path": reverse("staff_approvals"), "list": "audit.approval", "columns": "kind__title"},
    ),
    Line("staff_significant_mail", "POST", staff(INSIDE, "compliance"), nothing, lambda world: {"mailed": "error"}),
    Line("staff_thresholds", "GET", staff(PAGE, "compliance")),
    Line(
        "staff_thresholds",
        "POST",
        staff(PAGE, "compliance"),
        nothing,
        lambda world: {"what": "deposit", "currency": "EUR", "reason": ""},
    ),
    Line("staff_cases", "GET", staff(PAGE, *ANSWERING)),
    Line("staff_case", "GET", staff(PAGE, "compliance", "support"), the_case),
    Line(
        "staff_case_contact",
        "POST",
        staff(INSIDE, "compliance", "support"),
        the_case,
        lambda world: {"made_at": "2026-01-01T12:00", "way": "phone", "said": "All is well."},
    ),
    Line(
        "staff_case_act",
        "POST",
        staff(INSIDE, "compliance", "support"),
        the_case,
        lambda world: {"action": "closed", "to": "talked"},
    ),
    Line(
        "staff_case_document",
        "POST",
        staff(INSIDE, "compliance"),
        lambda world: {"case_id": world.funds_id},
        lambda world: {"paper": "payslip"},
    ),
    Line("staff_player_funds", "GET", staff(PAGE, "compliance"), the_player),
    Line(
        "staff_player_funds",
        "POST",
        staff(INSIDE, "compliance"),
        the_player,
        lambda world: {"due": "2100-01-31", "reason": "Deposits above the income stated."},
    ),
    Line("staff_players", "GET", staff(PAGE, *PLAYER_READERS)),
    Line("staff_player", "GET", staff(PAGE, *PLAYER_READERS), the_player),
    Line("staff_player_money", "GET", staff(PAGE, *PLAYER_READERS), the_player),
    Line("staff_player_payments", "GET", staff(PAGE, *PLAYER_READERS), the_player),
    Line("staff_player_sessions", "GET", staff(PAGE, "compliance", "support"), the_player),
    Line("staff_player_export", "GET", staff(PAGE, "compliance"), the_player),
    Line("staff_player_export", "POST", staff(PAGE, "compliance"), the_player, _given({"reason": ""})),
    Line("staff_player_erase", "GET", staff(PAGE, "compliance"), the_player),
    Line("staff_player_erase", "POST", staff(INSIDE, "compliance"), the_player, _given({"reason": "for a test"})),
    Line("staff_player_timeline", "GET", staff(PAGE, *PLAYER_READERS), the_player),
    Line("staff_player_tag", "POST", staff(INSIDE, *PLAYER_READERS), the_player, lambda world: {"tag": "0"}),
    Line("staff_tags", "GET", staff(PAGE, "compliance")),
    Line("staff_tags", "POST", staff(INSIDE, "compliance"), nothing, lambda world: {"name": "VIP"}),
    Line("staff_player_notes", "GET", staff(PAGE, *PLAYER_READERS), the_player),
    Line(
        "staff_player_notes",
        "POST",
        staff(INSIDE, *PLAYER_READERS),
        the_player,
        lambda world: {"text": "Called, and asked for the limit to be explained."},
    ),
    *(
        line
        for name, asked in (
            ("staff_player_lock", {"reason": "for a test"}),
            ("staff_player_unlock", {"reason": "for a test"}),
            ("staff_player_borrowed", {"reason": "for a test"}),
            ("staff_player_pause", {"reason": "for a test"}),
            (
                "staff_player_adjust",
                {"mode": "F", "way": "up", "amount": "1.00", "why": "goodwill", "reason": "for a test"},
            ),
        )
        for line in (
            Line(name, "GET", staff(PAGE, "compliance", "support"), the_player),
            Line(name, "POST", staff(INSIDE, "compliance", "support"), the_player, _given(asked)),
        )
    ),
    Line("staff_limits", "GET", staff(PAGE, "compliance", "support")),
    Line("staff_player_limits", "GET", staff(PAGE, "compliance", "support"), the_player),
    Line(
        "staff_player_limits",
        "POST",
        staff(INSIDE, "compliance", "support"),
        the_player,
        lambda world: {"loss-kind": "loss", "loss-week": "100", "loss-reason": "for a test"},
    ),
    Line("staff_events", "GET", staff(PAGE, "compliance")),
    Line("staff_event_proof", "GET", staff(INSIDE, "compliance"), lambda world: {"event_id": 1}),  # not sealed
    Line("staff_log", "GET", staff(PAGE, "compliance")),
    Line("staff_log_export", "GET", staff(INSIDE, "compliance")),  # nothing is sealed
    Line("staff_access_log", "GET", staff(PAGE, "compliance")),
    Line("staff_access_log_file", "GET", staff(TEXT, "compliance")),
    Line("staff_reports", "GET", staff(PAGE, *REPORTERS)),
    Line("staff_report_ask", "GET", staff(PAGE, *REPORTERS), lambda world: {"kind": "alterations"}),
    Line(
        "staff_report_ask",
        "POST",
        staff(INSIDE, *REPORTERS),
        lambda world: {"kind": "alterations"},
        lambda world: {"period": "yesterday", "zone": "UTC"},
    ),
    Line("staff_report_plan", "GET", staff(PAGE, *REPORTERS), lambda world: {"kind": "alterations"}),
    Line(
        "staff_report_plan",
        "POST",
        staff(INSIDE, *REPORTERS),
        lambda world: {"kind": "alterations"},
        lambda world: {"rhythm": "daily", "delivery": "mail", "zone": "UTC"},
    ),
    Line("staff_report_schedules", "GET", staff(PAGE, *REPORTERS)),
    Line(
        "staff_report_schedules",
        "POST",
        staff(INSIDE, *REPORTERS),
        nothing,
        lambda world: {"action": "paused"},
    ),
    Line("staff_report", "GET", staff(PAGE, *REPORTERS), the_report),
    Line("staff_report_state", "GET", staff(TEXT, *REPORTERS), the_report),
    Line("staff_report_retry", "POST", staff(INSIDE, *REPORTERS), the_report),
    Line(
        "staff_report_file", "GET", staff(TEXT, *REPORTERS), lambda world: {"report_id": world.report_id, "name": "csv"}
    ),
    Line("staff_retention", "GET", staff(PAGE, "compliance")),
    Line(
        "staff_retention",
        "POST",
        staff(INSIDE, "compliance"),
        data=lambda world: {"what": "mail", "days": "400", "reason": "for a test"},
    ),
    Line("staff_rules", "GET", staff(PAGE, *STAFF)),
    Line("staff_rule_change", "GET", staff(PAGE, "compliance"), lambda world: {"code": "SE", "rule": "pause_hours"}),
    Line(
        "staff_rule_change",
        "POST",
        staff(INSIDE, "compliance"),
        lambda world: {"code": "SE", "rule": "pause_hours"},
        lambda world: {"value": "48", "source": "c", "reason": "for a test"},
    ),
    Line("staff_lists", "GET", staff(PAGE, *STAFF)),
    *list_lines(),
)
