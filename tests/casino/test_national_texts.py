"""Texts that national law requires or forbids (`docs/national-rules.md`)."""

import html
import re
from collections.abc import Iterator
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest

from games.history.statement.figures import Choice, chosen
from games.variants import GAMES, help_text
from players.account import terms
from tests.builders import a_player, a_round, a_table
from tests.casino.test_glossary import catalogue_of
from tests.people import a_visitor

# Any licence: no German text claims one, from the federation or a state.
LICENCE = re.compile(
    r"lizen[zs]|erlaubnis|konzession|GGL|glücksspielbehörde|whitelist|\bbundes|staatlich|behördlich|aufsichtsbehörde"
    r"|zugelassen",
    re.IGNORECASE,
)
DISCLAIMED = "Es wird nicht behauptet, dass hier eine Erlaubnis für Glücksspiel besteht"


def german() -> Iterator[tuple[str, str]]:
    """Yield every German text of the house, with its location."""
    yield "terms", terms.text("de")
    yield from (("help of " + slug, help_text(slug, "de")) for slug in GAMES)
    yield from (("catalogue", text) for text in catalogue_of("de"))


def test_de_no_text_implies_a_federal_licence():
    texts = list(german())
    assert len(texts) > 1000
    claims = [(where, found[0]) for where, text in texts if (found := LICENCE.search(text.replace(DISCLAIMED, "")))]
    assert claims == []


def test_de_the_terms_say_that_no_licence_is_claimed():
    assert DISCLAIMED in terms.text("de")


@pytest.mark.django_db
def test_dk_self_exclusion_comes_with_information_on_treatment():
    visitor = a_visitor()
    visitor.force_login(a_player("DK").user)
    page = html.unescape(visitor.get("/da/protection/").text)
    section = re.search(r'<section[^>]*aria-labelledby="exclude".*?</section>', page, re.DOTALL)
    assert section
    assert "kan behandles" in section[0]
    assert "rådgivning om spil" in section[0]
    assert section[0].index("kan behandles") < section[0].index("<form")  # shown before the form


@pytest.mark.parametrize(
    ("choice", "days"), [(Choice.THREE_MONTHS, 90), (Choice.TWELVE_MONTHS, 365)], ids=["three months", "twelve months"]
)
def test_dk_gb_the_periods_offered_are_never_shorter_than_the_law_says(choice, days):
    for number in range(4 * 365 + 1):
        period = chosen(choice, ZoneInfo("Europe/Copenhagen"), date(2026, 1, 1) + timedelta(days=number))
        assert (period.until - period.since).days + 1 >= days


@pytest.mark.django_db
@pytest.mark.parametrize("code", ["DK", "GB"])
@pytest.mark.parametrize("choice", [Choice.THREE_MONTHS, Choice.TWELVE_MONTHS], ids=str)
def test_dk_gb_players_read_balances_stakes_wins_losses_and_payments_themselves(code, choice):
    player, visitor = a_player(code, real=1_000_000), a_visitor()
    a_round(player, a_table(), player=1000)
    visitor.force_login(player.user)
    page = html.unescape(visitor.get("/en/cashier/statement/", {"period": choice.value}).text)
    for word in ("Opening balance", "Closing balance", "Stake", "Deposit", 'data-label="Net"'):
        assert word in page
