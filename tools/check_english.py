"""Check prose for words that have a plainer or a standard substitute.

Prose is docstrings, comments, texts in strings, documents and templates. Code, quoted names,
parameters of templates and texts in other languages are not checked. ``python
tools/check_english.py`` prints file, line, word and substitute, and exits with 1 if there is one.
"""

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parents[1]
SUBSTITUTES: Final = {
    r"whoever|whomever": "the person who, anyone who",
    r"whom": "say who does what",
    r"besides": "also, except",
    r"beside": "next to, with",
    r"meanwhile": "in the meantime, or name the time",
    r"anew|afresh": "again",
    r"hitherto|thereupon|thereof|therein|whilst": "so far, then, of it, in it, while",
    r"annul(?:s|led|ling|ments?)?": "void",
    r"deeds?": "action",
    r"guests?": "visitor (no account), player (Chemin de Fer)",
    r"tall(?:y|ies)": "hourly total, count",
    r"may have it be|is let be|a row that is none": "say it literally",
    r"given back": "returned, replaced, void",
    r"what waits": "queue, open tasks, waiting ...",
    r"is told|(?<!you.)(?<!staff.)are told": "is notified, is informed, gets, sees",
    r"what lies|(?:lies?|lay|stands?|stood) there": "is, is on the table",
    r"what (?:becomes|became) of": "the result of, the state of",
    r"recalls?|recalling": "verification",
    r"shall": "must, will",
    r"hence|thereby|whence|whereby|wherein|whereupon|lest": "so, by this, in which, so that ... not",
    r"naught|nought": "nothing, zero",
    r'(?<=^""")(?:what|who|whose|how|where|whether)': 'a noun; in a function "Return ..."',
}
WORDS: Final = re.compile("|".join(rf"\b({words})\b" for words in SUBSTITUTES).replace(" ", r"\s+"), re.IGNORECASE)
# Quoted code, tags and parameters of templates, tags of HTML, *parameters*, paths and names.
CODE: Final = re.compile(
    r"``[^`]*``|`[^`]*`|\{\{.*?\}\}|\{%.*?%\}|\{[^{}#\s]*\}|</?[a-z][^<>]*>|(?<!\*)\*\w+\*(?!\*)|\"\w+\""
    r"|[^\s`<>]*(?:[/_]|\w--\w|\w\.\w)[^\s`<>]*"
    r"|^## \w+$",  # the key of a text in `players/support/texts/`
    re.DOTALL | re.MULTILINE,
)
FENCED: Final = re.compile(r"^( *)(`{3,}).*?^\1\2 *$", re.DOTALL | re.MULTILINE)
SQL: Final = re.compile(r"\b(?:SELECT|JOIN|INSERT INTO|UNION ALL|CREATE|AS MATERIALIZED)\s")
COMMENTS: Final = {
    ".sql": re.compile(r"/\*[\s\S]*?\*/|-- .*"),
    ".js": re.compile(r"/\*[\s\S]*?\*/|// .*"),
    ".css": re.compile(r"/\*[\s\S]*?\*/"),
}
SUFFIXES: Final = {".py", *COMMENTS, ".md", ".html", ".txt"}
UNREAD: Final = re.compile(
    r"(?:tests/vendor|static/vendor|static/licences)/|tests/architecture/test_(?:english|terms)\.py|requirements|tools/check_english\.py|.*\b(?:da|de|ro|sv)\.md$"
)


def prose(suffix: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the pieces of prose in a file, each with the number of its first line."""
    if suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            match tokenize.tok_name[token.type]:
                case "COMMENT":
                    yield token.start[0], token.string
                case "STRING" | "FSTRING_MIDDLE" if token.string.count(" ") > 1 and not SQL.search(token.string):
                    yield token.start[0], token.string
    elif suffix in COMMENTS:
        for found in COMMENTS[suffix].finditer(text):
            yield text.count("\n", 0, found.start()) + 1, found[0]
    else:
        yield 1, FENCED.sub(_lines_only, text)


def findings(suffix: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, word and substitute for every word of the table in the prose of a file."""
    for first, piece in prose(suffix, text):
        plain = CODE.sub(_lines_only, piece)
        for found in WORDS.finditer(plain):
            substitute = [*SUBSTITUTES.values()][(found.lastindex or 1) - 1]
            yield first + plain.count("\n", 0, found.start()), found[0], substitute


def _lines_only(found: re.Match[str]) -> str:
    """Return a space and the line breaks of a match, so that later lines keep their numbers."""
    return " " + "\n" * found[0].count("\n")


def main() -> int:
    """Check all files in git and print the findings."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    count = 0
    for name in listed.split("\0"):
        path = PROJECT / name
        if path.suffix in SUFFIXES and path.is_file() and not UNREAD.match(name):
            for line, word, substitute in findings(path.suffix, path.read_text()):
                count += 1
                print(f"{name}:{line}: {word}: {substitute}", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
