"""The player's statement agrees with the ledger to the cent for any history and period."""

import csv
import io
import random
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from datetime import UTC, date, datetime, timedelta
from html import unescape
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.db.models import Sum
from django.test import Client
from django.urls import reverse
from django.utils import translation
from pypdf import PdfReader

from audit import id_ranges
from games.history.statement import views
from games.history.statement.figures import Choice, Period, chosen, figures, figures_between, months_before, today_in
from games.history.statement.pdf_file import Paper, document
from games.history.statement.views import listing
from players.models import Player
from tests.builders import a_golden_table, a_player, a_purse, a_round, a_table
from tests.harness.sweeps import sample, sweep
from tests.harness.visitor import Visitor
from tests.live.test_bets_at_once import blocked, until
from tests.voiding import void_unreproduced
from tests.wallet import money_moves
from tests.wallet.money_moves import write
from wallet import cashier, ledger
from wallet.ledger import accounts, purse
from wallet.models import Entry, Journal, Mode
from wallet.money import format_money

MONEY = 100_000
STOCKHOLM = ZoneInfo("Europe/Stockholm")
LANGUAGES = [code for code, _ in settings.LANGUAGES]
JURISDICTION = {"sv": "SE", "da": "DK", "ro": "RO", "de": "DE", "en": "GB"}


def this_month(player: Player) -> Period:
    zone = ZoneInfo(player.jurisdiction.time_zone)
    return chosen(Choice.MONTH, zone, today_in(zone))


def a_history(player: Player, chance: random.Random, steps: int = 25) -> None:
    """Play rounds, purse transfers, voids and withdrawals in random order.

    Withdrawals are pending, paid or returned.
    """
    table, golden, played, purse_played = a_table(), a_golden_table(), [], False
    chip = 500 if player.currency == "RON" else 1000
    for _ in range(steps):
        match chance.randrange(6):
            case 0:
                a_withdrawal(
                    player, chance.randrange(100, 900), chance.choice(("withdraw_paid", "withdraw_returned", ""))
                )
            case 1:
                played.append(a_round(player, table, player=chip, tie=chip).round_id)
            case 2:
                a_purse(player, chance.randrange(1_000, 3_000))
                if not purse_played:  # its bets stand, and the next round would cost twice as much
                    played.append(a_round(player, golden, player=chip).round_id)
                    purse_played = True
            case 3:
                purse.leave(player=player, mode=Mode.REAL, key=uuid4())
            case 4 if played:
                round_id = played.pop(chance.randrange(len(played)))
                void_unreproduced(round_id)
            case _:
                money_moves.a_round(player, staked=chance.randrange(1, 999), paid=chance.randrange(0, 1999))


def a_withdrawal(player: Player, amount: int, ended: str) -> None:
    """Request a withdrawal and give it this ending ("": pending)."""
    pending, cash = accounts.open_pending(player), money_moves.cash(player)
    target = money_moves.house("cashier", player) if ended == "withdraw_paid" else cash
    steps = [("withdraw", cash, pending)] + ([(ended, pending, target)] if ended else [])
    for kind, source, goal in steps:
        lines = money_moves.move((source, -amount), (goal, amount), currency=player.currency)
        write(ledger.Journal(uuid4(), kind, lines))


def owned_before(player: Player, mode: Mode, moment: datetime) -> int:
    """Return the player's total balance according to the ledger."""
    entries = Entry.objects.filter(account__owner=player, mode=mode, journal__at__lt=moment)
    return entries.aggregate(total=Sum("amount"))["total"] or 0


@pytest.fixture
def player(db) -> Player:
    return a_player(real=MONEY)


@pytest.fixture
def visitor(player) -> Client:
    visitor = Client()
    visitor.force_login(player.user)
    return visitor


class TestPeriods:
    def test_begin_and_end_at_midnight_where_the_player_lives(self):
        spring = Period(date(2026, 3, 29), date(2026, 3, 29), STOCKHOLM)
        assert spring.begin.astimezone(UTC) == datetime(2026, 3, 28, 23, tzinfo=UTC)
        assert spring.end.astimezone(UTC) == datetime(2026, 3, 29, 22, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("choice", "since", "until"),
        [
            (Choice.MONTH, date(2026, 3, 1), date(2026, 3, 31)),
            (Choice.LAST_MONTH, date(2026, 2, 1), date(2026, 2, 28)),
            (Choice.THREE_MONTHS, date(2025, 12, 31), date(2026, 3, 31)),
            (Choice.YEAR, date(2026, 1, 1), date(2026, 3, 31)),
            (Choice.TWELVE_MONTHS, date(2025, 3, 31), date(2026, 3, 31)),
        ],
        ids=str,
    )
    def test_are_offered_by_name(self, choice, since, until):
        assert chosen(choice, STOCKHOLM, date(2026, 3, 31)) == Period(since, until, STOCKHOLM)

    def test_know_short_months_and_the_turn_of_the_year(self):
        assert months_before(date(2026, 5, 31), 3) == date(2026, 2, 28)
        assert months_before(date(2024, 3, 31), 1) == date(2024, 2, 29)
        assert months_before(date(2026, 1, 15), 1) == date(2025, 12, 15)


class TestTheFigures:
    @pytest.mark.parametrize("seed", sample(range(6), 1))
    @pytest.mark.parametrize("is_long_past", sample([False, True], 1), ids=["fresh", "long past"])
    def test_gli19_2_5_7_agree_with_the_ledger_for_any_period(self, player, seed, is_long_past, monkeypatch):
        """Entries older than the period and the longest transaction are taken as one balance."""
        if is_long_past:
            monkeypatch.setattr(id_ranges, "SLACK", timedelta())
        chance = random.Random(seed)
        a_history(player, chance)
        moments = [datetime(2026, 1, 1, tzinfo=UTC), *Journal.objects.order_by("at").values_list("at", flat=True)]
        moments.append(moments[-1] + timedelta(seconds=1))
        for _ in range(12):
            begin, end = sorted(chance.choices(moments, k=2))
            for mode in Mode:
                found = figures_between(player, mode, begin, end, "Europe/Stockholm")
                assert found.opening.total == owned_before(player, mode, begin)
                assert found.closing.total == owned_before(player, mode, end)
                assert found.opening.total + found.total == found.closing.total
                in_rounds = sum(each.net for each in found.games)
                assert in_rounds == sum(each.net for each in found.days)
                assert in_rounds + sum(each.amount for each in found.money) == found.total

    @pytest.mark.sweep
    def test_until_now_are_the_balances_of_the_accounts(self, player):
        a_history(player, random.Random(99))
        found = figures(player, Mode.REAL, this_month(player))
        balances = dict(player.accounts.filter(mode=Mode.REAL).values_list("kind", "balance"))
        assert (found.closing.cash, found.closing.purse) == (balances["cash"], balances.get("purse", 0))

    def test_gli19_2_5_7_say_what_each_game_took_and_gave(self, player):
        table = a_table()
        parts = [a_round(player, table, player=1000) for _ in range(5)]
        void_unreproduced(parts[0].round_id)
        (game,) = figures(player, Mode.REAL, this_month(player)).games
        played = player.participation_set.aggregate(staked=Sum("staked"), paid=Sum("paid"))
        voided = player.participation_set.get(round_id=parts[0].round_id)
        assert (game.variant, game.rounds) == ("baccarat", 5)
        assert (game.staked, game.paid) == (played["staked"], played["paid"])
        assert game.other == voided.staked - voided.paid

    def test_hold_nothing_of_anybody_else(self, player):
        other = a_player(real=MONEY)
        a_round(other, a_table(), player=1000)
        assert figures(player, Mode.REAL, this_month(player)).closing.total == MONEY


class TestThePage:
    def test_adds_up_and_says_the_time_zone(self, visitor, player):
        a_round(player, a_table(), player=1000)
        page = unescape(visitor.get("/en/cashier/statement/").text).replace("\u00a0", " ")
        closing = figures(player, Mode.REAL, this_month(player)).closing.total
        assert "Dates and times are in the time zone Europe/Stockholm" in page
        assert format_money(closing, "SEK", "en").replace("\u00a0", " ") in page
        for word in ("Opening balance", "Closing balance", "Stake", "Deposit", "Baccarat"):
            assert word in page

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("ended", "name"),
        [("", "Withdrawal requested, not yet paid"), ("withdraw_returned", "Withdrawal returned")],
        ids=["under way", "returned"],
    )
    def test_shows_what_a_withdrawal_sets_aside_plainly(self, visitor, player, ended, name):
        a_withdrawal(player, 20_000, ended)
        page = unescape(visitor.get("/en/cashier/statement/").text).replace("\u00a0", " ")
        assert "transferred between your own balances" not in page
        _head, sums, listed = page.split(f">{name}", 2)
        assert sums.startswith(' <small class="dim">SEK 200.00: your balance is unchanged</small>')
        assert re.search(r'<td class="num"[^>]*>SEK 200\.00</td>', listed.partition("</tr>")[0])

    @pytest.mark.sweep
    def test_gli19_2_5_7_each_deposit_withdrawal_and_correction_has_its_time_and_number(self, visitor, player):
        a_withdrawal(player, 20_000, "withdraw_paid")
        void_unreproduced(a_round(player, a_table(), player=1000).round_id)
        page = visitor.get("/en/cashier/statement/").text
        journals = Journal.objects.filter(entry__account__owner=player).distinct()
        assert {"deposit", "withdraw", "withdraw_paid", "stake", "void"} <= {each.kind for each in journals}
        for journal in journals:
            (row,) = re.findall(rf'<tr>(?:(?!</tr>).)*data-label="No.">{journal.pk}</td>', page, re.DOTALL)
            assert f'datetime="{journal.at.astimezone(STOCKHOLM).isoformat()}"' in row

    @pytest.mark.sweep
    def test_says_so_where_nothing_moved(self, visitor):
        page = visitor.get("/en/cashier/statement/", {"since": "2025-01-01", "until": "2025-01-31"}).text
        assert "No activity in this period." in page

    @pytest.mark.sweep
    def test_shows_free_money_by_itself(self, visitor, player):
        cashier.top_up_free(player=player, key=uuid4())
        page = visitor.get("/en/cashier/statement/", {"mode": "free"}).text
        assert "Play money" in page
        assert "SEK\u00a010,000.00" in page

    @pytest.mark.sweep
    def test_pages_through_the_movements_and_keeps_the_period(self, visitor, player):
        for _ in range(15):
            money_moves.a_round(player, staked=100, paid=50)
        page = visitor.get("/en/cashier/statement/", {"period": "year"}).text
        older = re.search(r'rel="next" href="([^"#]*)', page)
        assert older
        second = visitor.get(unescape(older[1])).text
        numbers = [int(number) for each in (page, second) for number in re.findall(r'data-label="No.">(\d+)<', each)]
        assert len(numbers) == 31
        assert numbers == sorted(set(numbers), reverse=True)

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "nonsense",
        sample(
            [
                {"since": "yesterday", "until": "2026-01-01"},
                {"since": "2026-02-02", "until": "2026-02-01"},
                {"since": "2026-02-02"},
                {"until": "9999-12-31", "since": "2026-01-01"},
                {"period": "century"},
                {"mode": "gold"},
            ],
            2,
        ),
        ids=str,
    )
    def test_says_what_it_cannot_read_and_shows_this_month(self, visitor, nonsense):
        assert "This month is shown." in visitor.get("/en/cashier/statement/", nonsense).text
        for ending in ("csv", "pdf"):
            assert visitor.get(f"/en/cashier/statement/statement.{ending}", nonsense).status_code == 302

    @pytest.mark.sweep
    def test_and_the_cashier_lead_to_each_other(self, visitor):
        assert 'href="/en/cashier/statement/"' in visitor.get("/en/cashier/").text
        assert 'href="/en/cashier/"' in visitor.get("/en/cashier/statement/").text


def rows_of(player: Player, language: str) -> list[list[str]]:
    with translation.override(language):
        text = "".join(views.lines(player, Mode.REAL, this_month(player), language))
    delimiter = "," if language == "en" else ";"
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=delimiter))


class TestTheFile:
    def test_is_named_after_its_period(self, visitor):
        answer = visitor.get(
            "/en/cashier/statement/statement.csv", {"since": "2026-11-01", "until": "2026-11-30", "mode": "real"}
        )
        assert 'filename="sabot-statement-2026-11-01--2026-11-30.csv"' in answer["Content-Disposition"]
        assert b"".join(answer.streaming_content)

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_runs_from_the_opening_to_the_closing_balance(self, player, language):
        a_history(player, random.Random(7))
        _headings, opening, *moves, closing = rows_of(player, language)

        def cents(text: str) -> int:
            return int(re.sub(r"[.,]", "", text))

        found = figures(player, Mode.REAL, this_month(player))
        assert cents(opening[7]) == found.opening.total
        owned = found.opening.total
        for row in moves:
            owned += cents(row[5])
            assert cents(row[7]) == owned
        assert cents(closing[7]) == owned == found.closing.total
        assert {row[8] for row in (opening, *moves, closing)} == {player.currency}


def pdf_text(data: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)


def flat(text: str) -> str:
    """Return the text without white space at line breaks."""
    return re.sub(r"\s", "", text)


def paper_for(player: Player, language: str) -> Paper:
    period = this_month(player)
    found = figures(player, Mode.REAL, period)
    return Paper(player, Mode.REAL, period, found, datetime(2026, 11, 21, 12, tzinfo=UTC), language)


class TestTheDocument:
    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_gli19_2_5_7_has_every_figure_of_the_screen(self, db, language):
        player = a_player(JURISDICTION[language], real=MONEY)
        a_history(player, random.Random(3))
        visitor = Client()
        visitor.force_login(player.user)
        page = unescape(visitor.get(f"/{language}/cashier/statement/").text).split("movements", 1)[0]
        figures_shown = re.findall(r'<td class="num"[^>]*>([^<]+)</td>', page)
        assert len(figures_shown) > 10
        answer = visitor.get(f"/{language}/cashier/statement/statement.pdf")
        assert answer["Content-Type"] == "application/pdf"
        text = flat(pdf_text(answer.content))
        for figure in figures_shown:
            assert flat(figure) in text, figure
        for lump in figures(player, Mode.REAL, this_month(player)).money:
            assert str(lump.journal_id) in text
        assert player.user.email in text
        assert flat(str(player)) not in text

    def test_has_the_letters_of_romanian(self, db):
        player = a_player("RO", real=MONEY)
        a_round(player, a_table(), player=500)
        with translation.override("ro"):
            text = pdf_text(document(paper_for(player, "ro")))
        assert {"ș", "ț", "ă"} <= set(text)

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_has_no_letter_that_its_fonts_lack(self, db, language):
        player = a_player(JURISDICTION[language], real=MONEY)
        a_history(player, random.Random(5))
        with translation.override(language):
            data = document(paper_for(player, language))
        assert "\ufffd" not in pdf_text(data)
        assert b"HankenGrotesk-Regular" in data
        assert b"HankenGrotesk-Bold" in data

    @pytest.mark.sweep
    def test_is_the_same_to_the_byte(self, player):
        a_round(player, a_table(), player=1000)
        with translation.override("en"):
            assert document(paper_for(player, "en")) == document(paper_for(player, "en"))

    def test_says_so_where_nothing_moved(self, visitor):
        query = {"since": "2025-01-01", "until": "2025-01-31"}
        assert "No activity in this period." in pdf_text(
            visitor.get("/en/cashier/statement/statement.pdf", query).content
        )


# Inserts a year of rounds as the ledger would have them: every third won even money.
YEAR = """
WITH played AS (
    SELECT n, gen_random_uuid() AS id, clock_timestamp() - n * %(every)s AS at, n %% 3 = 0 AS won
    FROM generate_series(1, %(rounds)s) AS n
), rounds AS (
    INSERT INTO games_round (id, code, table_version_id, mode, commitment, seed, player_value, cards, outcome, at)
    SELECT id, 'past-' || n, %(version)s, 'R', '', '', '', '9H 2D KS 5C', 'player', at FROM played
), asked AS (
    SELECT played.*, step.kind, nextval('wallet_journal_id_seq') AS journal, gen_random_uuid() AS key
    FROM played CROSS JOIN (VALUES ('stake'), ('settle')) AS step (kind)
), keys AS (
    INSERT INTO wallet_posting_key SELECT key, '', journal FROM asked
), journals AS (
    INSERT INTO wallet_journal (id, key, request_hash, kind, round_id, at)
    OVERRIDING SYSTEM VALUE
    SELECT journal, key, '', kind, id, at FROM asked
), lines AS (
    SELECT asked.journal, line.n AS line, line.account, line.amount
    FROM asked CROSS JOIN LATERAL (VALUES
        (1, %(cash)s, CASE WHEN asked.kind = 'stake' THEN -1000 WHEN asked.won THEN 2000 ELSE 0 END),
        (2, %(escrow)s, CASE WHEN asked.kind = 'stake' THEN 1000 ELSE -1000 END),
        (3, %(house)s, CASE WHEN asked.kind = 'stake' THEN 0 WHEN asked.won THEN -1000 ELSE 1000 END)
    ) AS line (n, account, amount) WHERE line.amount <> 0
)
INSERT INTO wallet_entry (journal_id, line, account_id, currency, mode, amount, balance_after, version)
SELECT journal, line, account, 'SEK', 'R', amount, NULL,
       CASE WHEN account = %(cash)s THEN 1000 + row_number() OVER (ORDER BY journal, line) END
FROM lines
"""


def who_played(owner: psycopg.Connection, rounds: int, every: timedelta) -> Player:
    """Return a player with so many rounds, the last just now."""
    player, table = a_player(real=MONEY), a_table()
    assert table.version
    year = {
        "rounds": rounds,
        "every": every,
        "version": table.version.pk,
        "cash": money_moves.cash(player),
        "escrow": money_moves.house("escrow", player),
        "house": money_moves.house("house", player),
    }
    owner.execute("ALTER TABLE wallet_entry DISABLE TRIGGER USER")
    with owner.transaction():
        owner.execute("SELECT wallet_begin_writing()")
        owner.execute(YEAR, year)
    owner.execute("ALTER TABLE wallet_entry ENABLE TRIGGER USER")
    return player


@pytest.mark.sweep
@pytest.mark.parametrize(("rounds", "minutes"), sweep([(8_000, 60), (50_000, 10)], {(8_000, 60)}))
def test_gli19_2_5_7_a_year_of_fifty_thousand_rounds(cloned_db, owner: psycopg.Connection, rounds, minutes):
    """The document stays short, and page and file add up."""
    player = who_played(owner, rounds, timedelta(minutes=minutes))
    zone = ZoneInfo("Europe/Stockholm")
    period = chosen(Choice.TWELVE_MONTHS, zone, today_in(zone))
    found = figures(player, Mode.REAL, period)
    (game,) = found.games
    assert game.rounds == rounds
    assert (game.staked, game.paid) == (rounds * 1000, rounds // 3 * 2000)
    assert found.opening.total + found.total == found.closing.total
    assert listing(player, Mode.REAL, period).older
    paper = Paper(player, Mode.REAL, period, found, datetime(2026, 11, 21, 12, tzinfo=UTC), "en")
    with translation.override("en"):
        pages = PdfReader(io.BytesIO(document(paper))).pages
    assert 5 < len(pages) < 20  # a line for each day, none for a round
    assert f"Page {len(pages)} of {len(pages)}" in pages[-1].extract_text()
    lines = sum(1 for _ in views.lines(player, Mode.REAL, period, "en"))
    assert lines == 3 + 1 + rounds + rounds // 3  # headings and balances, the deposit, stakes, payouts


DOCUMENTS = (
    "/en/cashier/statement/statement.pdf?period=twelve_months",
    "/en/cashier/statement/statement.csv?period=twelve_months",
    "/en/history/rounds.csv",
)


def test_while_a_document_is_being_made_its_player_gets_no_second_one(cloned_db, owner: psycopg.Connection):
    """Forty-eight at once made everybody else wait."""
    player, other = a_player(real=MONEY), a_player(real=MONEY)

    def ask(player: Player, address: str = DOCUMENTS[0]) -> Any:
        try:
            visitor = Client()
            visitor.force_login(player.user)
            return visitor.get(address)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as also:
        with owner.transaction():
            owner.execute("LOCK TABLE wallet_entry")
            first = also.submit(ask, player)
            until(lambda: blocked() == 1)
            for address in DOCUMENTS:
                refused = also.submit(ask, player, address).result(timeout=60)
                assert (refused.status_code, refused["Retry-After"]) == (429, "2"), address
                assert "Your document is already being prepared." in refused.text
            another = also.submit(ask, other)
            until(lambda: blocked() == 2)
        assert {each.result(timeout=60).status_code for each in (first, another)} == {200}
    assert ask(player).status_code == 200


@pytest.mark.parametrize("address", DOCUMENTS[1:])
def test_a_document_that_is_taken_slowly_is_the_only_one_of_its_player(cloned_db, address):
    """Its thread waits for the reader. Each thread has a connection, which has the lock."""
    visitor = Client()
    visitor.force_login(a_player(real=MONEY).user)

    def others() -> list[int]:
        try:
            statuses = [visitor.get(each).status_code for each in DOCUMENTS]
            return [*statuses, visitor.post(reverse("account_data_export")).status_code]
        finally:
            connection.close()

    slow = visitor.get(address)
    with ThreadPoolExecutor(1) as also:
        assert also.submit(others).result(timeout=60) == [429] * 4
        assert b"".join(slow.streaming_content)  # type: ignore[attr-defined]
        assert also.submit(others).result(timeout=60) == [200] * 4


def being_made() -> int:
    """Return how many documents wait for the tables that they read. A server that starts examines its tables too."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            " AND query ~ 'FROM \"?(wallet_entry|wallet_account|games_participation)' AND query !~ 'pg_class'"
        )
        (number,) = cursor.fetchone()
    return int(number)


def asked_at_once(
    url: str, player: Player, number: int, documents: Sequence[str] = DOCUMENTS
) -> Iterator[Future[tuple[int, bytes]]]:
    """Ask a server for so many documents at once; yield the answers as they arrive."""
    visitor = Visitor(url, player.user, patience=60)
    visitor.get("/en/fair/")  # the session is known before
    with ThreadPoolExecutor(number) as also:
        yield from as_completed([also.submit(visitor.read, documents[n % len(documents)]) for n in range(number)])


def test_of_forty_eight_documents_asked_for_at_once_one_is_made_and_others_are_served(
    cloned_db, owner: psycopg.Connection, start_server
):
    """The server has two threads: one makes the document, the other one answers."""
    player, other = a_player(real=MONEY), a_player(real=MONEY)
    server = start_server(environment={"WEB_THREADS": "2"})
    with ThreadPoolExecutor(1) as also:
        with owner.transaction():
            owner.execute("LOCK TABLE wallet_entry, games_participation")
            answers = asked_at_once(server.url, player, 48)
            refused = [next(answers).result()[0] for _ in range(47)]
            assert (refused, being_made()) == ([429] * 47, 1)
            assert Visitor(server.url, other.user).get("/en/fair/")[0] == 200
            theirs = also.submit(Visitor(server.url, other.user).read, DOCUMENTS[0])
            until(lambda: being_made() == 2)
        assert next(answers).result()[0] == theirs.result()[0] == 200


@pytest.mark.sweep
def test_documents_of_fifty_thousand_rounds_asked_for_at_once(cloned_db, owner: psycopg.Connection, start_server):
    """Another player has theirs before all are answered, and what is made is whole."""
    player, other = who_played(owner, 50_000, timedelta(minutes=10)), a_player(real=MONEY)
    server = start_server(environment={"WEB_THREADS": "4"})
    answers = asked_at_once(server.url, player, 48, DOCUMENTS[1:2])
    first = next(answers).result()
    assert Visitor(server.url, other.user).read(DOCUMENTS[0])[0] == 200
    by_status = dict((first, *(each.result() for each in answers)))
    assert set(by_status) == {200, 429}
    assert len(by_status[200].splitlines()) > 50_000
