"""An adjustment is shown to its player on page, in files and on paper, in five languages, and in
the books.
"""

import re
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import translation

from accounts import closing
from audit import approvals
from audit.models import Approval
from audit.reports.kinds import Interval
from games.reports import reconciliation
from players.account import closures
from players.account.closures import state_of
from players.models import ClosureState, Mail, Player
from tests.builders import a_golden_table, a_player, a_purse, a_verified_player
from tests.games.test_statement import flat, pdf_text, rows_of
from tests.harness.owner import as_owner
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, last_mail
from tests.reports_history import ask as asked_for
from tests.reports_history import clock
from tests.wallet import wholeness
from tests.wallet.adjusting import adjust, ask, decide
from tests.wallet.payout_builders import a_withdrawal
from wallet import reports
from wallet.ledger import accounts, adjustments, purse
from wallet.models import AccountKind, Journal, Mode, Why
from wallet.money import format_money
from wallet.templatetags.money import signed_money

pytestmark = pytest.mark.django_db

LANGUAGES = {"en": "Adjustment", "sv": "Justering", "da": "Justering", "ro": "Ajustare", "de": "Berichtigung"}
JURISDICTIONS = ("SE", "DK", "RO", "DE", "GB")
MONEY = 100_000


def faults() -> list[str]:
    return [row for check in wholeness.checks() for row in check.rows]


def cash(player: Player, mode: Mode = Mode.REAL) -> int:
    return accounts.balance(player.pk, mode)


def signed(amount: int, language: str) -> str:
    with translation.override(language):
        return signed_money(amount, "SEK")


def at_home(player: Player) -> Client:
    visitor = Client()
    visitor.force_login(player.user)
    return visitor


def ask_for(player: Player, why: Why, mode: Mode) -> Approval:
    return adjustments.ask(
        player=player, mode=mode, amount=500, why=why, reason="ticket 12", by=a_member_of_staff("support")
    )


class TestThePlayerReads:
    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    @pytest.mark.parametrize("amount", sample([12_345, -12_345], 1))
    def test_gli19_2_5_7_it_on_the_page_in_the_file_and_on_paper(self, language: str, amount: int) -> None:
        player = a_player("SE", real=MONEY)
        adjust(player, amount)
        name, journal = LANGUAGES[language], Journal.objects.get(kind="adjustment")
        written = signed(amount, language)

        page = unescape(at_home(player).get(f"/{language}/cashier/statement/").content.decode())
        (row,) = re.findall(rf'<tr>(?:(?!</tr>).)*data-label="[^"]*">{journal.pk}</td>.*?</tr>', page, re.DOTALL)
        assert name in row
        assert flat(written) in flat(row)

        (line,) = [line for line in rows_of(player, language) if str(journal.pk) in line]
        assert name in line
        assert int(re.sub(r"[.,\s]", "", line[5]).replace("\u2212", "-")) == amount

        answer = at_home(player).get(f"/{language}/cashier/statement/statement.pdf")
        text = flat(pdf_text(answer.content))
        assert str(journal.pk) in text
        assert flat(name) in text
        assert flat(written) in text

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    @pytest.mark.parametrize("why", sample(Why, 2))
    @pytest.mark.parametrize("mode", sample([Mode.REAL, Mode.FREE], 1), ids=["real", "free"])
    def test_why_by_mail_in_their_own_language(self, language: str, why: Why, mode: Mode) -> None:
        player = a_player("SE", real=MONEY, free=MONEY)
        player.user.language = language
        player.user.save(update_fields=["language"])
        decide(ask_for(player, why, mode))
        mail = last_mail(player.user.email, "balance_adjusted")
        with translation.override(language):
            message = str(why.label)
        assert message in mail.body
        assert "ticket 12" not in mail.body
        assert signed(500, language) in mail.body
        assert format_money(MONEY + 500, "SEK", language) in mail.body
        if language != "en":
            with translation.override("en"):
                assert str(why.label) not in mail.body

    @pytest.mark.sweep
    def test_nothing_of_what_was_refused(self) -> None:
        player = a_player("SE", real=MONEY)
        decide(ask(player), yes=False)
        assert not Mail.objects.filter(user=player.user, template="balance_adjusted").exists()
        assert "Adjustment" not in at_home(player).get("/en/cashier/statement/").content.decode()


@pytest.mark.parametrize("jurisdiction", sample(JURISDICTIONS, 1))
@pytest.mark.parametrize("mode", [Mode.REAL, Mode.FREE], ids=["real", "free"])
class TestInEveryCurrency:
    def test_up_and_down_to_the_last_minor_unit(self, jurisdiction: str, mode: Mode) -> None:
        player = a_player(jurisdiction, real=MONEY, free=MONEY)
        other = Mode.FREE if mode is Mode.REAL else Mode.REAL
        adjust(player, 1, mode=mode)
        assert cash(player, mode) == MONEY + 1
        with pytest.raises(adjustments.CannotAdjust, match="available, less than the amount to deduct"):
            ask(player, -(MONEY + 2), mode=mode)
        adjust(player, -(MONEY + 1), mode=mode)
        assert (cash(player, mode), cash(player, other)) == (0, MONEY)
        assert faults() == []

    @pytest.mark.sweep
    def test_is_in_the_books_on_a_line_of_its_own_and_nothing_differs(self, jurisdiction: str, mode: Mode) -> None:
        player = a_player(jurisdiction, real=MONEY, free=MONEY)
        since = clock()
        adjust(player, 700, mode=mode)
        adjust(player, -300, mode=mode)
        answer = reconciliation.answer(asked_for(Interval(since, clock())))
        rows = {(row[0], row[1], row[2]): tuple(row[3:]) for row in answer.rows}
        word = "real" if mode is Mode.REAL else "free"
        assert rows[player.currency, word, "Balance adjustments"] == (400, 400, 0)
        assert rows[player.currency, word, reconciliation.OPENING][0] == MONEY
        assert rows[player.currency, word, reconciliation.CLOSING][0] == MONEY + 400
        assert answer.notes()[-1] == "No differences."

    @pytest.mark.sweep
    def test_gli19_2_9_3_is_part_of_what_is_held_for_players_where_it_is_real(
        self, jurisdiction: str, mode: Mode
    ) -> None:
        player = a_player(jurisdiction, real=MONEY, free=MONEY)
        since = clock()
        adjust(player, 700, mode=mode)
        names = [column.name for column in reports.LIABILITY_COLUMNS]
        answered = reports.liability(asked_for(Interval(since, clock())))
        read: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in answered.rows]
        rows = {row["moment"]: row for row in read if row["currency"] == player.currency}
        gained = 700 if mode is Mode.REAL else 0
        assert rows["end"]["total"] - rows["beginning"]["total"] == gained
        assert rows["end"]["available"] - rows["beginning"]["available"] == gained


class TestCashAlone:
    @pytest.mark.sweep
    @pytest.mark.parametrize("mode", sample([Mode.REAL, Mode.FREE], 1), ids=["real", "free"])
    def test_money_in_golden_baccarat_is_not_reached(self, mode: Mode) -> None:
        player = a_player("SE", real=MONEY, free=MONEY)
        a_golden_table()
        a_purse(player, MONEY - 500, mode)
        with pytest.raises(adjustments.CannotAdjust, match="available, less than the amount to deduct"):
            ask(player, -501, mode=mode)
        adjust(player, -500, mode=mode)
        assert (cash(player, mode), purse.balance(player, mode)) == (0, MONEY - 500)
        adjust(player, 200, mode=mode)
        assert (cash(player, mode), purse.balance(player, mode)) == (200, MONEY - 500)
        assert faults() == []

    def test_what_waits_to_be_paid_out_is_not_reached(self) -> None:
        player = a_verified_player("SE", real=MONEY)
        a_withdrawal(player, MONEY - 500)
        with pytest.raises(adjustments.CannotAdjust, match="available, less than the amount to deduct"):
            ask(player, -501)
        adjust(player, -500)
        pending = accounts.totals(player.pk).balances(AccountKind.PENDING)[Mode.REAL]
        assert (cash(player), pending) == (0, MONEY - 500)
        assert faults() == []


class TestOfAccountsThatEnd:
    def closing(self) -> Player:
        player = a_player("SE")
        closures.begin(player=player, ip="127.0.0.1")
        return player

    def closed(self) -> Player:
        player = a_player("SE")
        closing.close(player=player, account=None, key=uuid4(), ip="127.0.0.1")
        assert state_of(player) is ClosureState.CLOSED
        return player

    @pytest.mark.sweep
    def test_real_money_for_a_closed_one_is_written_about_and_its_owner_let_in_to_withdraw_it(self) -> None:
        player = self.closed()
        adjust(player, 700)
        assert last_mail(player.user.email, "balance_adjusted")
        closing.return_late_money()
        assert last_mail(player.user.email, "account_let_in")
        assert cash(player) == 700
        assert faults() == []

    @pytest.mark.sweep
    def test_free_money_there_means_nothing(self) -> None:
        for player in (self.closing(), self.closed()):
            with pytest.raises(adjustments.CannotAdjust, match=r"Free money cannot be adjusted\."):
                ask(player, 700, mode=Mode.FREE)

    @pytest.mark.sweep
    def test_nobody_knows_whose_an_erased_one_was(self) -> None:
        player = self.closed()
        waiting = ask(player, 700)
        as_owner("INSERT INTO players_closure (player_id, state, by) VALUES (%s, 'erased', 'system')", [player.pk])
        with pytest.raises(adjustments.CannotAdjust, match="erased"):
            ask(player, 800)
        with pytest.raises(approvals.CannotExecute, match="erased"):
            decide(waiting)
        assert cash(player) == 0
