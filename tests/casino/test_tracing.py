"""One request id in all log lines of a request, in its answer and in its tasks; no secrets in
logs.
"""

import json
import logging
from collections.abc import Iterator
from http import HTTPStatus
from uuid import uuid4

import pytest
import structlog
from celery import current_app, shared_task
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars
from structlog.stdlib import ProcessorFormatter

from games.models import Participation
from games.shared.pages.stream_tokens import PATH
from ops import logs
from ops.logs import HEADER, ID
from realtime.asgi import Message, Streams
from realtime.hub import Hub
from tests.builders import a_player, a_seat, a_table
from tests.chemin.at_table import a_chemin_table, a_staked_coup, answer, seated_players, table_state_of
from tests.games.at_pages import click
from tests.harness.apart import run_apart
from tests.people import a_visitor

BROUGHT = "proxy-0123456789"


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    clear_contextvars()
    yield
    clear_contextvars()


@pytest.fixture
def lines(settings) -> Iterator[list[dict[str, object]]]:
    """The log lines written during the test, in the house's format."""
    (handler,) = (each for each in logging.getLogger().handlers if isinstance(each.formatter, ProcessorFormatter))
    written: list[str] = []

    class RetainedData(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(handler.format(record))

    class Lines(list[dict[str, object]]):
        def __iter__(self) -> Iterator[dict[str, object]]:
            return map(json.loads, written)

    root, kept = logging.getLogger(), RetainedData()
    level = root.level
    root.addHandler(kept)
    root.setLevel(logging.INFO)
    yield Lines()
    root.setLevel(level)
    root.removeHandler(kept)


@shared_task(name="tests.tracing.remember")
def remember() -> None:
    structlog.get_logger("tests").info("remembered")


@pytest.mark.django_db
class TestRequests:
    def test_each_has_an_id_of_its_own_in_its_answer_and_on_its_line(self, lines):
        first, second = (a_visitor().get("/en/terms/")[HEADER] for _ in range(2))
        assert first != second
        found = [(line["event"], line["view"], line["status"], line[ID]) for line in lines]
        assert found == [("request", "terms", 200, first), ("request", "terms", 200, second)]

    @pytest.mark.parametrize(
        ("trusts", "brought", "is_taken"),
        [
            (True, BROUGHT, True),
            (False, BROUGHT, False),
            (True, "short", False),
            (True, "x" * 65, False),
            (True, 'quoted"\n{}:', False),
        ],
    )
    def test_the_proxy_s_id_is_taken_where_it_is_trusted_and_is_one(self, settings, trusts, brought, is_taken):
        settings.TRUST_PROXY = trusts
        assert (a_visitor().get("/en/terms/", headers={HEADER: brought})[HEADER] == brought) is is_taken

    def test_a_line_of_django_s_has_it_as_well_and_no_path(self, lines):
        number = a_visitor().get("/en/nowhere/bo@example.com/?q=secret")[HEADER]
        assert [(line["logger"], line["event"], line[ID]) for line in lines] == [
            ("ops.logs", "request", number),
            ("django.request", "Not Found", number),
        ]

    def test_probes_that_find_all_well_write_nothing(self, lines):
        a_visitor().get("/healthz")
        assert list(lines) == []

    def test_a_click_that_plays_says_which_round(self, lines):
        player, table = a_player(real=1000), a_table()
        seat = a_seat(player, table, player=1000)
        visitor = a_visitor()
        visitor.force_login(player.user)
        assert click(visitor, player, "deal").status_code == HTTPStatus.OK
        assert Participation.objects.filter(round_id=seat.round_id).exists()
        assert [line["round_id"] for line in lines] == [str(seat.round_id)]

    @pytest.mark.sweep
    def test_a_player_s_decision_says_in_which_coup_it_is(self):
        live_table = a_chemin_table()
        seated_players(live_table)
        banker, _ = a_staked_coup(live_table)
        coup = table_state_of(live_table).live_round
        assert coup
        clear_contextvars()
        answer(banker, live_table, "deal_cards")
        assert get_contextvars()["round_id"] == str(coup.pk)


class TestStreams:
    def test_one_that_is_refused_has_an_id_in_its_answer_and_on_its_line(self, lines):
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        scope = {"type": "http", "method": "GET", "path": f"{PATH}no-ticket/", "headers": [(b"x-request-id", b"x" * 9)]}
        run_apart(Streams(Hub(1))(scope, receive, send))
        (number,) = (value.decode() for name, value in sent[0]["headers"] if name == HEADER.lower().encode())
        assert number != "x" * 9  # no proxy is trusted
        assert [(line["event"], line["view"], line["status"], line[ID]) for line in lines] == [
            ("request", "live", HTTPStatus.FORBIDDEN, number)
        ]


class TestTasks:
    def test_a_task_bears_the_id_of_what_asks_for_it(self):
        number = uuid4().hex
        headers: dict[str, object] = {}
        logs.hand_on(headers=headers)
        assert headers == {}
        bind_contextvars(**{ID: number})
        logs.hand_on(headers=headers)
        assert headers == {ID: number}

    def test_its_lines_have_it_and_the_thread_forgets_it(self, lines):
        remember.apply(headers={ID: BROUGHT})
        shown = next(line for line in lines if line["event"] == "remembered")
        assert (shown[ID], shown["task"]) == (BROUGHT, "tests.tracing.remember")
        assert structlog.contextvars.get_contextvars() == {}

    def test_one_that_nobody_asked_for_has_its_own(self, lines):
        done = remember.apply()
        shown = next(line for line in lines if line["event"] == "remembered")
        assert shown[ID] == done.id

    def test_celery_sets_up_no_logs_of_its_own(self):
        assert current_app.log.setup_logging_subsystem(loglevel="INFO")


@pytest.mark.parametrize(
    "said",
    [
        "duplicate key (email)=(bo.ek@mail.example.com)",
        "SMTPRecipientsRefused: {'bo+1@example.co': (550, b'')}",
        f"Bearer sabot_{'x' * 43}",
    ],
)
def test_no_address_or_key_is_written_whatever_brings_it(lines, said):
    logging.getLogger("tests").error("failed: %s", said)
    (line,) = lines
    assert logs.LEFT_OUT in line["event"]
    assert "bo" not in line["event"].replace("sabot", "")
    assert "xxx" not in line["event"]


def test_the_name_of_a_worker_is_written(lines):
    logging.getLogger("tests").error("celery@web-1.example ready")
    assert [line["event"] for line in lines] == ["celery@web-1.example ready"]
