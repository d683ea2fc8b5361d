"""Public pages about fair dealing: the explanation, and each shoe, verified in the reader's browser.

The page of a shoe shows the commitment and the root that were published before the first bet, and
the rounds dealt. While the shoe is in play, it shows only results: neither cards nor how many cards
were dealt (GLI-19 v3.0, 4.18.2), and nothing of the round in progress. The cards of rounds that are
over are in the proof, a file with which a browser or a program verifies each of them at once. After
its end the page shows everything including the seed.

Receipts of the player's rounds: one, all of them page by page, and the proof of a round in the log. The
page Game logs verifies them in the browser (``static/js/verification/all_rounds.js``). Each receipt is
a signature of the dealer, so they have the rate of clicks.
"""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from audit.raw_rows import fetch_all
from audit.tree import NotSealed
from audit.verification.verify import Unproven
from games.chemin.pages.messages import outcome_of
from games.chemin.pages.presentation import hand_views
from games.deals import trusted_keys
from games.engine import chemin
from games.engine.bets import Variant
from games.engine.cards import FULL_DECK, Card, CardError
from games.engine.chemin.record import RecordError, redeal_coup
from games.engine.commitments import Purpose
from games.engine.coup import Coup, Side, TooFewCards, deal
from games.engine.dealing import CUT_CARD
from games.engine.roads import Bead
from games.errors import DealerAway
from games.history import card_proofs
from games.history.card_proofs import file_of
from games.labels import announcement
from games.models import OPEN_PHASES, CheminCoup, LiveRound, Phase, Round, Shoe, ShoeEnding
from games.models.rounds import round_code
from games.rounds import receipts
from games.shared import moves
from games.shared.pages.scoreboard import Road, roads_of
from games.tables import clock
from games.tables.board import card_view, hand_view
from games.tables.presentation import CardView, HandView
from games.variants import GAMES
from players.access import PlayerRequest, made_by_the_page, player_required
from players.rates import at_a_human_pace
from wallet.models import Mode


@dataclass(frozen=True)
class ShoeRound:
    """A round of the shoe. Hands and stored cards are set only after the shoe has ended."""

    id: UUID
    number: int
    code: str
    at: datetime
    in_progress: bool
    is_void: bool
    is_proven: bool  # it is over and cards were dealt, so that they are in the proof of the shoe
    message: str  # who won; empty if there are no cards or they do not make a coup
    cards: str  # as stored, in dealing order
    first_card: int | None  # number of cards dealt from the shoe before it
    player: HandView | None
    banker: HandView | None


@dataclass(frozen=True)
class ShoeView:
    """A shoe as the public may see it."""

    id: UUID
    number: int
    table_name: str
    mode: Mode
    decks: int
    commitment: str
    root: str  # over the leaves of all cards, in hex
    entropy: str  # what went into the shuffle in addition to the seed
    chances: tuple[str, ...]  # what players have added, each as "digest value"
    purpose: Purpose
    table: int
    rules: str  # digest that the commitment names
    seed: str  # hex; empty while the shoe is in play, and where the dealer has lost it
    is_awaited: bool  # whether the dealer is still asked for the seed
    burn_card: CardView | None  # None if no cards are burned
    burned: int
    cut: int  # the cut card is in front of this card, counted from 0
    dealer: str  # public key of the signature, in hex
    signature: str  # of the dealer, in hex
    opened_at: datetime
    ended_at: datetime | None
    is_retired: bool
    is_chemin: bool  # Chemin de Fer: the cards depend on decisions, not only on the seed
    rounds: tuple[ShoeRound, ...]  # in the order in which they were played
    roads: tuple[Road, ...]  # of the settled rounds; none at Chemin de Fer
    before: UUID | None  # the shoe before it at the table
    after: UUID | None  # the shoe after it


def shoe_view(shoe_id: UUID, language: str) -> ShoeView | None:
    """Return the content of the page; None if there is no such shoe."""
    shoe = Shoe.objects.filter(pk=shoe_id).select_related("live_table__table").first()
    if shoe is None:
        return None
    table, has_ended = shoe.live_table.table, shoe.ended_at is not None
    game = GAMES[table.variant]
    live_rounds = LiveRound.objects.filter(shoe=shoe).order_by("number")
    if isinstance(game, Variant):
        rounds = tuple(_round(each, game, language, shows_cards=has_ended) for each in live_rounds)
        coups = [_coup(each.cards) for each in live_rounds if each.phase == Phase.SETTLED]
        roads = roads_of([Bead.of(coup) for coup in coups if coup], game, language)
    else:
        rounds, roads = tuple(_coups(live_rounds, shows_cards=has_ended)), ()
    near = Shoe.objects.filter(live_table=shoe.live_table_id, number__in=(shoe.number - 1, shoe.number + 1))
    neighbours = dict(near.values_list("number", "pk"))
    return ShoeView(
        id=shoe.pk,
        number=shoe.number,
        table_name=table.title,
        mode=Mode(shoe.live_table.mode),
        decks=shoe.decks,
        commitment=shoe.commitment,
        root=shoe.root,
        entropy=shoe.entropy,
        chances=tuple(moves.chances(shoe.pk)),
        purpose=Purpose.SHOE if isinstance(game, Variant) else Purpose.CHEMIN,
        table=table.pk,
        rules=shoe.rules_digest,
        seed=bytes(shoe.seed or b"").hex(),
        is_awaited=shoe.ended_at is not None and shoe.ended_at > clock.now() - Shoe.SEED_ASKED_FOR,
        burn_card=card_view(Card.parse(shoe.burn_card), order=0, third=False) if shoe.burn_card else None,
        burned=shoe.burned,
        cut=shoe.cut,
        dealer=shoe.dealer_key,
        signature=bytes(shoe.signature).hex(),
        opened_at=shoe.opened_at,
        ended_at=shoe.ended_at,
        is_retired=shoe.ending == ShoeEnding.RETIRED,
        is_chemin=not isinstance(game, Variant),
        rounds=rounds,
        roads=roads if any(each.message for each in rounds) else (),
        before=neighbours.get(shoe.number - 1),
        after=neighbours.get(shoe.number + 1),
    )


def _round(played: LiveRound, variant: Variant, language: str, *, shows_cards: bool) -> ShoeRound:
    in_progress = played.phase in OPEN_PHASES
    coup = None if in_progress else _coup(played.cards)
    shown = coup if shows_cards else None
    return ShoeRound(
        id=played.pk,
        number=played.number,
        code=played.code,
        at=played.opened_at,
        in_progress=in_progress,
        is_void=played.phase == Phase.VOID,
        is_proven=not in_progress and bool(played.cards),
        message=announcement(coup) if coup and played.phase == Phase.SETTLED else "",
        cards=played.cards if shows_cards and not in_progress else "",
        first_card=played.first_card if shows_cards and not in_progress else None,
        player=hand_view(shown, Side.PLAYER, variant, language) if shown else None,
        banker=hand_view(shown, Side.BANKER, variant, language) if shown else None,
    )


def _coup(cards: str) -> Coup | None:
    """Return the coup that the stored cards make; None if they make none."""
    try:
        return deal([Card.parse(code) for code in cards.split()])
    except (CardError, TooFewCards):
        return None


def _coups(live_rounds: Iterable[LiveRound], *, shows_cards: bool) -> Iterator[ShoeRound]:
    """Yield the coups of Chemin de Fer. A coup without a stake took no card and is left out."""
    played = list(live_rounds)
    stored = Round.objects.in_bulk([each.pk for each in played])  # the table of rounds has no index on the shoe
    coups = CheminCoup.objects.in_bulk([each.pk for each in played])
    for live_round in played:
        if live_round.phase in OPEN_PHASES or live_round.pk in stored:
            yield _chemin_round(live_round, stored.get(live_round.pk), coups.get(live_round.pk), shows_cards)


def _chemin_round(live_round: LiveRound, stored: Round | None, coup: CheminCoup | None, shows_cards: bool) -> ShoeRound:
    shown = stored if shows_cards else None
    punter, banker = _hands(shown, coup) if shown and coup else (None, None)
    return ShoeRound(
        id=live_round.pk,
        number=live_round.number,
        code=live_round.code,
        at=live_round.opened_at,
        in_progress=live_round.phase in OPEN_PHASES,
        is_void=live_round.phase == Phase.VOID,
        is_proven=live_round.phase not in OPEN_PHASES and bool(stored and stored.cards),
        message=_won(coup) if coup and live_round.phase == Phase.SETTLED else "",
        cards=shown.cards if shown else "",
        first_card=shown.first_card if shown else None,
        player=punter,
        banker=banker,
    )


def _won(coup: CheminCoup) -> str:
    return outcome_of(chemin.Outcome(coup.outcome), coup.punter_total or 0, coup.banker_total or 0)


def _hands(stored: Round, coup: CheminCoup) -> tuple[HandView, HandView] | tuple[None, None]:
    """Return both hands as played; two None if the stored cards make no coup."""
    try:
        cards = [Card.parse(code) for code in stored.cards.split()]
        dealt = redeal_coup(cards, punter_draws=coup.punter_draws, banker_draws=coup.banker_draws)
    except (CardError, RecordError):
        return None, None
    return hand_views(dealt, _("Punters"), _("The bank"))


COMMAND = "python3 verify_round.py SEED SEAL --id ID --table N --decks N --rules HEX --player-value TEXT"
SHOE_COMMAND = (
    "python3 verify_round.py {0.seed} {0.commitment} --purpose {0.purpose.value} --id {0.id} --table {0.table}"
    " --decks {0.decks} --rules {0.rules} --root {0.root}"
)
PROOF_COMMAND = "python3 verify_round.py --proof shoe-{0.id}.json --root {0.root}"
PURPOSES = (Purpose.SOLO, Purpose.DEMO, Purpose.SHOE)  # of rounds whose cards follow from the seed alone
LONGEST = 64  # characters of a seal, a seed, a digest of rules and a value


@require_safe
def fair(request: HttpRequest) -> HttpResponse:
    """Explain the shuffle and show a form to check a round.

    A link can fill in the form:
    `?commitment=…&seed=…&value=…&decks=…&first=…&purpose=…&round=…&table=…&rules=…`. A script in the
    browser does the check, because the reader should not have to trust the server.
    """
    texts = ("commitment", "seed", "value", "round", "table", "rules")
    asked = {name: request.GET.get(name, "")[:LONGEST] for name in texts}
    purpose = request.GET.get("purpose", "")
    asked["purpose"] = purpose if purpose in PURPOSES else Purpose.SOLO
    asked["decks"] = request.GET.get("decks", "1")[:2]
    asked["first"] = request.GET.get("first", "1")[:3]
    # The script fills in %(high)d and %(low)d, or %(total)d.
    sentences = {
        "player": _("Player wins with %(high)d over %(low)d."),
        "banker": _("Banker wins with %(high)d over %(low)d."),
        "tie": _("Tie, %(total)d all."),
    }
    cards = [card_view(card, order=place, third=False) for place, card in enumerate(FULL_DECK)]
    return render(
        request,
        "games/fair.html",
        asked
        | {"cards": cards, "sentences": sentences, "command": COMMAND, "cut": CUT_CARD, "dealer_keys": trusted_keys()},
    )


@require_safe
def shoe(request: HttpRequest, shoe_id: UUID) -> HttpResponse:
    """Show a shoe and its rounds to anyone. A script in the browser deals an ended shoe again."""
    found = shoe_view(shoe_id, get_language() or "en")
    if found is None:
        raise Http404
    command = (SHOE_COMMAND if found.seed else PROOF_COMMAND).format(found)
    if found.seed and found.entropy:
        command += f" --player-value {shlex.quote(found.entropy)}"
    keys = " ".join(trusted_keys())
    return render(request, "games/shoe.html", {"shoe": found, "command": command, "dealer_keys": keys})


@require_safe
def shoe_proof(request: HttpRequest, shoe_id: UUID) -> JsonResponse:
    """Return the proof of a shoe as a file, for anyone: a browser or a program verifies it."""
    answer = JsonResponse(_proof(shoe_id))
    answer["Content-Disposition"] = f'attachment; filename="shoe-{shoe_id}.json"'
    return answer


@require_safe
def shoe_checker(request: HttpRequest, shoe_id: UUID) -> HttpResponse:
    """Return the proof of a shoe as a page that verifies itself without a network, for anyone."""
    return card_proofs.saved(f"shoe-{shoe_id}", _proof(shoe_id))


@require_safe
def checker_page(request: HttpRequest) -> HttpResponse:
    """Return a page that verifies proofs without a network, for anyone."""
    return card_proofs.saved("verify", None)


def _proof(shoe_id: UUID) -> dict[str, Any]:
    """Return the proof of a shoe. Raises Http404."""
    found = Shoe.objects.select_related("live_table__table", "leaves").filter(pk=shoe_id).first()
    if found is None:
        raise Http404
    return file_of(found)


AT_ONCE: Final = 100
PROOF: Final = "text/plain; charset=utf-8"
PLAYED: Final = """
SELECT id, round_id FROM games_participation
WHERE player_id = %s AND id < %s ORDER BY id DESC LIMIT %s
"""
NEWEST: Final = 2**63 - 1


class PageForm(forms.Form):
    """Page of the player's rounds: those with lower ids than *before*."""

    before = forms.IntegerField(required=False, min_value=1, max_value=NEWEST)


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_human_pace
def round_receipts(request: PlayerRequest) -> HttpResponse:
    """Return receipts of the player's finished rounds of both kinds of money, newest first, and where to go on."""
    form = PageForm(request.GET)
    if not form.is_valid():
        return HttpResponse(status=HTTPStatus.BAD_REQUEST)
    rows = [
        tuple(row) for row in fetch_all(PLAYED, [request.player.pk, form.cleaned_data["before"] or NEWEST, AT_ONCE])
    ]
    try:
        found = receipts.receipts(request.player.pk, [round_id for _, round_id in rows])
    except DealerAway:
        return HttpResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
    older = rows[-1][0] if len(rows) == AT_ONCE else None
    return JsonResponse({"rounds": [each.as_json for each in found], "older": older})


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_human_pace
def round_receipt(request: PlayerRequest, round_id: UUID) -> HttpResponse:
    """Return the receipt of one of the player's rounds, also of bets in a round that goes on."""
    try:
        found = receipts.receipt(request.player.pk, round_id)
    except DealerAway:
        return HttpResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
    if found is None:
        raise Http404
    sealed = receipts.sealed_bets(request.player.pk, round_id)
    return JsonResponse({**found.as_json, "sealed": sealed.as_json if sealed else None})


@player_required
@require_safe
@never_cache
@at_a_human_pace
def round_log_proof(request: PlayerRequest, round_id: UUID) -> HttpResponse:
    """Send the proof that one of the player's rounds is in the public log, with its receipt."""
    try:
        found = receipts.proof(request.player.pk, round_id)
    except (NotSealed, Unproven) as error:
        raise Http404 from error
    except DealerAway:
        return HttpResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
    response = HttpResponse(found, content_type=PROOF)
    response["Content-Disposition"] = f'attachment; filename="round-{round_code(round_id)}.tlog-proof"'
    return response
