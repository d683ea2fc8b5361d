"""Receipts: what the database writes, the dealer signs and the public log has to have."""

import base64
import json
from contextlib import suppress
from hashlib import sha256
from uuid import UUID, uuid4

import psycopg
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.db import connection, transaction
from django.test import Client

from audit.models import Event, Leaf
from audit.sealing import sealer
from audit.tree import NotSealed
from audit.verification import house
from audit.verification.verify import Proof, demand_included, leaf_hash
from games.dealer import Foreign
from games.deals import trusted_keys
from games.engine import card_tree
from games.engine.chemin import Phase as CoupPhase
from games.engine.commitments import ticket_text
from games.errors import ShoeRefused
from games.models import LiveRound, LiveTable, Participation, Phase
from games.rounds import receipts
from games.rounds.receipts import Written
from games.shared import malfunction
from tests.api.client import ApiClient
from tests.audit.sealed import sign
from tests.audit.signing import Pens
from tests.builders import a_player, a_round, a_table
from tests.chemin.at_table import a_chemin_table, a_dealt_coup, a_staked_coup, answer, seated_players, step_to
from tests.live.at_table import a_live_table, advance_to, bet, round_at
from tests.voiding import void_as_two_agree

RICH = 1_000_000
DAY = "86400"


def fields(note: str) -> dict[str, str]:
    """Verify the dealer's signature with no code of the house, and return the lines of a receipt."""
    text, _, line = note.rpartition("\n\n")
    _dash, name, data = line.strip().split(" ")
    (key,) = [bytes.fromhex(each) for each in trusted_keys()]
    signed = base64.b64decode(data)
    assert (name, signed[:4]) == ("sabot.dealer", sha256(b"sabot.dealer\n\x01" + key).digest()[:4])
    Ed25519PublicKey.from_public_bytes(key).verify(signed[4:], f"{text}\n".encode())
    first, *lines = text.splitlines()
    assert first == "sabot receipt v1"
    return dict(each.split("=", 1) for each in lines)


def receipt_of(player_id: int, round_id: UUID) -> dict[str, str]:
    found = receipts.receipt(player_id, round_id)
    assert found
    return fields(found.note)


def entry_of(event: Event) -> str:
    """Return the hash in the entry that the public log has of an event."""
    return sha256(bytes(event.salt or b"") + bytes(event.body)).hexdigest()


def event_of(round_id: UUID, kind: str) -> Event:
    return Event.objects.get(on=f"round:{round_id}", kind=kind)


class TestOfASoloRound:
    def test_names_the_round_the_stakes_the_time_and_the_entry_of_the_log(self, cloned_db):
        player = a_player(real=RICH)
        played = a_round(player, a_table(), tie=1000, player=5000)
        part, event = Participation.objects.get(), event_of(played.round_id, "round.settled")
        assert played.receipt
        found = fields(receipts.signed(played.receipt).note)
        assert found == receipt_of(player.pk, played.round_id)
        assert found == {
            "of": "round",
            "round": str(played.round_id),
            "code": part.round.code,
            "table": str(part.table_id),
            "mode": "R",
            "currency": "SEK",
            "stakes": "player=5000 tie=1000",
            "paid": str(part.paid),
            "at": f"{event.at:%Y-%m-%dT%H:%M:%S.%f}Z",
            "entry": entry_of(event),
            "within": DAY,
        }

    def test_names_nobody_and_is_nobody_else_s(self, cloned_db):
        player, other = a_player(real=RICH), a_player(real=RICH)
        played = a_round(player, a_table(), player=1000)
        assert f"player:{player.pk}" not in str(receipts.receipt(player.pk, played.round_id))
        assert receipts.receipt(other.pk, played.round_id) is None

    def test_is_not_given_before_the_round_is_committed(self, cloned_db):
        """If the round could be rolled back, its receipt would prove a round that does not exist."""
        player, table = a_player(real=RICH), a_table()
        with suppress(RuntimeError), transaction.atomic():
            played = a_round(player, table, player=1000)
            assert played.receipt is None
            assert receipts.receipt(player.pk, played.round_id) is None
            raise RuntimeError
        assert receipts.receipt(player.pk, played.round_id) is None

    def test_is_signed_only_with_the_word_of_the_database(self, cloned_db):
        player = a_player(real=RICH)
        written = a_round(player, a_table(), player=1000).receipt
        assert written
        for said, ticket in (
            (written.said.replace("paid=", "paid=1"), written.ticket),
            (written.said, bytes(32)),
            (ticket_text(str(uuid4()), str(uuid4()), 0, 0, "0" * 64), written.ticket),
        ):
            with pytest.raises(ShoeRefused) as refused:
                receipts.signed(Written(written.round_id, said, ticket))
            assert isinstance(refused.value.__cause__, Foreign)

    def test_has_no_line_that_the_web_role_has_chosen(self, cloned_db):
        player = a_player(real=RICH)
        played = a_round(player, a_table(), player=1000)
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as database:
            database.execute("SET session_replication_role = replica")
            database.execute("UPDATE games_round SET code = E'A\\npaid=9999'")
        found = receipts.receipt(player.pk, played.round_id)
        assert found
        assert found.note.count("\npaid=") == 1
        assert fields(found.note)["code"] == "A9999"

    def test_comes_with_the_answer_to_the_click(self, cloned_db):
        player, table = a_player(real=RICH), a_table()
        browser = Client()
        browser.force_login(player.user)
        page = browser.get("/en/table/baccarat/real/").text
        names = ("round_id", "slip_version", "table_version")
        sent = {name: page.split(f'name="{name}" value="')[1].split('"')[0] for name in names}
        sent |= {"action": "bet:player", "chip": "1000"}
        htmx = {"HX-Request": "true"}
        page = browser.post("/en/table/baccarat/real/play/", sent, headers=htmx).text
        sent["slip_version"] = page.split('name="slip_version" value="')[1].split('"')[0]
        answer = browser.post("/en/table/baccarat/real/play/", sent | {"action": "deal"}, headers=htmx).text
        note = answer.split('data-receipt="')[1].split('"')[0]
        assert fields(note)["round"] == str(Participation.objects.get(table=table).round_id)


@pytest.fixture
def live_table(cloned_db) -> LiveTable:
    return a_live_table()


def bet_leaf(found: dict[str, str]) -> bytes:
    """Compute the leaf of a receipt of bets, with no code of the house."""
    lines = "".join(f"{name}={found[name]}\n" for name in ("round", "salt", "currency", "stakes"))
    return sha256(f"\x00sabot bet v1\n{lines}".encode()).digest()


class TestOfBetsAtASharedTable:
    @pytest.mark.parametrize("count", [1, 2, 3, 5])
    def test_are_signed_before_the_close_and_under_the_root_that_the_log_has_after_it(self, live_table, count):
        players = [a_player(real=RICH) for _ in range(count)]
        for player in players:
            bet(player, live_table, player=5000)
        bet(players[0], live_table, tie=5000)
        live_round = round_at(live_table)
        before = [receipt_of(player.pk, live_round.pk) for player in players]
        assert live_round.phase == Phase.BETTING
        assert {(each["of"], each["currency"]) for each in before} == {("bet", "SEK")}
        assert [each["stakes"] for each in before] == ["player=5000 tie=5000", *["player=5000"] * (count - 1)]
        assert before[0]["closes"] == f"{live_round.deadline:%Y-%m-%dT%H:%M:%S.%f}Z"
        assert len({each["salt"] for each in before}) == count
        for phase in (Phase.CLOSED, Phase.SETTLED):  # from the seats, then from the stored round
            advance_to(live_table, phase)
            sealer.seal()
            event = event_of(live_round.pk, "bets.sealed")
            said = json.loads(bytes(event.body))["data"]
            assert (event.salt, said["bets"]) == (None, count)
            for player, receipt in zip(players, before, strict=True):
                found = receipts.sealed_bets(player.pk, live_round.pk)
                assert found
                root = card_tree.climb(found.place, count, bet_leaf(receipt), found.path)
                assert root
                assert root.hex() == said["root"]
                other = card_tree.climb(found.place, count, bet_leaf(receipt | {"stakes": "player=1"}), found.path)
                assert other
                assert other.hex() != said["root"]
                assert found.leaf == Leaf.objects.get(event=event).leaf
                assert found.entry == bytes(event.body).decode()

    def test_come_with_the_answer_to_the_click(self, live_table):
        player = a_player(real=RICH)
        browser = Client()
        browser.force_login(player.user)
        assert 'id="bet-receipt" hidden></p>' in browser.get("/en/table/live/real/").text
        sent = {"round_id": round_at(live_table).pk, "table_version": 1, "chip": 5000, "action": "bet:player"}
        for stakes in ("player=5000", "player=10000"):
            answer = browser.post("/en/table/live/real/bet/", sent, headers={"HX-Request": "true"}).text
            found = fields(answer.split('data-receipt="')[1].split('"')[0])
            assert (found["of"], found["stakes"]) == ("bet", stakes)
            assert '<div class="live-own"' in answer
        assert f'data-of="{found["round"]}" data-version="2"' in browser.get("/en/table/live/real/").text

    def test_are_sealed_too_where_the_round_is_cancelled_before_its_close(self, live_table):
        player = a_player(real=RICH)
        bet(player, live_table, player=5000)
        live_round = round_at(live_table)
        before = receipt_of(player.pk, live_round.pk)
        malfunction.cancel(round_id=live_round.pk, reason="a fault", by="staff:1")
        assert LiveRound.objects.get(pk=live_round.pk).phase == Phase.VOID
        said = json.loads(bytes(event_of(live_round.pk, "bets.sealed").body))["data"]
        assert said == {"bets": 1, "root": bet_leaf(before).hex()}
        assert receipt_of(player.pk, live_round.pk)["of"] == "void"

    def test_of_the_round_have_its_own_entry_and_not_the_bets_of_others(self, live_table):
        player, other = a_player(real=RICH), a_player(real=RICH)
        bet(player, live_table, player=5000)
        bet(other, live_table, banker=5000)
        played = advance_to(live_table, Phase.SETTLED)
        event = event_of(played.pk, "round.settled")
        mine, theirs = receipt_of(player.pk, played.pk), receipt_of(other.pk, played.pk)
        assert mine["entry"] == theirs["entry"] == entry_of(event)
        assert (mine["of"], mine["stakes"], theirs["stakes"]) == ("round", "player=5000", "banker=5000")

    def test_are_held_against_their_root_when_the_house_is_verified(self, live_table, cloned_db):
        bet(a_player(real=RICH), live_table, player=5000)
        played = advance_to(live_table, Phase.SETTLED)
        sealer.seal()
        assert house.run(is_whole=True, parts=["rounds"]) == []
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as database:
            database.execute("SET session_replication_role = replica")
            database.execute("UPDATE games_participation SET stakes = '{10000}'")
        found = [
            each.text for each in house.run(is_whole=True, parts=["rounds"]) if "has sealed 1 players" in each.text
        ]
        assert len(found) == 1
        assert str(played.pk) in found[0]

    def test_only_the_database_says_that_bets_are_sealed(self, live_table):
        with connection.cursor() as cursor, pytest.raises(Exception, match="only the database says"):
            cursor.execute(
                "SELECT audit_record('bets.sealed', 'system', 'log', %s, NULL)",
                ['{"by":"system","data":{},"kind":"bets.sealed","on":"log"}'],
            )


def test_a_coup_of_chemin_de_fer_has_a_receipt_for_each_of_its_players(cloned_db):
    table = a_chemin_table()
    seated_players(table)
    banker, punter = a_dealt_coup(table, stake=4_000)
    step_to(table, CoupPhase.CHOICE, CoupPhase.OFFER)
    played = Participation.objects.get(player=banker).round_id
    event = event_of(played, "round.settled")
    for player in (banker, punter):
        found = receipt_of(player.pk, played)
        assert found["entry"] == entry_of(event)
        part = Participation.objects.get(player=player)
        staked = sum(int(each.split("=")[1]) for each in found["stakes"].split())
        assert (found["of"], staked, found["paid"]) == ("round", part.staked, str(part.paid))


def test_the_stakes_of_a_coup_have_receipts_before_its_cards_are_drawn(cloned_db):
    table = a_chemin_table()
    seated = seated_players(table)
    banker, punter = a_staked_coup(table, stake=4_000)
    coup = round_at(table)
    (third,) = {player.pk for player in seated} - {banker.pk, punter.pk}
    assert (coup.phase, coup.first_card) == (Phase.CLOSED, None)
    before = {player.pk: receipt_of(player.pk, coup.pk) for player in (banker, punter)}
    assert [each["stakes"] for each in before.values()] == ["bank=4000", "punter=4000"]
    assert {each["of"] for each in before.values()} == {"bet"}
    assert receipts.receipt(third, coup.pk) is None
    sealer.seal()
    root = json.loads(bytes(event_of(coup.pk, "bets.sealed").body))["data"]
    assert root["bets"] == 2
    answer(banker, table, "deal_cards")
    step_to(table, CoupPhase.CHOICE, CoupPhase.OFFER)
    sealer.seal()
    for player, receipt in before.items():
        found = receipts.sealed_bets(player, coup.pk)
        assert found is not None
        assert card_tree.climb(found.place, 2, bet_leaf(receipt), found.path) == bytes.fromhex(root["root"])
        assert receipt_of(player, coup.pk)["stakes"] == receipt["stakes"]
    assert house.run(is_whole=True, parts=["rounds"]) == []


def test_a_coup_that_is_voided_keeps_the_bets_that_were_sealed(cloned_db):
    table = a_chemin_table()
    seated_players(table)
    _, punter = a_staked_coup(table, stake=4_000)
    coup = round_at(table)
    before = receipt_of(punter.pk, coup.pk)
    void_as_two_agree(coup.pk)
    sealer.seal()
    after = receipt_of(punter.pk, coup.pk)
    assert (after["of"], after["stakes"]) == ("void", before["stakes"])
    assert house.run(is_whole=True, parts=["rounds"]) == []


class TestTheProof:
    @pytest.fixture
    def pens(self, settings) -> Pens:
        pens = Pens()
        settings.AUDIT_KEYS = pens.keys
        return pens

    def test_leads_from_the_receipt_to_the_signed_root(self, cloned_db, pens):
        player, table = a_player(real=RICH), a_table()
        played = [a_round(player, table, player=1000) for _ in range(3)]
        with pytest.raises(NotSealed):
            receipts.proof(player.pk, played[0].round_id)
        note = sign(pens)
        text = receipts.proof(player.pk, played[1].round_id)
        assert text.endswith(f"\n\n{note}")
        extra = text.split("\n")[1]
        proof = Proof.of(text.replace(f"{extra}\n", ""))
        found = fields(base64.b64decode(extra.removeprefix("extra ")).decode())
        assert found == receipt_of(player.pk, played[1].round_id)
        _origin, size, root, *_ = note.split("\n")
        demand_included(
            leaf=proof.leaf,
            size=int(size),
            hashed=leaf_hash(f'{{"hash":"{found["entry"]}"}}'.encode()),
            proof=proof.hashes,
            root=base64.b64decode(root),
        )

    def test_is_offered_by_page_and_api_to_its_player_alone(self, cloned_db, pens):
        player, other = a_player(real=RICH), a_player(real=RICH)
        played = a_round(player, a_table(), player=1000)
        page, program = f"/en/history/{played.round_id}/", f"rounds/{played.round_id}/"
        mine, theirs = Client(), Client()
        mine.force_login(player.user)
        theirs.force_login(other.user)
        assert mine.get(f"{page}round.tlog-proof").status_code == 404
        assert ApiClient(player.user).get(f"{program}log-proof/").json()["code"] == "not-sealed"
        sign(pens)
        answer = mine.get(f"{page}round.tlog-proof")
        assert answer.text == ApiClient(player.user).get(f"{program}log-proof/").text
        assert answer["Content-Disposition"].endswith(f'{Participation.objects.get().round.code}.tlog-proof"')
        receipt = ApiClient(player.user).get(f"{program}receipt/").json()
        assert receipt == mine.get(f"{page}receipt.json").json()
        assert fields(receipt["receipt"])["round"] == receipt["round"] == str(played.round_id)
        assert (receipt["dealer"], receipt["sealed"]) == (trusted_keys()[0], None)
        for name in ("round.tlog-proof", "receipt.json"):
            assert theirs.get(f"{page}{name}").status_code == 404
        for name in ("log-proof/", "receipt/"):
            assert ApiClient(other.user).get(f"{program}{name}").status_code == 404

    def test_are_not_there_for_now_while_the_dealer_refuses_to_sign(self, cloned_db):
        player = a_player(real=RICH)
        played = a_round(player, a_table(), player=1000)
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as database:
            database.execute("UPDATE games_dealer_key SET inner_pad = outer_pad, outer_pad = inner_pad")
        browser, page = Client(), f"/en/history/{played.round_id}/"
        browser.force_login(player.user)
        for address in ("/en/history/receipts.json", f"{page}receipt.json", f"{page}round.tlog-proof"):
            assert browser.get(address).status_code == 503
        for name in ("receipt/", "log-proof/"):
            answer = ApiClient(player.user).get(f"rounds/{played.round_id}/{name}")
            assert (answer.status_code, answer.json()["code"]) == (503, "dealer-away")

    def test_all_receipts_come_page_by_page(self, cloned_db, monkeypatch):
        monkeypatch.setattr("games.history.fairness_views.AT_ONCE", 2)
        player, table = a_player(real=RICH), a_table()
        played = [str(a_round(player, table, player=1000).round_id) for _ in range(5)]
        browser, found = Client(), list[str]()
        browser.force_login(player.user)
        answer = browser.get("/en/history/receipts.json").json()
        while True:
            assert all(fields(each["receipt"])["round"] == each["round"] for each in answer["rounds"])
            found += [each["round"] for each in answer["rounds"]]
            if answer["older"] is None:
                break
            answer = browser.get("/en/history/receipts.json", {"before": answer["older"]}).json()
        assert found == played[::-1]
        assert browser.get("/en/history/receipts.json", {"before": "x"}).status_code == 400


def test_another_text_does_not_have_the_signature(cloned_db):
    player = a_player(real=RICH)
    found = receipts.receipt(player.pk, a_round(player, a_table(), player=1000).round_id)
    assert found
    with pytest.raises(InvalidSignature):
        fields(found.note.replace("stakes=player=1000", "stakes=player=9000"))
