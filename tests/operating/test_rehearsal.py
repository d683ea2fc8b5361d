"""The whole procedure of an operator: a house is backed up in the middle of an evening, lost, restored on
another server, checked, opened, and played in; and its keys are replaced, since a finder of the lost one may have them.
"""

import base64
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from pyrage.x25519 import Identity

from audit.models import Checkpoint
from audit.sealing import sealer
from games.engine.chemin.state import there
from games.errors import BetTooLate
from games.models import LiveRound, LiveTable, Participation, Phase, Round, VoidPart
from games.solo import solo_seat_at
from ops.embedded import Purpose, addresses
from ops.embedded.paths import DATABASE
from players.models import Player
from tests.chemin.at_table import a_dealt_coup, cash, play_out, seated_players
from tests.harness.visitor import Visitor
from tests.live.at_table import advance_to, bet, hurry, round_at
from tests.operating.house import MONEY, STAKE, Evening, an_evening, playing
from tests.start.support import House, fresh_var, manage, using, wait_until
from tests.wallet.at_the_bank import at_the_bank
from wallet.invariants import verify
from wallet.models import Account, Entry, Mode, Payment, PaymentState, Withdrawal, WithdrawalStatus
from wallet.payments.notifications import ask_about


@pytest.fixture
def evening(cloned_db, signed: Path) -> Evening:
    evening = an_evening()
    sealer.seal()
    return evening


@pytest.mark.sweep
def test_gli19_b_3_7_the_house_is_put_up_again_elsewhere_and_play_goes_on(
    evening: Evening, signed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file, kept, identity = tmp_path / "house.dump.age", tmp_path / "checkpoint", tmp_path / "identity"
    kept.write_text(Checkpoint.objects.latest("size").note)
    key = Identity.generate()
    identity.write_text(f"{key}\n")
    monkeypatch.setattr(settings, "BACKUP_RECIPIENTS", [str(key.to_public())])
    before = state_of_house(evening)
    with playing(evening.solo):
        call_command("back_up", str(file), stdout=StringIO())
    shown = what_the_house_shows_before_it_is_lost(evening)
    keys = {
        "SECOND_FACTOR_KEY": settings.SECOND_FACTOR_KEY,
        "DOCUMENT_KEY": settings.DOCUMENT_KEY,
        "PARTNER_KEY": settings.PARTNER_KEY,
        "CREDENTIALS_KEY": settings.CREDENTIALS_KEY,
        "SECRET_KEY": settings.SECRET_KEY,
        "DEALER": settings.DEALER,  # it has the shoes of the evening still
        "DEALER_KEYS": ",".join(settings.DEALER_KEYS),
        "DEALER_PROOF_KEY": settings.DEALER_PROOF_KEY,
        "AUDIT_SIGNER": settings.AUDIT_SIGNER,
        "AUDIT_KEYS": settings.AUDIT_KEYS.replace("\n", ","),
    }
    with fresh_var() as var, using(var, Purpose.TESTS):
        restored = manage(var, "restore", str(file), "--identity", str(identity), **keys)
        assert restored.returncode == 0, restored.stderr
        assert "The system can start." in restored.stdout
        assert "No signed events are missing" in restored.stdout
        with elsewhere(var):
            assert state_of_house(evening) == before
            everything_agrees(signed, kept)
            signed_before = Checkpoint.objects.count()
            interrupted_rounds_are_over(evening, shown)
            newer = {name: a_key() for name in ("SECOND_FACTOR_KEY", "DOCUMENT_KEY", "PARTNER_KEY")}
            both = {name: f"{newer[name]},{keys[name]}" for name in newer}
            with opened(var, keys | both, monkeypatch) as house:
                play_goes_on(evening, house)
                wait_until(lambda: Checkpoint.objects.count() > signed_before, "the log is signed on")
                resealed = manage(var, "reseal", **keys | both)
                assert resealed.returncode == 0, resealed.stdout + resealed.stderr
                assert resealed.stdout.count("Nothing needs the older keys") == len(newer)
            with opened(var, keys | newer, monkeypatch) as house:
                a_solo_round(evening, house, "rebet_deal")
            everything_agrees(signed, kept)


@contextmanager
def opened(var: Path, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """Open the house with these keys, which this process uses too."""
    for name, key in keys.items():
        if name in ("SECOND_FACTOR_KEY", "DOCUMENT_KEY", "PARTNER_KEY"):
            monkeypatch.setattr(settings, name, key)
    house = House(var, extra=keys).open()
    try:
        yield house
    finally:
        house.process.terminate()
        house.process.wait(60)


def a_key() -> str:
    return base64.urlsafe_b64encode(os.urandom(32)).decode()


def state_of_house(evening: Evening) -> list[object]:
    """Return the stored data of players who are not interrupted: money, every movement of it, every round."""
    people = [evening.regular, evening.purser, evening.asked.player]
    return [
        list(Account.objects.filter(owner__in=people).order_by("pk").values_list("pk", "balance", "held")),
        list(Entry.objects.filter(account__owner__in=people).order_by("journal_id", "line").values_list()),
        list(Participation.objects.filter(player__in=people).order_by("pk").values_list()),
        list(Withdrawal.objects.order_by("pk").values_list("pk", "status", "amount", "reference")),
        list(Payment.objects.order_by("pk").values_list("pk", "state", "amount")),
    ]


def what_the_house_shows_before_it_is_lost(evening: Evening) -> dict[str, object]:
    """Play continues after the backup: rounds dealt in it are settled and shown."""
    dealt = advance_to(evening.tables[Phase.DEALT], Phase.SETTLED)
    play_out(evening.drawn)
    return {"dealt": result(dealt.pk), "coup": result(round_at(evening.drawn).pk)}


def result(round_id: UUID) -> list[object]:
    parts = Participation.objects.filter(round=round_id).order_by("player_id")
    played = Round.objects.get(pk=round_id)
    return [played.pk, played.cards, played.outcome, *parts.values_list("player_id", "staked", "paid", "commission")]


@contextmanager
def elsewhere(var: Path) -> Iterator[None]:
    """Point Django at the database of the servers in *var*."""
    connections.close_all()
    before = {alias: dict(connections.settings[alias]) for alias in connections}
    for alias in connections:
        options = {**before[alias]["OPTIONS"], "host": str(addresses(var).sockets)}
        connections.settings[alias] |= {"NAME": DATABASE, "OPTIONS": options}
    try:
        yield
    finally:
        connections.close_all()
        for alias, settings_before in before.items():
            connections.settings[alias].update(settings_before)


def everything_agrees(signed: Path, kept: Path) -> None:
    """The ledger is correct, and the log matches the signed checkpoints and those stored outside."""
    assert [row for check in verify.run() for row in check.rows] == []
    out = StringIO()
    outside = ("--keys", str(signed / "keys"), "--signer", str(signed), "--checkpoint", str(kept))
    call_command("verify_house", *outside, stdout=out)
    assert "with 1 checkpoints kept outside" in out.getvalue()


def interrupted_rounds_are_over(evening: Evening, shown: dict[str, object]) -> None:
    """Rounds that were not dealt are void; rounds that were dealt end with the result that was shown."""
    for phase in (Phase.BETTING, Phase.CLOSED):
        account = cash(evening.bettors[phase])
        assert (account.balance, account.held) == (MONEY, 0)
        assert VoidPart.objects.filter(player=evening.bettors[phase]).exists()
        assert round_at(evening.tables[phase]).phase == Phase.VOID
    assert round_at(evening.tables[Phase.DEALT]).phase == Phase.SETTLED
    assert result(round_at(evening.tables[Phase.DEALT]).pk) == shown["dealt"]
    assert result(round_at(evening.drawn).pk) == shown["coup"]
    for live_table in (evening.staked, evening.drawn):
        assert not live_table.chemin_seats.filter(left_at=None).exists()
    before_croupier = Account.objects.exclude(kind__in=("house", "cashier", "mint", "cash", "purse", "pending"))
    assert not before_croupier.exclude(balance=None).exclude(balance=0).exists()


def play_goes_on(evening: Evening, house: House) -> None:
    """By the pages of the house, and by its own worker and beat."""
    a_solo_round(evening, house)

    live_table, bettor = evening.tables[Phase.BETTING], evening.bettors[Phase.BETTING]
    lost = LiveRound.objects.filter(live_table=live_table).values_list("shoe_id", flat=True)[0]
    wait_until(lambda: due(live_table, Phase.BETTING), "the next round opens")
    assert round_at(live_table).shoe_id != lost
    wait_until(lambda: staked(bettor, live_table), "a bet is taken")
    before = set(Participation.objects.filter(player=bettor).values_list("pk", flat=True))
    wait_until(lambda: due(live_table, Phase.SETTLED), "the round is settled")
    (played,) = Participation.objects.filter(player=bettor).exclude(pk__in=before)
    assert played.staked == STAKE

    seated_players(evening.staked)
    a_dealt_coup(evening.staked)

    at_the_bank(evening.waiting)
    ask_about(evening.waiting.pk)
    assert Payment.objects.get(pk=evening.waiting.pk).state == PaymentState.CREDITED
    sent = (WithdrawalStatus.SENDING, WithdrawalStatus.PAID)
    wait_until(lambda: Withdrawal.objects.get(pk=evening.approved.pk).status in sent, "the withdrawal is sent")


def a_solo_round(evening: Evening, house: House, action: str = "deal") -> None:
    """A click on the page deals the committed cards."""
    visitor = Visitor(house.url, evening.regular.user, patience=120)
    page = f"/en/table/{evening.solo.slug}/real/"
    assert visitor.get(page)[0] == 200
    seat = solo_seat_at(player=evening.regular, table_id=evening.solo.pk, mode=Mode.REAL)
    form = {
        "action": action,
        "round_id": seat.round_id,
        "slip_version": seat.slip_version,
        "table_version": there(seat.table.version).number,
    }
    assert visitor.post(f"{page}play/", form)[0] == 200
    assert Participation.objects.filter(round=seat.round_id, player=evening.regular, staked=5_000).exists()


def staked(bettor: Player, live_table: LiveTable) -> bool:
    """Bet in the round that takes bets, and say whether it was in time: the worker closes betting by the clock."""
    if not due(live_table, Phase.BETTING):
        return False
    try:
        bet(bettor, live_table, player=STAKE)
    except BetTooLate:
        return False
    return True


def due(live_table: LiveTable, phase: Phase) -> bool:
    """Make the phase due, so that the worker advances the round. Return whether it has come this far."""
    if round_at(live_table).phase == phase:
        return True
    hurry(live_table)
    return False
