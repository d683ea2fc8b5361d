"""The owner of the database halves the tax of a coup of Chemin de Fer in its rows and journal; the
signed log contradicts it.

If the function that takes the tax is changed, the table stops, because its banks differ.
"""

from collections.abc import Iterator

import pytest

from audit.sealing import sealer
from games.models import CheminCoup
from tests.attacks.test_house_rounds import HASH, findings, rewrite
from tests.chemin.at_table import a_chemin_table, sit
from tests.chemin.evenings import play_until
from tests.harness.databases import filled
from tests.recorded import a_recorded_player

MONEY = 5_000_000


def play() -> None:
    """Play coups until one was taxed, and seal the log."""
    live_table = a_chemin_table(maximum=50_000)
    for seat_number in range(1, 4):
        sit(a_recorded_player(MONEY), live_table, seat_number)
    play_until(live_table, lambda _: CheminCoup.objects.filter(tax__gt=1).exists(), seed=1)
    sealer.seal()


@pytest.fixture(scope="module")
def cloned_from(django_db_setup, django_db_blocker) -> Iterator[str]:
    with django_db_blocker.unblock(), filled(play) as name:
        yield name


# The house's half goes to the bank.
HALVE = f"""
UPDATE wallet_entry AS e SET amount = amount + CASE a.kind WHEN 'house' THEN -%(half)s ELSE %(half)s END,
    balance_after = balance_after + CASE a.kind WHEN 'house' THEN NULL ELSE %(half)s END
FROM wallet_journal AS j, wallet_account AS a
WHERE j.id = e.journal_id AND a.id = e.account_id AND j.round_id = %(round)s AND j.kind = 'settle'
    AND a.kind IN ('house', 'bank');
{HASH};
UPDATE games_chemincoup SET tax = tax - %(half)s WHERE round_id = %(round)s
"""


def test_an_untouched_house_is_verified(cloned_db):
    assert findings("rounds", "ledger", "protection") == ""


def test_the_tax_of_a_coup_halved_in_its_rows_is_named(cloned_db):
    coup = CheminCoup.objects.filter(tax__gt=1).earliest("at")
    rewrite(cloned_db, HALVE, round=coup.pk, half=coup.tax // 2)
    said = findings()
    assert f"round {coup.pk}: tax: the stored value is {coup.tax - coup.tax // 2}; event " in said
    assert f"round {coup.pk}: tax in the ledger: the stored value is " in said
