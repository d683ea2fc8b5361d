"""The proxy that cuts at COMMIT, compared with what PostgreSQL has stored afterwards."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from ops.embedded.paths import SOCKET_OF_POSTGRESQL
from tests.drill.commits import CUTS, FATES, Action, Fate, Line, line_to
from tests.start.support import wait_until

pytestmark = pytest.mark.usefixtures("cloned_db")


@pytest.fixture
def line(cloned_db) -> Iterator[Line]:
    with line_to(cloned_db.addresses.sockets / SOCKET_OF_POSTGRESQL) as line:
        yield line


@pytest.fixture
def address(cloned_db, line) -> str:
    return f"postgresql://sabot_owner@127.0.0.1:{line.port}/{cloned_db.name}"


@pytest.fixture
def kept(owner) -> psycopg.Connection:
    owner.execute("CREATE TABLE kept (number int)")
    return owner


def numbers(owner: psycopg.Connection) -> list[int]:
    return [number for (number,) in owner.execute("SELECT number FROM kept ORDER BY number").fetchall()]


def write(address: str, number: int, by: str = "wallet_post()") -> None:
    """Keep a number in a transaction in which the posting function is named, if nothing else is."""
    with psycopg.connect(address) as client:
        client.execute(f"INSERT INTO kept VALUES (%s) /* {by} */", [number])


def write_in_a_pipeline(client: psycopg.Connection, number: int) -> None:
    """Keep a number in a transaction that sends COMMIT together with its last statement, as a click does."""
    client.execute("BEGIN")
    with client.pipeline():
        client.execute("INSERT INTO kept VALUES (%s) /* wallet_post() */", [number])
        client.execute("COMMIT")


CALL = "players_api_call, wallet_hold()"


def write_in_vain(address: str, *numbers: int) -> None:
    for number in numbers:
        with pytest.raises(psycopg.OperationalError):
            write(address, number)


def test_it_passes_everything_on_while_nothing_is_to_be_cut(address, kept, line):
    write(address, 1)
    with psycopg.connect(address) as client:
        assert client.execute("SELECT repeat('x', 300000), number FROM kept").fetchone() == ("x" * 300_000, 1)
    assert numbers(kept) == [1]
    assert not line.cuts


@pytest.mark.sweep
def test_after_a_cut_commit_only_the_database_knows_the_result(address, kept, line):
    line.cut()
    write_in_vain(address, 0, 1, 2)
    assert line.cuts == {(Action.MOVE, fate): 1 for fate in FATES}
    wait_until(lambda: numbers(kept) == [FATES.index(Fate.DONE), FATES.index(Fate.LATE)], "what was late is done")
    write(address, 3)
    assert numbers(kept) == [0, 1, 3]


def test_a_commit_in_a_pipeline_is_cut_as_well(address, kept, line):
    """At once, and once psycopg has prepared it after some uses."""
    with psycopg.connect(address, autocommit=True) as client:
        for number in range(7):
            write_in_a_pipeline(client, number)
        line.cut()
        with pytest.raises(psycopg.OperationalError):
            write_in_a_pipeline(client, 7)
    for number in (8, 9):
        with psycopg.connect(address, autocommit=True) as client, pytest.raises(psycopg.OperationalError):
            write_in_a_pipeline(client, number)
    assert line.cuts == {(Action.MOVE, fate): 1 for fate in FATES}
    wait_until(lambda: numbers(kept) == [*range(9)], "what was late is done")


@pytest.mark.sweep
def test_what_is_done_late_is_not_done_yet_when_its_sender_hears_that_the_line_is_cut(address, kept, line):
    line.cut()
    write_in_vain(address, 0, 1)
    assert numbers(kept) == [0]
    wait_until(lambda: numbers(kept) == [0, 1], "what was late is done")


def test_the_lines_are_whole_again_once_each_fate_has_met_a_call_of_a_program_and_another_move(address, kept, line):
    line.cut()
    write_in_vain(address, 0, 1, 2)
    assert not line.is_whole
    for number in (3, 4, 5):
        with pytest.raises(psycopg.OperationalError):
            write(address, number, by=CALL)
    assert line.is_whole
    assert line.cuts == dict.fromkeys(CUTS, 1)


@pytest.mark.parametrize("by", ["", "players_api_call", "wallet_account", "ROLLBACK"])
def test_nobody_is_cut_off_who_moves_no_money(address, kept, line, by):
    line.cut()
    write(address, 1, by=by)
    assert numbers(kept) == [1]
    assert not line.cuts


def test_money_that_moved_in_the_transaction_before_is_no_reason_to_cut_the_next_one(address, kept, line):
    with psycopg.connect(address) as client:
        client.execute("SELECT 'wallet_post()'")
        client.rollback()
        line.cut()
        client.execute("INSERT INTO kept VALUES (1)")
    assert numbers(kept) == [1]
    assert not line.cuts


def test_where_no_server_is_nobody_gets_through(tmp_path: Path):
    with line_to(tmp_path / "nowhere") as line, pytest.raises(psycopg.OperationalError):
        psycopg.connect(f"postgresql://sabot_owner@127.0.0.1:{line.port}/sabot")
