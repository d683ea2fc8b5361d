"""Findings of a verification or a replay are stored in English and read by staff in their own language: each sentence
that the database or a module may write has a text in every language.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone
from django.utils.translation import override

from audit.models import Category, Significant, Weight
from audit.significant import detection
from audit.staff_text import Written, recognised
from tests.harness.product import PROJECT
from tests.people import a_member_of_staff, a_visitor

LANGUAGES = [code for code, _name in settings.LANGUAGES if code != "en"]
SQL = sorted(
    {
        path
        for pattern in (
            "*log_verification.sql",
            "*verification.sql",
            "significant.sql",
            "approvals.sql",
            "exchange_rates.sql",
        )
        for path in PROJECT.glob(f"*/sql/functions/{pattern}")
    }
)
INVARIANTS = [*sorted((PROJECT / "wallet" / "invariants").glob("*.py")), PROJECT / "games" / "registration.py"]
MODULES = [
    *(PROJECT / "audit" / "verification" / f"{name}.py" for name in ("checking", "house_log", "verify_events")),
    PROJECT / "audit" / "reports" / "verification.py",
    *(PROJECT / "games" / "verification" / f"{name}.py" for name in ("deals", "house", "service")),
    *(PROJECT / "games" / "verification" / f"{name}_comparison.py" for name in ("chemin", "punto")),
    *(PROJECT / "games" / "rounds" / f"{name}.py" for name in ("redeal", "stored")),
    *(PROJECT / "games" / "chemin" / f"{name}.py" for name in ("apply", "coups/redeal", "coups/progress")),
]
FORMAT = re.compile(r"format\(\s*'((?:[^']|'')*)'")
VERIFIED = re.compile(r"SELECT '((?:[a-z]+ ){2,}[a-z]+)',")
WHAT_IS_FOUND = {"Finding", "Unsigned", "Uncovered", "Fact", "Step", "fact"}
NO_FINDINGS = {"guards.py"}  # lines of wallet/guards.txt, which name objects of the database
NAME = re.compile(r"[a-z-]+:[0-9]+(?::[0-9]+)?|[a-z]+_[a-z]+")  # of a row: player:12
WORD = re.compile(r"[a-z]{3,}")
# Words that are facts of a sentence -> as they are filled in.
WORDS = {" the %s player:": (" the duplicate of player:", " the finding about player:")}


def test_a_difference_is_read_with_its_facts_in_the_language_of_the_reader():
    said = (
        "player:12: change 3 of a limit: amount: the stored value is nothing; event 77 (limits.changed, leaf 31) says"
        " 100."
    )
    assert recognised(said) == said
    with override("de"):
        assert recognised(said) == (
            "player:12: Änderung 3 eines Limits: Betrag: gespeichert ist nichts; Ereignis 77 (limits.changed, Blatt 31)"
            " sagt 100."
        )
    with override("sv"):
        assert recognised("player:7, tie: paid back") == "player:7, oavgjort: utbetalt"
        # Evidence stays as it was written.
        assert recognised('case:4: the stored value is {"reason": "nothing: paid"}; its history says {}.') == (
            'case:4: lagrat värde är {"reason": "nothing: paid"}; dess historik anger {}.'
        )
        assert recognised("Anna: 12") == "Anna: 12"


def test_what_a_player_or_staff_wrote_is_never_read_as_a_finding():
    with override("sv"):
        assert recognised("tie") == "oavgjort"
        assert recognised(Written("tie")) == "tie"
        # In evidence only what is no text has a word.
        said = "player:12: player’s value: the stored value is {}; event 7 (leaf 3) says {}.".replace("’", "'")
        read = recognised(said.format("tie", "nothing"))
        assert read.endswith("lagrat värde är tie; händelse 7 (löv 3) anger ingenting.")


@pytest.mark.parametrize(
    "hostile", [", " * 5000, "." * 5000, "x" + " paid" * 5000, "a: " * 5000, "seat 1, then " * 5000]
)
def test_a_text_of_any_shape_is_read_to_its_end(hostile: str):
    with override("de"):
        assert len(recognised(hostile)) >= len(hostile) // 2


@pytest.mark.django_db
def test_evidence_of_a_significant_event_is_shown_as_it_was_written():
    written = "Won twice, then left. Not paid"
    rows = [{"What": "reason", "Value": written}]
    detection.keep(
        detection.Found("a", Category.ERROR, Weight.NOTICE, "ledger", "A", happened_at=timezone.now(), rows=rows)
    )
    reader = a_visitor()
    reader.force_login(a_member_of_staff("compliance").user)
    reader.cookies[settings.LANGUAGE_COOKIE_NAME] = "sv"
    page = reader.get(f"/staff/significant/{Significant.objects.get().pk}/").text
    assert '<html lang="sv"' in page
    assert written in page


@pytest.mark.parametrize("path", [*SQL, *INVARIANTS, *MODULES], ids=lambda path: str(path.relative_to(PROJECT)))
def test_every_sentence_has_a_text_in_every_language(path: Path):
    sentences = set(_of_module(path) if path in MODULES else _of_statements(path))
    untranslated = {}
    for sentence in sentences:
        same = _words(sentence)
        for language in LANGUAGES:
            with override(language):
                same &= _words(recognised(sentence))
        if same:
            untranslated[sentence] = same
    assert untranslated == {}


def _words(text: str) -> set[str]:
    return set(WORD.findall(NAME.sub("", text)))


def _of_statements(path: Path) -> Iterator[str]:
    """Yield the sentences that the statements of a file format, with numbers as facts."""
    if path.name in NO_FINDINGS:
        return
    text = path.read_text()
    for found in FORMAT.finditer(text):
        sentence = found[1].replace("''", "'")
        if " " in sentence and not sentence.startswith("{"):
            filled = [sentence.replace(gap, each) for gap, by in WORDS.items() if gap in sentence for each in by]
            yield from (_with_facts(re.split("%s", each)) for each in filled or [sentence])
    yield from (found[1] for found in VERIFIED.finditer(text))


def _of_module(path: Path) -> Iterator[str]:
    """Yield the sentences that a module gives to what it finds or yields as texts, with numbers as facts."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WHAT_IS_FOUND:
            for argument in node.args:
                yield from _texts(argument)
        elif isinstance(node, ast.Yield) and node.value is not None and path.name == "deals.py":
            yield from _texts(node.value)


def _texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str() as text) if " " in text:
            yield text
        case ast.JoinedStr(values=values):
            pieces = [""]
            for value in values:
                if isinstance(value, ast.Constant):
                    pieces[-1] += str(value.value)
                else:
                    pieces.append("")
            yield _with_facts(pieces)


def _with_facts(pieces: list[str]) -> str:
    return "".join(f"{piece}{number}" for number, piece in enumerate(pieces, 1))[: -len(str(len(pieces)))]
