"""Proofs of rounds, as files that a browser or a program verifies without a network, and the page that does so.

The proof of a solo round has its seed and the dealer's signature. That of a round from a shoe has its
cards: with its salt and a path, each leads to the root that the shoe is committed to. So it can be
verified as soon as it is over, while the shoe is in play. The cards of a round in progress are in no
proof.

The page is one file to save: its modules, style and proof are in it. The modules are those with which the pages of the
house verify. The file is only ever downloaded: the policy of its response lets nothing run at our address, and the
policy inside it lets nothing run but its own script, and nothing be loaded or sent.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.contrib.staticfiles import finders
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from games.deals import shoe_binding
from games.engine import card_tree
from games.engine.commitments import Binding, Purpose
from games.models import OPEN_PHASES, DealerEpoch, DealtCards, LiveRound, Participation, Shoe, ShoeBeacon
from games.rounds.dealt import read_settled
from games.shared import moves

Json = dict[str, Any]


@dataclass(frozen=True)
class SaltedCard:
    """A card that has left a shoe, with its salt in hex. *place* counts from 0 in dealing order."""

    place: int
    card: str  # "9H"
    salt: str


@dataclass(frozen=True)
class ProvenCard(SaltedCard):
    """A card with the path to the root of its shoe: hashes in hex, the nearest first."""

    path: tuple[str, ...]


def proven(shoe: Shoe, round_id: UUID) -> tuple[ProvenCard, ...]:
    """Return the cards of a round that is over. At Chemin de Fer some are face down until then."""
    found = [card for dealt in DealtCards.of(shoe) if dealt.round_id == round_id for card in _salted(dealt)]
    leaves = card_tree.stored(bytes(shoe.leaves.leaves)) if found else ()
    return tuple(
        ProvenCard(each.place, each.card, each.salt, tuple(node.hex() for node in card_tree.path(leaves, each.place)))
        for each in found
        if each.place < len(leaves)
    )


def file_of(shoe: Shoe) -> Json:
    """Return the proof of a shoe as a file: what it is committed to, all leaves, and the rounds that are over.

    `tools/verify_round.py --proof` reads it.
    """
    played = LiveRound.objects.filter(shoe=shoe).exclude(phase__in=OPEN_PHASES).order_by("number")
    cards: dict[UUID, list[Json]] = {}
    for dealt in DealtCards.of(shoe):
        cards.setdefault(dealt.round_id, []).extend(vars(card) for card in _salted(dealt))
    return _shoe(shoe) | {
        "leaves": [leaf.hex() for leaf in card_tree.stored(bytes(shoe.leaves.leaves))],
        "rounds": [
            {"id": str(each.pk), "code": each.code, "number": each.number, "cards": cards[each.pk]}
            for each in played
            if each.pk in cards
        ],
    }


def file_of_round(part: Participation, decks: int) -> Json | None:
    """Return the proof of a finished round as a file; None if it has no cards that can be proven.

    A solo round: its seed, the stakes and the dealer's signature. A round from a shoe: its cards with their paths,
    and what the dealer signed of the shoe. Of the signature of its cards the file has nothing: the dealer signs them
    with a digest of everybody's stakes, from which others' bets could be guessed.
    """
    played = part.round
    if played.shoe is None:
        return _solo(part, decks)
    found = [vars(card) for card in proven(played.shoe, played.pk)]
    if not found:
        return None
    number = LiveRound.objects.values_list("number", flat=True).get(pk=played.pk)
    round_ = {"id": str(played.pk), "code": played.code, "number": number, "cards": found}
    return _shoe(played.shoe) | {"rounds": [round_]}


def _solo(part: Participation, decks: int) -> Json | None:
    """Return the proof of a solo round, from its event; None where the log has none."""
    played, settled = part.round, read_settled(part.round_id)
    if settled is None or played.seed is None:
        return None
    epoch = DealerEpoch.objects.filter(pk=settled["dealer"]["epoch"]).first()
    return _named(Binding(Purpose.SOLO, str(played.pk), settled["table"], decks, settled["rules"])) | {
        "code": played.code,
        "commitment": played.commitment,
        "seed": bytes(played.seed).hex(),
        "player_value": played.player_value,
        "cards": played.cards,
        "outcome": played.outcome,
        "stakes": {wager.bet: wager.stake for wager in part.wagers.all()},
        "dealer": epoch.key if epoch else "",
        **settled["dealer"],  # epoch, number of the deal, signature
    }


def _named(binding: Binding) -> Json:
    return {
        "purpose": binding.purpose.value,
        "id": binding.id,
        "table": binding.table,
        "decks": binding.decks,
        "rules": binding.rules,
    }


def _shoe(shoe: Shoe) -> Json:
    """Return what a shoe is committed to, and its seed where that is public."""
    return _named(shoe_binding(shoe)) | {
        "commitment": shoe.commitment,
        "entropy": shoe.entropy,
        "chances": moves.chances(shoe.pk),
        "beacon": _beacon_of(shoe),
        "root": shoe.root,
        "burn": vars(SaltedCard(0, shoe.burn_card, bytes(shoe.burn_salt).hex())) if shoe.burn_card else None,
        "burned": shoe.burned,
        "cut": shoe.cut,
        "dealer": shoe.dealer_key,
        "signature": bytes(shoe.signature).hex(),
        "seed": None if shoe.seed is None else bytes(shoe.seed).hex(),
    }


def _beacon_of(shoe: Shoe) -> Json | None:
    """Return the round of a beacon that was chosen for a shoe; its signature is empty if it did not come in time."""
    found = ShoeBeacon.objects.filter(shoe_id=shoe.pk).first()
    return {"chain": found.chain, "round": found.round, "signature": found.signature} if found else None


def _salted(dealt: DealtCards) -> Iterator[SaltedCard]:
    salts, size = bytes(dealt.salts), card_tree.SALT_BYTES
    for number, code in enumerate(dealt.cards.split()):
        yield SaltedCard(dealt.first_card + number, code, salts[number * size : (number + 1) * size].hex())


MODULES: Final = "js/verification"
IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT: Final = re.compile(r"^export (?=(?:const|async function|function) (\w+))", re.MULTILINE)
DOWNLOADED: Final = "default-src 'none'; frame-ancestors 'none'; sandbox"


def saved(name: str, proof: dict[str, Any] | None) -> HttpResponse:
    """Return the page as a download, in the reader's language, with a proof or without one."""
    script, style = bundle("checker"), _read("css/tokens.css") + _read("css/checker.css")
    policy = f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}"
    inside = "" if proof is None else json.dumps(proof).replace("<", "\\u003c")
    parts = {
        "policy": policy,
        "style": f"<style>{style}</style>",
        "proof": f'<script type="application/json" id="proof">{inside}</script>',
        "script": f"<script>{script}</script>",
    }
    safe = {each: mark_safe(text) for each, text in parts.items()}  # noqa: S308  (our own files, and JSON without "<")
    response = HttpResponse(render_to_string("games/checker.html", safe))
    response["Content-Disposition"] = f'attachment; filename="{name}.html"'
    response["Content-Security-Policy"] = DOWNLOADED
    return response


@cache
def bundle(entry: str) -> str:
    """Return a module of ours and all that it imports as one script, without changing what they say.

    Each module becomes a function that returns its exports.
    """
    return '"use strict";\n' + "".join(_bundled(entry, set()))


def _bundled(name: str, done: set[str]) -> Iterator[str]:
    """Yield a module after those that it imports, each once."""
    if name in done:
        return
    done.add(name)
    source = _read(f"{MODULES}/{name}.js")
    for _names, module in IMPORT.findall(source):
        yield from _bundled(module, done)
    exports = EXPORT.findall(source)
    body = EXPORT.sub("", IMPORT.sub(r"const {\1} = \2;\n", source))
    yield f"const {name} = (() => {{\n{body}return {{ {', '.join(exports)} }};\n}})();\n"


@cache
def _read(path: str) -> str:
    return Path(str(finders.find(path))).read_text(encoding="utf-8")


def _source(text: str) -> str:
    """Return what allows this text in a policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
