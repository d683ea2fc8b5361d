"""Puts together what a table page shows, in the reader's language, from the place, the limits and the last round."""

from collections.abc import Mapping, Sequence
from uuid import UUID, uuid4

from django.db.models import prefetch_related_objects

from games import places
from games.controls import bets_stand, plays_on
from games.engine.bets import Variant
from games.engine.cards import Card
from games.engine.coup import Coup, Outcome, Side, deal
from games.errors import TableClosed
from games.labels import announcement, bet_name, card_name
from games.limits import Limits
from games.lower import lower_bet
from games.models import NextRound, Participation, Round, Table, TableVersion, Void, Wager
from games.presentation import CardView, ChipView, GameView, HandView, Notice, PurseView, QuickView, RoundView, SpotView
from games.rows import columns, fetch_one, instance
from games.sentences import closed
from games.variants import VARIANTS
from wallet import accounts
from wallet.models import AccountKind, Mode

MINOR = 100
THOUSAND = 1000
FIRST_FOUR = 4
QUICK = slice(3, 6)  # the chips that Re-buy offers as amounts

PARTICIPATION = f"""
SELECT {columns(Participation, "part")}, {columns(Round, "round")}, {columns(TableVersion, "version")},
    {columns(Table, "seat")}, {columns(Void, "void")}
FROM games_participation AS part
JOIN games_round AS round ON round.id = part.round_id
JOIN games_tableversion AS version ON version.id = round.table_version_id
JOIN games_table AS seat ON seat.id = version.table_id
LEFT JOIN games_void AS void ON void.round_id = round.id
WHERE part.round_id = %s AND part.player_id = %s
"""  # noqa: S608  (nothing but names of our own columns)


def game_view(
    place: NextRound,
    *,
    language: str,
    notice: Notice | None = None,
    shown: UUID | None = None,
    fresh: bool = False,
) -> GameView:
    """Return everything inside ``#game`` at this place.

    *shown* is the round whose cards lie on the table (by default the last one played here); *fresh* says that the
    reader has not seen it.
    """
    variant, mode, player = VARIANTS[place.table.variant], Mode(place.mode), place.player
    limits, takes_bets = table_limits(place), places.takes_bets(place)
    on_stage = shown or place.last_round
    part = participation(on_stage, player.pk) if on_stage else None
    if part and hasattr(part.round, "void"):
        part = None  # a void round has no result to look at
    stand = bets_stand(variant)
    settled = part is not None and place.slip_version == 0 and (not stand or on_stage == place.last_round)
    wagers = {wager.bet: wager for wager in part.wagers.all()} if part and settled else {}
    stakes: Mapping[str, int] = place.slip or {bet: wager.stake for bet, wager in wagers.items()}
    funds = accounts.balance(player.pk, mode, plays_on(variant))
    chosen = place.last_chip if place.last_chip in limits.chips else limits.chips[0]
    return GameView(
        currency=player.currency,
        mode="R" if mode is Mode.REAL else "F",
        spots=spots(variant, limits, stakes, wagers, language),
        tray=tuple(chip_view(chip, limits.chips, chosen=chip == chosen) for chip in limits.chips),
        bet_total=sum(stakes.values()),
        balance=funds if stand else funds - sum(place.slip.values()),
        win=part.paid if part and wagers else 0,
        round=round_view(part, language=language, fresh=fresh) if part else None,
        notice=notice or (None if takes_bets else closed()),
        next_round_id=place.round_id,
        slip_version=place.slip_version,
        table_version=place.table.version.number if place.table.version else 0,
        commitment=place.commitment,
        is_open=takes_bets,
        player_value=place.player_value,
        can_deal=takes_bets and bool(place.slip),
        can_double=takes_bets and bool(place.slip),
        can_clear=bool(place.slip),
        can_undo=bool(place.undo),
        can_rebet=takes_bets and bool(place.last_stakes),
        settled=settled,
        is_last_bet=settled and not stand,
        controls=frozenset(control.value for control in variant.controls),
        limits=limit_lines(variant, limits, language),
        purse=purse_view(place, limits, funds) if plays_on(variant) is AccountKind.PURSE else None,
    )


def purse_view(place: NextRound, limits: Limits, funds: int) -> PurseView:
    """Return what stands beside the balance of a game that has one of its own."""
    return PurseView(
        account=accounts.balance(place.player_id, Mode(place.mode)),
        quick=tuple(QuickView(chip, chip // MINOR) for chip in limits.chips[QUICK]),
        key=uuid4(),
        leave_key=uuid4(),
        is_short=sum(place.slip.values()) > funds,
        is_empty=funds < limits.lowest,
        lower_total=sum(lower_bet(place.slip, limits, funds).values()),
    )


def limit_lines(variant: Variant, limits: Limits, language: str) -> tuple[tuple[str, int, int], ...]:
    """Return minimum and maximum once for all bets that share them, in table order."""
    names: dict[tuple[int, int], list[str]] = {}
    for bet in variant.bets:
        allowed = limits.bets[bet.code]
        names.setdefault((allowed.minimum, allowed.maximum), []).append(bet_name(variant, bet.code, language))
    return tuple((", ".join(bets), minimum, maximum) for (minimum, maximum), bets in names.items())


def table_limits(place: NextRound) -> Limits:
    """Return the limits in force at a place, in its player's currency. Raises TableClosed where the table never was
    put live.
    """
    if place.table.version is None:
        raise TableClosed
    return Limits.of(place.table.version.limits, place.player.currency)


def participation(round_id: UUID, player_id: int) -> Participation | None:
    """Return a player's part in a round with everything that is shown of it, or None if it is not theirs."""
    row = fetch_one(PARTICIPATION, [round_id, player_id])
    if row is None:
        return None
    part, played = instance(Participation, row), instance(Round, row)
    version, table, void = instance(TableVersion, row), instance(Table, row), instance(Void, row)
    part.round, played.table_version, version.table = played, version, table
    Round._meta.get_field("void").set_cached_value(played, void if void.pk else None)
    prefetch_related_objects([part], "wagers")
    return part


def spots(
    variant: Variant, limits: Limits, stakes: Mapping[str, int], wagers: Mapping[str, Wager], language: str
) -> tuple[SpotView, ...]:
    """Return the bet areas in table order with what lies on each, or what became of it."""
    return tuple(
        SpotView(
            code=bet.code,
            name=bet_name(variant, bet.code, language),
            pays=bet.pays_text,
            stake=stakes.get(bet.code, 0),
            chips=stack(stakes.get(bet.code, 0), limits.chips),
            result=wagers[bet.code].result if bet.code in wagers else "",
            payout=wagers[bet.code].payout if bet.code in wagers else 0,
            minimum=limits.bets[bet.code].minimum,
            maximum=limits.bets[bet.code].maximum,
        )
        for bet in variant.bets
    )


def round_view(part: Participation, *, language: str, fresh: bool) -> RoundView:
    """Return a stored round as its cards tell it."""
    coup = deal([Card.parse(code) for code in part.round.cards.split()])
    return RoundView(
        id=part.round_id,
        code=part.round.code,
        player=hand_view(coup, Side.PLAYER, part, language),
        banker=hand_view(coup, Side.BANKER, part, language),
        outcome=coup.outcome.value,
        announcement=announcement(coup),
        natural=coup.natural,
        steps=len(coup.cards),
        staked=part.staked,
        paid=part.paid,
        balance_before=part.balance_before,
        balance_after=part.balance_after,
        fresh=fresh,
    )


def hand_view(coup: Coup, side: Side, part: Participation, language: str) -> HandView:
    """Return one side's cards, each with its place in the dealing order."""
    hand = coup.hand(side)
    first = 1 if side is Side.PLAYER else 2
    orders = [first, first + 2, FIRST_FOUR + 1 if side is Side.PLAYER else len(coup.cards)]
    variant = VARIANTS[part.round.table_version.table.variant]
    return HandView(
        side=side.value,
        name=bet_name(variant, side.value, language),
        cards=tuple(
            card_view(card, order, third=index == 2)
            for index, (card, order) in enumerate(zip(hand, orders, strict=False))
        ),
        score=coup.score(side),
        total=coup.player_total if side is Side.PLAYER else coup.banker_total,
        wins=coup.outcome is Outcome(side.value),
    )


def card_view(card: Card, order: int, *, third: bool) -> CardView:
    """Return a card for the page."""
    return CardView(
        rank="10" if card.rank.letter == "T" else card.rank.letter,
        suit=card.suit.name.lower(),
        symbol=card.suit.symbol,
        code=card.code,
        name=card_name(card),
        order=order,
        third=third,
    )


def chip_view(value: int, tray: Sequence[int], *, chosen: bool = False) -> ChipView:
    """Return a chip as it lies in the tray or on a bet."""
    units = value // MINOR
    return ChipView(
        value=value,
        text=f"{units // THOUSAND}k" if units >= THOUSAND and units % THOUSAND == 0 else str(units),
        tone=tray.index(value) + 1,
        chosen=chosen,
    )


def stack(amount: int, tray: Sequence[int]) -> tuple[ChipView, ...]:
    """Return the fewest chips that come to *amount*, largest first."""
    chips: list[ChipView] = []
    for value in sorted(tray, reverse=True):
        count, amount = divmod(amount, value)
        chips += [chip_view(value, tray)] * count
    return tuple(chips)
