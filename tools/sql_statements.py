"""Split an SQL script into statements.

Quoted text is not mistaken for SQL.

Semicolons in strings, names, comments and function bodies do not end a statement. (In a body
written as ``BEGIN ATOMIC`` they do; then too many statements are found, never too few.)
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# In this order: a dollar may start a body, and the E of an escaped string is not a name.
TOKEN: Final = re.compile(
    r"""
      (?P<comment> --[^\n]* | /\* )
    | (?P<string> (?<!\w)[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' )
    | (?P<name> "(?:[^"]|"")*" )
    | (?P<body> (?<![\w$]) \$(?P<tag> (?:[^\W\d]\w*)? )\$ .*? \$(?P=tag)\$ )
    | (?P<end> ; )
    """,
    re.VERBOSE | re.DOTALL,
)
BLOCK: Final = re.compile(r"/\*|\*/")


@dataclass(frozen=True)
class Statement:
    """One statement without comments: its text, the text without string contents (*bare*), and its
    bodies.
    """

    text: str
    bare: str
    bodies: tuple[str, ...]

    @property
    def word(self) -> str:
        """The first word, in capitals."""
        found = re.match(r"[\s(]*(\w+)", self.bare)
        return found[1].upper() if found else ""


def statements(script: str) -> Iterator[Statement]:
    """Yield the statements in order."""
    text, bare, at = "", "", 0
    bodies: list[str] = []
    for kind, begin, end in (*_tokens(script), ("end", len(script), len(script))):
        between, token = script[at:begin], script[begin:end]
        at = end
        if kind == "comment":
            text, bare = f"{text}{between} ", f"{bare}{between} "
            continue
        text, bare = text + between, bare + between
        if kind == "end":
            if bare.strip():
                yield Statement(text.strip(), bare.strip(), tuple(bodies))
            text, bare, bodies = "", "", []
            continue
        text += token
        bare += token if kind == "name" else "''"
        if kind in ("body", "string"):
            bodies.append(token)


def without_comments(script: str) -> str:
    """Return a script with a blank for each comment."""
    parts, at = [], 0
    for kind, begin, end in _tokens(script):
        if kind == "comment":
            parts.append(script[at:begin])
            at = end
    return " ".join([*parts, script[at:]])


def _tokens(script: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of quoted text, comments, and statement ends."""
    at = 0
    while found := TOKEN.search(script, at):
        at = _end_of_block(script, found.end()) if found[0] == "/*" else found.end()
        yield str(found.lastgroup), found.start(), at


def _end_of_block(script: str, at: int) -> int:
    """Return the end of a comment that started before *at*. Comments can be nested."""
    depth = 1
    while depth and (found := BLOCK.search(script, at)):
        depth += 1 if found[0] == "/*" else -1
        at = found.end()
    return at if not depth else len(script)
