"""Host side of the seamless wallet: executes each studio request exactly once.

Source: docs/seamless.md, "Rules". A transaction is a row that is written together with its journals
and never changes. A repeated request gets its first response from that row. The database decides
which transactions are allowed (``sql/functions/seamless_wallet.sql``). This module translates its
errors.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Final
from uuid import uuid4

import psycopg
from django.db import DatabaseError, transaction
from django.utils.translation import override

from audit import log
from players.protection import eligibility
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import (
    Account,
    AccountKind,
    GameSession,
    Mode,
    Operation,
    Partner,
    PostingKey,
    StudioPlayer,
    StudioTransaction,
)
from wallet.seamless_wallet import messages, partners


class Refused(Exception):
    """The request was refused and nothing moved.

    *code* is an error code of docs/seamless.md. *detail* is a sentence in the player's language, or
    empty.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail


CODE_OF_STATE: Final = {
    "SB051": "already-rolled-back",
    "SB052": "no-bet",
    "SB053": "round-conflict",
    "SB054": "round-won",
    "SB055": "cannot-take-back",
    "SB103": "table-waits",
    "SB107": "too-soon",
    "SB109": "round-elsewhere",
}
CODE_OF_CONSTRAINT: Final = {
    "wallet_studio_transaction_once": "transaction-conflict",
    "wallet_studio_transaction_back": "cannot-take-back",
}


EVENTS: Final = {
    Operation.BET: "studio.bet",
    Operation.WIN: "studio.won",
    Operation.BET_AND_WIN: "studio.bet_and_won",
    Operation.ROLLBACK: "studio.rolled_back",
}
Act = Callable[[StudioPlayer], messages.Done]


def balance(partner: Partner, asked: messages.BalanceAsked) -> messages.Balance:
    """Return the available balance of the player of an open game session. Raises Refused."""
    theirs = _player(partner, asked.player)
    opened = partners.find(theirs, asked.session)
    _demand_on(partner)
    if opened is None or not partners.runs(opened):
        raise Refused("session-over")
    account = Account.objects.get(owner=theirs.player, kind=AccountKind.CASH, mode=opened.mode)
    return messages.Balance(theirs.name, _free(account), account.currency)


def bet(partner: Partner, asked: messages.Bet) -> messages.Done:
    """Take a stake. Raises Refused."""
    return _once(partner, asked, lambda theirs: _stake(partner, theirs, asked, asked.session, asked.amount, 0))


def bet_and_win(partner: Partner, asked: messages.BetAndWin) -> messages.Done:
    """Take a stake and pay its win, both or neither. Raises Refused."""
    return _once(partner, asked, lambda theirs: _stake(partner, theirs, asked, asked.session, asked.bet, asked.win))


def win(partner: Partner, asked: messages.Win) -> messages.Done:
    """Pay the win of a round, even if session, player, house or studio is closed by now.

    Raises Refused.
    """

    def act(theirs: StudioPlayer) -> messages.Done:
        bets = StudioTransaction.objects.filter(studio_player=theirs, game=asked.game, round=asked.round, bet__gt=0)
        mode = bets.order_by("pk").values_list("mode", flat=True).first()
        account = accounts.lock_account(theirs.player_id, Mode(mode or Mode.REAL))
        return _before(partner, asked) or _book(theirs, account, asked, win=asked.amount)

    return _once(partner, asked, act)


def rollback(partner: Partner, asked: messages.Rollback) -> messages.Done:
    """Reverse a transaction, or prevent it if it has not arrived yet. Raises Refused."""

    def act(theirs: StudioPlayer) -> messages.Done:
        taken, opened = _find(partner, asked.takes_back), partners.find(theirs, asked.session)
        mode = taken.mode if taken else opened.mode if opened else Mode.REAL
        account = accounts.lock_account(theirs.player_id, Mode(mode))
        return (
            _before(partner, asked)
            or _taken_back(theirs, asked)
            or _book(theirs, account, asked, None if taken else opened)
        )

    return _once(partner, asked, act)


def _once(partner: Partner, asked: messages.Asked, act: Act) -> messages.Done:
    """Return the first response to a repeated request, otherwise run *act*.

    A refusal is recorded and raised.
    """
    if answer := _before(partner, asked):
        return answer
    theirs = _player(partner, asked.player)
    try:
        with override(theirs.player.user.language), _named(), transaction.atomic():
            return act(theirs)
    except Refused as refusal:
        data: dict[str, log.Json] = {"code": refusal.code} | _said(partner, asked)
        log.record_refusal("studio.refused", by=str(partner), on=str(theirs.player), data=data)
        raise


def _stake(
    partner: Partner, theirs: StudioPlayer, asked: messages.Asked, session: str, stake: int, won: int
) -> messages.Done:
    """Check and book a stake.

    A repeated bet gets its first response even if the player may no longer play. So all conditions
    are read before the account is locked, as everywhere. They are applied after a second look for
    the first response under that lock.
    """
    opened = partners.find(theirs, session)
    if opened is None:
        raise Refused("session-over")
    runs = partners.runs(opened)
    ineligibility = eligibility.check_play(theirs.player, real=opened.mode == Mode.REAL, session=opened.session_id)
    account = accounts.lock_account(theirs.player_id, Mode(opened.mode))
    if answer := _before(partner, asked):
        return answer
    _demand_on(partner)
    if not runs:
        raise Refused("session-over")
    if ineligibility:
        raise Refused("not-eligible", ineligibility.message)
    partners.act(opened)
    return _book(theirs, account, asked, opened, bet=stake, win=won)


def _book(
    theirs: StudioPlayer,
    account: Account,
    asked: messages.Asked,
    opened: GameSession | None = None,
    bet: int = 0,
    win: int = 0,
) -> messages.Done:
    """Store the transaction and post its journals. *account* is the player's and is locked."""
    if asked.currency != account.currency:
        raise Refused("wrong-currency")
    takes_back = asked.takes_back if isinstance(asked, messages.Rollback) else ""
    taken = _find(theirs.partner, takes_back) if takes_back else None
    if taken is not None:
        _demand_same_round(taken, asked)
    row = StudioTransaction.objects.create(
        partner=theirs.partner,
        transaction=asked.transaction,
        operation=asked.operation,
        studio_player=theirs,
        game_session=opened,
        game=asked.game,
        round=asked.round,
        currency=account.currency,
        mode=account.mode,
        bet=bet,
        win=win,
        takes_back=takes_back,
        bet_key=uuid4(),
        win_key=uuid4(),
        request_hash=_hash(asked),
        balance=_free(account) - bet + win + (taken.bet - taken.win if taken else 0),
    )
    if taken is not None:
        _reverse(taken, row)
    else:
        _post(row, account)
    data: dict[str, log.Json] = {"journal": _reference(row), "bet": bet, "win": win, "mode": row.mode}
    on = str(theirs.player)
    log.record(
        EVENTS[Operation(row.operation)], by=str(theirs.partner), on=on, data=data | _said(theirs.partner, asked)
    )
    return _answer(row)


def _post(row: StudioTransaction, account: Account) -> None:
    """Post the stake, then the win: the stake must be covered before its win arrives."""
    studio = accounts.house_account(AccountKind.STUDIO, row.currency, row.mode)
    moves = ((row.bet_key, "studio_stake", -row.bet), (row.win_key, "studio_win", row.win))
    journals = [
        ledger.Journal(
            key,
            kind,
            (
                ledger.Line(account.pk, row.currency, row.mode, amount),
                ledger.Line(studio, row.currency, row.mode, -amount),
            ),
        )
        for key, kind, amount in moves
        if amount
    ]
    if journals:
        ledger.post(*journals)


def _reverse(taken: StudioTransaction, row: StudioTransaction) -> None:
    keys = {taken.bet_key: row.bet_key, taken.win_key: row.win_key}
    posted = PostingKey.objects.filter(key__in=keys)
    if found := {each.journal_id: keys[each.key] for each in posted}:
        ledger.reverse(found, kind="studio_rollback")


@contextmanager
def _named() -> Iterator[None]:
    """Raise errors of the ledger and the database as Refused."""
    try:
        yield
    except ledger.InsufficientFunds as error:
        raise Refused("insufficient-funds") from error
    except ledger.LimitReached as error:
        raise Refused("limit-reached", str(error)) from error
    except ledger.HouseStopped as error:
        raise Refused("house-stopped") from error
    except DatabaseError as error:
        code = _code_of(error)
        if code is None:
            raise
        raise Refused(code) from error


def _code_of(error: DatabaseError) -> str | None:
    cause = error.__cause__
    if not isinstance(cause, psycopg.Error):
        return None
    return CODE_OF_STATE.get(cause.sqlstate or "") or CODE_OF_CONSTRAINT.get(cause.diag.constraint_name or "")


def _before(partner: Partner, asked: messages.Asked) -> messages.Done | None:
    """Return the first response to a repeated transaction, None for a new one."""
    row = _find(partner, asked.transaction)
    if row is None:
        return None
    if bytes(row.request_hash) != _hash(asked):
        raise Refused("transaction-conflict")
    return _answer(row)


def _taken_back(theirs: StudioPlayer, asked: messages.Rollback) -> messages.Done | None:
    """Return the response of an earlier rollback of the same transaction under another id, or None."""
    row = StudioTransaction.objects.filter(studio_player=theirs, takes_back=asked.takes_back).first()
    if row is None:
        return None
    if row.currency != asked.currency:
        raise Refused("wrong-currency")
    _demand_same_round(row, asked)
    return _answer(row, asked.transaction)


def _demand_same_round(row: StudioTransaction, asked: messages.Asked) -> None:
    if (row.game, row.round) != (asked.game, asked.round):
        raise Refused("cannot-take-back")


def _answer(row: StudioTransaction, name: str = "") -> messages.Done:
    balance = row.balance if _says_which_money(row) else None
    return messages.Done(name or row.transaction, _reference(row), balance, row.currency)


def _says_which_money(row: StudioTransaction) -> bool:
    """Return whether it is known which of the player's balances the transaction concerns.

    It is unknown for a rollback that names no session and whose transaction had not arrived. That
    transaction is refused if it arrives later.
    """
    if row.operation != Operation.ROLLBACK or row.game_session_id is not None:
        return True
    return _find(row.partner, row.takes_back) is not None


def _reference(row: StudioTransaction) -> str | None:
    """Return the id of the transaction's first journal, None if nothing moved."""
    posted = PostingKey.objects.filter(key__in=(row.bet_key, row.win_key)).order_by("journal_id")
    journal = posted.values_list("journal_id", flat=True).first()
    return None if journal is None else str(journal)


def _find(partner: Partner, name: str) -> StudioTransaction | None:
    return StudioTransaction.objects.filter(partner=partner, transaction=name).first()


def _player(partner: Partner, name: str) -> StudioPlayer:
    found = StudioPlayer.objects.select_related("partner", "player__user", "player__jurisdiction")
    theirs = found.filter(partner=partner, name=name).first()
    if theirs is None:
        raise Refused("unknown-player")
    return theirs


def _demand_on(partner: Partner) -> None:
    if partner.off_at is not None:
        raise Refused("partner-off")


def _free(account: Account) -> int:
    return (account.balance or 0) - account.held


def _hash(asked: messages.Asked) -> bytes:
    """Return the hash of a request without its session: a retry may come from a new game session."""
    said = asdict(asked) | {"operation": asked.operation, "session": None}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).digest()


def _said(partner: Partner, asked: messages.Asked) -> dict[str, log.Json]:
    names = ("game", "round", "transaction", "currency")
    said: dict[str, log.Json] = {name: getattr(asked, name) for name in names}
    return said | {"partner": partner.code, "operation": asked.operation}
