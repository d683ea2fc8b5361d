"""Names follow the glossary: forbidden words, each with the term to use.

Add a new concept's name to the list. `MODULES` is held against parts of module names, `WORDS`
against the words of functions, classes, tests and CSS classes of the whole tree, of the fields and
attributes that classes of the product declare, of all parameters and variables in Python, and of
every name in SQL.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from symtable import SymbolTable, symtable
from typing import Final

import pytest

from tests.harness.product import PROJECT, modules

MODULES: Final = {
    "again": "rescan, verification",
    "beside": "multi_table, panels",
    "deeds": "actions",
    "doubts": "exceptions, integrity",
    "fence": "access",
    "finding": "search, detection",
    "finds": "search",
    "given_back": "refund_summary",
    "going_on": "availability",
    "guests": "demo (visitors), players (Chemin de Fer)",
    "looked_at": "access_log",
    "looking": "access_log",
    "looks": "access_log",
    "marks": "idempotency",
    "meanwhile": "unseen",
    "moments": "datetime_format",
    "moved": "hourly_totals",
    "news": "notify",
    "places": "seats, paths",
    "programs": "api tokens, api clients",
    "recall": "verification, redeal",
    "recalling": "verification",
    "remote": "operator_wallet",
    "sameness": "normalise",
    "seen": "queries",
    "sentences": "error_messages",
    "serving": "eligibility",
    "sieve": "filters",
    "sittings": "play_sessions",
    "so_far": "round_status",
    "standing": "table_state",
    "still": "sample_hand",
    "stops": "house_stop",
    "tallies": "hourly_totals",
    "told": "event_codec, event_reader",
    "watches": "aml",
    "words": "messages, labels",
}
WORDS: Final = {
    "annul": "void",
    "annulled": "void",
    "anew": "again",
    "beside": "next to, with, multi_table",
    "besides": "other than",
    "chair": "seat",
    "deed": "action",
    "deeds": "action",
    "doubts": "exceptions, faults",
    "entrance": "eligibility",
    "examination": "verification",
    "given_back": "returned",
    "guest": "visitor (no account), player (Chemin de Fer)",
    "guests": "visitors (no account), players (Chemin de Fer)",
    "lies": "is, bets, stakes",
    "looked": "viewed, checked, access",
    "looking": "viewing, checking",
    "looks": "access_log, checks",
    "mark": "idempotency key, cursor, sign",
    "meanwhile": "in_the_meantime, or name the time",
    "moved": "hourly_totals, returned",
    "news": "notification",
    "place": "seat (Chemin de Fer), solo seat, position",
    "places": "seats, positions",
    "recall": "verification",
    "recalled": "verified",
    "recalling": "verifying",
    "sieve": "filter",
    "sitting": "play session",
    "sittings": "play sessions",
    "standing": "state, snapshot",
    "stands": "is, state",
    "tallies": "hourly totals, counts",
    "tally": "hourly total, count",
    "told": "informed, reported, shown, sent",
    "whoever": "anyone who, the player who",
    "whom": "say who does what",
}
NAMES: Final = {
    ".css": re.compile(r"\.(-?[a-z_][\w-]*)"),
    ".js": re.compile(r"\b(?:function\*?|class) (\w+)"),
    ".sql": re.compile(r"\b([a-z_]\w*)"),
}
COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
PROSE_IN_SQL: Final = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
# The same words as plain English: phrases that are left out of a name before its words are read.
LITERAL: Final = re.compile(
    r"byte_order_mark|sitting_down|in_(?:one|its)_place(?:_|$)|in_place|takes_the_place"
    r"|stands_(?:on|from)|punter_who_stands|_stand_and_stands"  # a hand that takes no third card
    r"|(?:is|are|was|that|have|has|money|nothing|more_could_be|things_have|be)_moved|moved_(?:on|no|past)"  # money
    r"|places?_(?:no|bets?|the|every|nothing|favourite|one)(?:_|$)|(?:may|would|to|rebet|tray)_places?(?:_|$)|^(?:audit_tile_)?place(?:_on)?$"
)


def test_no_module_has_a_name_that_means_several_things():
    found = {name: MODULES[part] for name, _ in modules() for part in name.split(".")[1:] if part in MODULES}
    assert found == {}


def test_no_function_class_or_css_class_has_a_forbidden_word():
    assert {name: terms for name in names() if (terms := forbidden(name))} == {}


def test_no_field_or_attribute_of_the_product_has_a_forbidden_word():
    assert {name: terms for name in attributes() if (terms := forbidden(name))} == {}


def test_no_parameter_or_variable_has_a_forbidden_word():
    assert {name: terms for name in variables() if (terms := forbidden(name))} == {}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("test_a_player_is_told", ["told"]),
        ("TestStanding", ["standing"]),
        ("seat__whom", ["whom"]),
        ("test_money_given_back", ["given_back"]),
        ("bookmark_safe", []),
        ("stands_on", []),
        ("understands", []),
    ],
)
def test_words_are_found_in_names(name, words):
    assert list(forbidden(name)) == words


def forbidden(name: str) -> dict[str, str]:
    """Return the forbidden words of a name, each with the term to use."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    text = f"_{LITERAL.sub('_', '_'.join(words).lower())}_"
    return {word: term for word, term in WORDS.items() if f"_{word}_" in text}


def tracked() -> Iterator[Path]:
    """Yield the project's own files."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    return (path for path in map(PROJECT.joinpath, listed.split("\0")) if "vendor" not in path.parts and path.is_file())


def names() -> set[str]:
    """Return names of functions and classes in Python and JavaScript, of CSS classes, and every name in SQL."""
    found = {name for module in in_python() for name in module.defined}
    for path in tracked():
        if pattern := NAMES.get(path.suffix):
            code = COMMENT.sub(" ", path.read_text())
            found.update(pattern.findall(PROSE_IN_SQL.sub(" ", code) if path.suffix == ".sql" else code))
    return found


def variables() -> set[str]:
    """Return the names of parameters and of assigned variables in Python."""
    return {name for module in in_python() for name in module.assigned}


def attributes() -> set[str]:
    """Return the names that bodies of the product's classes declare: columns, fields of forms, values of enums."""
    return {name for _, path in modules() for name in names_in(path).declared}


@dataclass
class Names:
    """The names in one module of Python."""

    defined: set[str] = field(default_factory=set)  # functions and classes
    assigned: set[str] = field(default_factory=set)  # parameters and variables
    declared: set[str] = field(default_factory=set)  # what bodies of classes assign or annotate

    def take_from(self, block: SymbolTable) -> None:
        """Add the names of a module, class or function, and of those inside."""
        for symbol in block.get_symbols():
            if symbol.is_parameter() or (symbol.is_assigned() and not symbol.is_imported()):
                self.assigned.add(symbol.get_name())
            if block.get_type() == "class" and (symbol.is_assigned() or symbol.is_annotated()):
                self.declared.add(symbol.get_name())
        for inner in block.get_children():
            self.defined.add(inner.get_name())
            self.take_from(inner)


@cache
def names_in(path: Path) -> Names:
    """Return the names in a module. A table of symbols costs a fifth of a syntax tree."""
    found = Names()
    found.take_from(symtable(path.read_text(), path.name, "exec"))
    return found


def in_python() -> Iterator[Names]:
    """Yield the names in each of the project's own modules."""
    return (names_in(path) for path in tracked() if path.suffix == ".py")
