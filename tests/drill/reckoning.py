"""Checks of the final state of a drill.

`verify_house` checks the ledger. Here the state is compared with the play: every stake has one
outcome, no round whose cards were drawn is void, every round is what its seed deals, and its bets
are paid as the engine settles them.
"""

from collections.abc import Generator, Iterator
from uuid import UUID

from django.db import connection

from audit.sealing import sealer
from audit.verification import house
from games.engine.cards import Card
from games.engine.chemin import record
from games.engine.chemin.state import Chips
from games.engine.chemin.steps.play import reckon
from games.engine.coup import Coup, TooFewCards
from games.engine.dealing import coup_at
from games.engine.settle import settle
from games.engine.shoe import shuffle
from games.models import CheminCoup, Incident, LiveRound, Participation, Round, Shape, Shoe
from games.rounds.integrity import Doubt
from games.shared import shoes
from games.variants import VARIANTS
from tests.concurrency.books import disagreements
from wallet.invariants import verify

# A stake leads to the settlement of its round, or is returned: never both, never neither, nothing twice. Each selects
# a sentence for each violation.
FAULTS = """
SELECT format('round %s: %s stakes, settled %s times, reversed %s times', round_id, stakes, settled, reversed)
FROM (SELECT j.round_id,
             count(*) FILTER (WHERE j.kind IN ('stake', 'held_stake') AND j.reverses_id IS NULL) AS stakes,
             count(*) FILTER (WHERE j.kind = 'settle' AND j.reverses_id IS NULL) AS settled,
             count(*) FILTER (WHERE j.reverses_id IS NOT NULL) AS reversed
      FROM wallet_journal AS j WHERE j.round_id IS NOT NULL GROUP BY j.round_id) AS counted
WHERE (stakes > 0 OR settled > 0) AND NOT (
    stakes > 0 AND settled = 1 AND reversed = 0 OR stakes > 0 AND settled = 0 AND reversed = stakes)
UNION ALL
SELECT format('round %s: void, with the cards %s', id, cards) FROM (
    SELECT r.id, r.cards FROM games_void AS v JOIN games_round AS r ON r.id = v.round_id
    UNION SELECT id, cards FROM games_liveround WHERE phase = 'void') AS voided
WHERE cards <> ''
UNION ALL
SELECT format('round %s: player %s staked %s and was paid %s, their accounts say %s',
              p.round_id, p.player_id, p.staked, p.paid, coalesce(moved.amount, 0))
FROM games_participation AS p
LEFT JOIN LATERAL (
    SELECT sum(e.amount) AS amount FROM wallet_journal AS j
    JOIN wallet_entry AS e ON e.journal_id = j.id JOIN wallet_account AS a ON a.id = e.account_id
    WHERE j.round_id = p.round_id AND a.owner_id = p.player_id AND a.kind <> 'stakes') AS moved ON true
WHERE p.paid - p.staked <> coalesce(moved.amount, 0)
UNION ALL
SELECT format('round %s: the bets of player %s are %s and were paid %s, not %s and %s',
              p.round_id, p.player_id, bets.stake, bets.payout, p.staked, p.paid)
FROM games_participation AS p
LEFT JOIN LATERAL (
    SELECT coalesce(sum(stake), 0) AS stake, coalesce(sum(payout), 0) AS payout FROM games_wager AS w
    WHERE w.participation_id = p.id) AS bets ON true
WHERE (bets.stake, bets.payout) <> (p.staked, p.paid)
UNION ALL
SELECT format('account %s: %s %s, %s held', id, balance, kind, held) FROM wallet_account
WHERE kind IN ('stakes', 'bank') AND balance <> 0 OR held <> 0
UNION ALL
SELECT format('escrow: %s %s %s is left', sum(e.amount), e.currency, e.mode)
FROM wallet_entry AS e JOIN wallet_account AS a ON a.id = e.account_id AND a.kind = 'escrow'
GROUP BY e.currency, e.mode HAVING sum(e.amount) <> 0
"""


def faults() -> Iterator[str]:
    """Yield the faults of a house without open stakes. There must be none."""
    with connection.cursor() as cursor:
        cursor.execute(FAULTS)
        yield from (message for (message,) in cursor.fetchall())
    yield from disagreements()
    yield from (f"incident at {each.table.slug}: {each.cause}" for each in Incident.objects.select_related("table"))
    yield from _not_as_dealt()
    yield from _not_as_dealt_to_players()
    sealer.seal()
    # A deal that is missing is that of a process that was killed at that moment.
    found = house.run(is_whole=True, parts=["rounds", "log", "reports"])
    yield from (f"verify_house: {each.text}" for each in found if not each.text.endswith("dealt but not stored."))
    yield from (f"verify_house: {check.invariant.name}: {row}" for check in verify.run() for row in check.rows)


def _not_as_dealt() -> Iterator[str]:
    """Deal every round again from its seed, or from the cards that its shoe committed to, and settle it."""
    for shoe in Shoe.objects.filter(live_table__table__shape=Shape.SHARED):
        cards, gone = (yield from _cards_of(shoe)), shoe.burned
        for live_round in LiveRound.objects.filter(shoe=shoe).exclude(cards="").order_by("number"):
            try:
                coup = coup_at(cards, gone)
            except TooFewCards as error:
                yield f"round {live_round.pk}: {error}"
                break
            yield from _not_so(live_round.pk, live_round.cards, coup)
            gone += len(coup.cards)
    alone = Round.objects.exclude(seed=None).select_related("table_version__table")
    for played in alone:
        decks = VARIANTS[played.table_version.table.variant].decks
        coup = coup_at(shuffle(bytes(played.seed or b""), decks, played.player_value), 0)
        yield from _not_so(played.pk, played.cards, coup)


def _cards_of(shoe: Shoe) -> Generator[str, None, tuple[Card, ...]]:
    """Return the cards of a shoe, or those that have left it while its seed is not public."""
    try:
        return shoes.cards_of(shoe)
    except Doubt as doubt:
        yield f"shoe {shoe.pk}: {doubt}"
        return ()


def _not_as_dealt_to_players() -> Iterator[str]:
    """Deal every Chemin de Fer coup again, one after the other from the first card of its shoe, with what was declared
    in it, and settle it.
    """
    for shoe in Shoe.objects.filter(live_table__table__shape=Shape.CHEMIN):
        cards, gone = (yield from _cards_of(shoe)), 0
        for played in Round.objects.filter(shoe=shoe).exclude(cards="").order_by("first_card"):
            coup = CheminCoup.objects.get(pk=played.pk)
            declared = {"punter_draws": coup.punter_draws, "banker_draws": coup.banker_draws}
            try:
                dealt = record.redeal_coup(cards[gone:], **declared)
            except record.RecordError as error:
                yield f"coup {coup.pk}: {error}"
                break
            yield from _not_so_between_players(played, coup, dealt)
            gone += len(dealt.cards)


def _not_so_between_players(played: Round, coup: CheminCoup, dealt: record.Dealt) -> Iterator[str]:
    if played.cards != shoes.written(dealt.cards):
        yield f"coup {coup.pk}: {played.cards} is not what its seed deals"
    if coup.outcome != dealt.outcome:
        yield f"coup {coup.pk}: {coup.outcome or 'voided'}, and the cards say {dealt.outcome}"
    stakes = {each.seat_id: (each.stake, each.returned) for each in coup.stakes.all()}
    reckoning = reckon(dealt.outcome, [Chips(seat, stake) for seat, (stake, _) in stakes.items()])
    comes_to = {each.seat: (each.stake, each.returned) for each in reckoning.stakes}
    if (coup.tax, stakes) != (reckoning.tax, comes_to):
        yield f"coup {coup.pk}: {stakes} and {coup.tax} of tax, its cards come to {comes_to} and {reckoning.tax}"


def _not_so(round_id: UUID, cards: str, coup: Coup) -> Iterator[str]:
    """Compare a round with the coup that its seed deals: the cards, and the payouts of the bets."""
    if cards != shoes.written(coup.cards):
        yield f"round {round_id}: {cards} is not what its seed deals"
    parts = Participation.objects.filter(round=round_id).select_related("round__table_version__table")
    for part in parts:
        variant = VARIANTS[part.round.table_version.table.variant]
        paid = settle(variant, coup, dict(part.wagers.values_list("bet", "stake"))).paid
        if paid != part.paid:
            yield f"round {round_id}: paid {part.paid} to player {part.player_id}, its bets come to {paid}"
