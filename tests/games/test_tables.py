"""Tables in the back office: minimum returns for publication, and reasons for opening and closing."""

import pytest

from audit.models import Event
from games.models import Table, TableVersion
from games.tables.checks import ReturnTooLow, TableError, check_returns
from games.tables.default_tables import baccarat_limits, load_tables
from games.tables.status import close_table
from games.tables.versions import make_table
from games.variants import VARIANTS
from tests.builders import a_table


def limits_of(*, minimum: int, step: int):
    limits = baccarat_limits()
    limits["SEK"] = {
        "step": step,
        "chips": [step],
        "bets": {bet: [minimum, 100_000] for bet in ("player", "banker", "tie")},
    }
    return limits


def test_the_shipped_limits_return_enough_in_every_currency():
    check_returns("baccarat", baccarat_limits())


def test_gli19_4_7_1_a_stake_of_one_minor_unit_on_banker_returns_too_little_to_go_live():
    with pytest.raises(ReturnTooLow, match="banker returns 55"):
        check_returns("baccarat", limits_of(minimum=1, step=1))


@pytest.mark.django_db
def test_a_table_that_returns_too_little_is_not_made():
    with pytest.raises(ReturnTooLow):
        make_table(slug="cheap", name="Cheap", variant="baccarat", limits=limits_of(minimum=1, step=1), by="staff:1")
    assert not Table.objects.exists()
    assert not TableVersion.objects.exists()


@pytest.mark.django_db
def test_a_version_keeps_the_digest_of_the_rules_it_is_played_under():
    version = a_table().version
    assert version is not None
    assert version.rules_digest == VARIANTS["baccarat"].digest
    assert version.rules_version == VARIANTS["baccarat"].version
    assert Event.objects.filter(kind="table.version").count() == 1


@pytest.mark.django_db
def test_gli19_2_4_1_closing_a_table_records_the_reason():
    table = a_table()
    close_table(table_id=table.pk, reason="The cloth is torn.", by="staff:7")
    event = Event.objects.get(kind="table.closed", on=f"table:{table.pk}")
    assert event.by == "staff:7"
    assert "The cloth is torn." in bytes(event.body).decode()


@pytest.mark.django_db
def test_closing_without_a_reason_is_refused():
    table = a_table()
    with pytest.raises(TableError, match="reason"):
        close_table(table_id=table.pk, reason="  ", by="staff:7")
    assert Table.objects.get().is_open


@pytest.mark.django_db
def test_closing_twice_records_one_event():
    table = a_table()
    for _ in range(2):
        close_table(table_id=table.pk, reason="twice", by="staff:7")
    assert Event.objects.filter(kind="table.closed").count() == 1


@pytest.mark.sweep
@pytest.mark.django_db
def test_loading_the_shipped_tables_twice_makes_them_once():
    load_tables()
    load_tables()
    assert Table.objects.get(slug="baccarat").is_open
