"""The owner of the database rewrites rounds, money or cards without the guards, with rows that agree
with each other.

The verification of the house names the change, because the signed log contradicts it. Nothing else
would notice.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from uuid import uuid4

import psycopg
import pytest
from django.core.management import call_command
from django.db import transaction
from django.db.models import Max

from audit.models import Significant, Weight
from audit.sealing import sealer
from audit.significant import detection
from audit.verification import house
from games.models import LiveTable, Participation, Phase, Round, Shoe, Status, Table
from games.shared import shoes
from tests.builders import a_round, a_table
from tests.harness.databases import Database, filled
from tests.live.at_table import a_live_table, advance_to, bet
from tests.recorded import a_recorded_player
from wallet.invariants import verify as ledger
from wallet.models import Mode, Payment

MONEY, STAKE = 1_000_000, 1_000


def play() -> None:
    """Play two solo rounds and a round of a shared table, and seal the log."""
    player, table = a_recorded_player(MONEY), a_table()
    a_round(player, table, player=5 * STAKE, tie=STAKE)
    while not Participation.objects.filter(pk=Participation.objects.aggregate(last=Max("pk"))["last"], paid__gt=0):
        a_round(player, table, player=5 * STAKE, tie=STAKE)
    live_table, players = a_live_table(), [a_recorded_player(MONEY), a_recorded_player(MONEY)]
    for each in players:
        bet(each, live_table, player=5_000)
    settled = advance_to(live_table, Phase.SETTLED)
    with transaction.atomic():
        shoes.retire(settled.shoe)
    assert shoes.publish(settled.shoe_id) == ()
    sealer.seal()


@pytest.fixture(scope="module")
def cloned_from(django_db_setup, django_db_blocker) -> Iterator[str]:
    with django_db_blocker.unblock(), filled(play) as name:
        yield name


@contextmanager
def unguarded(database: Database) -> Iterator[psycopg.Connection]:
    """Log in as superuser without triggers and foreign keys."""
    with psycopg.connect(database.superuser_url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        yield superuser


def findings(*parts: str) -> str:
    return "\n".join(each.text for each in house.run(is_whole=True, parts=parts or ("rounds",)))


def test_an_untouched_house_is_verified(cloned_db, capsys):
    assert findings() == ""
    assert house.run(is_whole=False) == []
    call_command("verify_house", "--part", "rounds")
    assert capsys.readouterr().out.endswith("The house is verified: rounds.\n")


# A journal's hash follows its lines, and the posting key has the same.
HASH = """
UPDATE wallet_journal AS j SET request_hash = wallet_request_hash(
    j.kind, j.round_id, NULL,
    (SELECT array_agg(account_id ORDER BY line)::text FROM wallet_entry WHERE journal_id = j.id),
    (SELECT array_agg(amount ORDER BY line)::text FROM wallet_entry WHERE journal_id = j.id))
WHERE j.key IS NOT NULL AND (j.round_id = %(round)s AND j.kind = 'settle' OR j.id = %(journal)s);
UPDATE wallet_posting_key AS k SET request_hash = j.request_hash FROM wallet_journal AS j
WHERE j.id = k.journal_id AND (j.round_id = %(round)s OR j.id = %(journal)s)
"""
# The last round of its only player pays `gain` more than it did, in every row.
REWRITE = f"""
UPDATE games_participation SET paid = paid + %(gain)s, balance_after = balance_after + %(gain)s, payouts = (
    SELECT array_agg(each.payout + CASE each.n WHEN 1 THEN %(gain)s ELSE 0 END ORDER BY each.place)
    FROM (SELECT payout, place, row_number() OVER (ORDER BY payout DESC) AS n
          FROM unnest(payouts) WITH ORDINALITY AS paid (payout, place)) AS each)
WHERE round_id = %(round)s;
UPDATE wallet_entry AS e SET balance_after = balance_after + %(gain)s,
    amount = amount + CASE a.kind WHEN 'house' THEN -%(gain)s ELSE %(gain)s END
FROM wallet_journal AS j, wallet_account AS a
WHERE j.id = e.journal_id AND a.id = e.account_id AND j.round_id = %(round)s AND j.kind = 'settle'
    AND a.kind IN ('house', 'cash');
{HASH};
UPDATE wallet_account AS a SET balance = balance + %(gain)s FROM games_participation AS p
WHERE p.round_id = %(round)s AND a.owner_id = p.player_id AND a.kind = 'cash' AND a.mode = 'R';
UPDATE wallet_day AS d SET paid = d.paid + %(gain)s FROM games_participation AS p
WHERE p.round_id = %(round)s AND d.player_id = p.player_id
"""
# The last round of a player is in no table any more, nor is its money.
REMOVE = """
UPDATE wallet_account AS a SET balance = balance + p.staked - p.paid, version = version - (
    SELECT count(*) FROM wallet_entry AS e JOIN wallet_journal AS j ON j.id = e.journal_id
    WHERE j.round_id = p.round_id AND e.account_id = a.id)
FROM games_participation AS p
WHERE p.round_id = %(round)s AND a.owner_id = p.player_id AND a.kind = 'cash' AND a.mode = 'R';
UPDATE wallet_day AS d SET staked = d.staked - p.staked, paid = d.paid - p.paid FROM games_participation AS p
WHERE p.round_id = %(round)s AND d.player_id = p.player_id;
DELETE FROM wallet_entry WHERE journal_id IN (SELECT id FROM wallet_journal WHERE round_id = %(round)s);
DELETE FROM wallet_journal WHERE round_id = %(round)s;
DELETE FROM games_participation WHERE round_id = %(round)s;
DELETE FROM games_verificationdue WHERE round_id = %(round)s;
DELETE FROM games_round WHERE id = %(round)s
"""
# A deposit was 500 less, in every row.
SHRINK = f"""
UPDATE wallet_entry SET amount = amount - sign(amount) * 500, balance_after = balance_after - 500
WHERE journal_id = %(journal)s;
UPDATE wallet_entry AS e SET balance_after = e.balance_after - 500 FROM wallet_entry AS d
WHERE d.journal_id = %(journal)s AND e.account_id = d.account_id AND e.version > d.version;
UPDATE wallet_account SET balance = balance - 500
WHERE id = (SELECT account_id FROM wallet_entry WHERE journal_id = %(journal)s AND version IS NOT NULL);
UPDATE wallet_day SET deposited = deposited - 500 WHERE player_id = %(player)s;
UPDATE wallet_payment SET amount = amount - 500, total = total - 5 WHERE journal_id = %(journal)s;
{HASH};
UPDATE games_participation SET balance_before = balance_before - 500, balance_after = balance_after - 500
WHERE player_id = %(player)s
"""
DEPOSIT = """
SELECT journal FROM wallet_write(jsonb_build_array(jsonb_build_object(
    'key', gen_random_uuid(), 'kind', 'deposit', 'lines', (
        SELECT jsonb_agg(jsonb_build_array(e.account_id, e.currency, e.mode, sign(e.amount) * 700) ORDER BY e.line)
        FROM wallet_entry AS e WHERE e.journal_id = %s))), false) LIMIT 1
"""
PAID = """
INSERT INTO wallet_payment SELECT (jsonb_populate_record(p, jsonb_build_object(
    'id', gen_random_uuid(), 'token', gen_random_uuid(), 'amount', 700, 'total', 7, 'captured_amount', 7,
    'journal_id', %s::bigint))).*
FROM wallet_payment AS p WHERE id = %s
"""
# A journal like that of a round, by the writer.
POST = """
SELECT journal FROM wallet_write(jsonb_build_array(jsonb_build_object(
    'key', gen_random_uuid(), 'kind', %(kind)s, 'round', %(round)s, 'lines', (
        SELECT jsonb_agg(jsonb_build_array(e.account_id, e.currency, e.mode, e.amount) ORDER BY e.line)
        FROM wallet_entry AS e JOIN wallet_journal AS j ON j.id = e.journal_id
        WHERE j.round_id = %(like)s AND j.kind = %(kind)s))), false)
"""
INVENT = """
INSERT INTO games_round SELECT (jsonb_populate_record(r, jsonb_build_object(
    'id', %(round)s, 'code', 'AAAA-AAAA-AAAA', 'at', now()))).*
FROM games_round AS r WHERE id = %(like)s;
INSERT INTO games_participation (round_id, player_id, currency, mode, balance_before, balance_after, staked, paid,
    commission, session, at, table_id, bets, stakes, payouts, commissions, results)
SELECT %(round)s, player_id, currency, mode, balance_before + %(gain)s, balance_after + %(gain)s, staked, paid,
    commission, session, now(), table_id, bets, stakes, payouts, commissions, results
FROM games_participation WHERE round_id = %(like)s
"""
COPY = """
INSERT INTO games_round SELECT (jsonb_populate_record(r, jsonb_build_object(
    'id', gen_random_uuid(), 'code', 'AAAA-AAAA-AAAA'))).*
FROM games_round AS r WHERE id = %s
"""


def rewrite(database: Database, script: str, **values: object) -> None:
    """Run a script as superuser; each of its statements changes something."""
    with unguarded(database) as superuser:
        for statement in script.split(";\n"):
            done = psycopg.ClientCursor(superuser).execute(statement, {"round": None, "journal": None} | values)
            # Journals of solo rounds have no posting key and no hash.
            assert done.rowcount > 0 or "request_hash" in statement, statement


def others_notice_nothing() -> None:
    """Neither the ledger's own verification nor that of the log."""
    assert [row for check in ledger.run() for row in check.rows] == []
    assert [each for each in house.run(is_whole=True, parts=["log"]) if "checkpoint" not in each.text] == []


def last_solo_round() -> Round:
    return Round.objects.filter(shoe=None).latest("at")


def table_of(played: Round) -> Table:
    return Table.objects.get(versions=played.table_version_id)


class TestIsNamed:
    def test_a_round_that_was_removed_with_its_money(self, cloned_db):
        played = last_solo_round()
        rewrite(cloned_db, REMOVE, round=played.pk)
        others_notice_nothing()
        assert f"round {played.pk}: event " in (said := findings())
        assert "has settled it; the row of the round is missing." in said
        assert table_of(played).status == Status.CLOSED  # by the log: no row leads to it

    def test_a_round_whose_payout_was_rewritten_in_every_row(self, cloned_db):
        played = last_solo_round()
        rewrite(cloned_db, REWRITE, round=played.pk, gain=-500)
        others_notice_nothing()
        assert f"round {played.pk}: wagers: the stored value is" in (said := findings())
        assert table_of(played).is_open  # no card is concerned
        assert f"round {played.pk}: balance after in the ledger: the stored value is" in said

    def test_the_balances_of_a_players_part(self, cloned_db):
        for is_solo in (True, False):
            part = Participation.objects.filter(round__shoe__isnull=is_solo).latest("pk")
            lower = (
                "UPDATE games_participation SET balance_before = balance_before - 7, balance_after = balance_after - 7"
            )
            rewrite(cloned_db, f"{lower} WHERE id = %(part)s", part=part.pk)
            others_notice_nothing()
            what = "balance before" if is_solo else "players and bets"
            assert f"round {part.round_id}: {what}: the stored value is" in findings()

    def test_the_cards_of_a_round(self, cloned_db):
        for is_solo in (True, False):
            played = Round.objects.filter(shoe__isnull=is_solo).latest("at")
            turned = " ".join(reversed(played.cards.split()))
            statement = "UPDATE games_round SET cards = %(cards)s WHERE id = %(round)s"
            rewrite(cloned_db, statement, cards=turned, round=played.pk)
            others_notice_nothing()
            assert f"round {played.pk}: cards: the stored value is {turned}; event" in findings()
            assert table_of(played).status == Status.CLOSED

    def test_a_round_that_no_event_has_settled(self, cloned_db):
        played = last_solo_round()
        with unguarded(cloned_db) as superuser:
            superuser.execute(COPY.encode(), [played.pk])
        others_notice_nothing()
        assert "is stored, but no event has settled or voided it." in findings()
        assert table_of(played).status == Status.CLOSED

    def test_the_seed_of_an_ended_shoe(self, cloned_db):
        shoe = Shoe.objects.get()
        rewrite(cloned_db, "UPDATE games_shoe SET seed = sha256('x')")
        others_notice_nothing()
        assert f"shoe {shoe.pk}: seed: the stored value is {sha256(b'x').hexdigest()}; event " in findings()
        assert shoe.live_table.table.status == Status.CLOSED
        assert table_of(last_solo_round()).is_open  # other tables continue

    def test_a_seed_that_was_published_without_a_trace(self, cloned_db):
        live_table = LiveTable.objects.get(mode=Mode.REAL)
        advance_to(live_table, Phase.BETTING)
        shoe = Shoe.objects.get(ended_at=None)
        ended = "UPDATE games_shoe SET seed = sha256('x'), ended_at = now(), ending = 'cut_card' WHERE id = %(shoe)s"
        rewrite(cloned_db, ended, shoe=shoe.pk)
        others_notice_nothing()
        assert f"shoe {shoe.pk}: no event shoe.published is recorded for it." in findings()

    def test_a_round_that_was_never_played_with_its_money(self, cloned_db):
        """As the last one: its rows copied, its journals by the writer, the balances after it."""
        played, invented = last_solo_round(), uuid4()
        part = Participation.objects.get(round=played)
        for kind in ("stake", "settle"):
            rewrite(cloned_db, POST, round=invented, like=played.pk, kind=kind)
        gain = part.paid - part.staked
        rewrite(cloned_db, INVENT, round=invented, like=played.pk, gain=gain)
        others_notice_nothing()
        said = findings()
        assert f"round {invented}: is stored, but no event has settled or voided it." in said
        assert gain == 0 or f"of player {part.player_id}, but no event has settled or voided the round." in said

    def test_a_deposit_that_nobody_has_made(self, cloned_db):
        """With all rows of a deposit: a credited payment, its journal by the writer, the balance, the day."""
        paid = Payment.objects.filter(state="credited").latest("decided_at")
        with unguarded(cloned_db) as superuser:
            ((journal,),) = superuser.execute(DEPOSIT.encode(), [paid.journal_id]).fetchall()
            superuser.execute(PAID.encode(), [journal, paid.pk])
        others_notice_nothing()
        assert f"journal {journal}: no event records this deposit of " in findings("ledger")

    def test_a_deposit_that_was_made_smaller_in_every_row(self, cloned_db):
        paid = Payment.objects.filter(state="credited").latest("decided_at")
        rewrite(cloned_db, SHRINK, journal=paid.journal_id, player=paid.player_id)
        others_notice_nothing()
        assert f"journal {paid.journal_id}: amount: the stored value is {MONEY - 500}; event " in findings("ledger")

    def test_any_journal_once_its_digest_is_in_the_log(self, cloned_db):
        """Journals of any kind: here some whose time was changed."""
        assert house.run(is_whole=False) == []
        rewrite(cloned_db, "UPDATE ledger_verification SET began_at = began_at - interval '2 hours'")
        assert house.run(is_whole=False) == []  # an end counts after a while
        sealer.seal()
        assert findings("ledger") == ""
        rewrite(cloned_db, "UPDATE wallet_journal SET at = at - interval '1 second' WHERE kind = 'stake'")
        assert "which was written after they were verified, says" in findings("ledger")

    def test_a_bet_of_a_shared_round(self, cloned_db):
        """By the log, and by the cards and the rules."""
        part = Participation.objects.exclude(round__shoe=None).latest("pk")
        more = "UPDATE games_participation SET payouts[1] = payouts[1] + 1 WHERE id = %(part)s"
        rewrite(cloned_db, more, part=part.pk)
        said = findings()
        assert f"round {part.round_id}: players and bets: the stored value is" in said
        assert f"round {part.round_id}: bet player of 5000: the stored value is [" in said


def test_gli19_2_8_8_a_finding_of_the_verification_is_an_alert_once_until_it_is_gone(cloned_db):
    played = last_solo_round()
    change = "UPDATE games_round SET outcome = %(outcome)s, cards = %(cards)s WHERE id = %(round)s"
    rewrite(cloned_db, change, round=played.pk, outcome="", cards="AH AH AH AH")
    assert findings()
    first = findings()
    sealer.seal()
    detection.find()
    alarms = Significant.objects.filter(title="Verification of the house found a difference")
    assert {(each.on, each.weight) for each in alarms} == {(f"round:{played.pk}", Weight.ALERT)}
    assert len(alarms) == len(first.splitlines()) == len(house.open_findings())
    rewrite(cloned_db, change, round=played.pk, outcome=played.outcome, cards=played.cards)
    assert findings() == ""
    assert not house.open_findings()
