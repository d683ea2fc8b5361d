"""The page docs/gli-19.md, written from the requirements."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from tests.clauses import chemin, money, nations, operations, people, play, reports, software, staff, technical
from tests.clauses.demand import Chapter, Demand, Met

TESTS: Final = Path(__file__).resolve().parents[1]
PAGE: Final = TESTS.parent / "docs" / "gli-19.md"
CHAPTERS: Final[tuple[Chapter, ...]] = (
    people.CHAPTER,
    money.CHAPTER,
    software.CHAPTER,
    play.CHAPTER,
    chemin.CHAPTER,
    operations.CHAPTER,
    staff.CHAPTER,
    reports.CHAPTER,
    technical.CHAPTER,
    nations.CHAPTER,
)
HEAD: Final = """# GLI-19 v3.0, clause by clause

What the standard asks of an interactive gaming system, in our words, and the tests that show it. Clauses on bonuses,
jackpots, tournaments, double-up, sports and physical devices do not apply; other clauses that do not are listed with
the reason, above all those that ask the operator and no program. Of the procedures in appendices A and C, those are
listed that a program can help to follow. The house has no certificate: this is its own account of itself.

A test named `test_gli19_2_8_2_…` shows clause 2.8.2; run it with `pytest -k gli19_2_8_2`. *Second reading*: somebody
who had not written the tests read each of them against the clause; what was missing then is said, with what was done
about it. They were read on {read}.

This page is written by `make clauses` from `tests/clauses/`; `make check` fails where it is not what that list says,
where the list names a test that does not exist or misses a clause, or where a test bears the number of a clause and no
row names it.
"""
COLUMNS: Final = "| clause | what it asks | | shown by | second reading |\n|---|---|---|---|---|"

A_TEST: Final = re.compile(r"^ *def (test_\w+)\(", re.MULTILINE)


@cache
def functions() -> Mapping[str, tuple[Path, ...]]:
    """Return every test by its name, with the files that have one of this name."""
    found: dict[str, list[Path]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for name in A_TEST.findall(path.read_text()):
            found.setdefault(name, []).append(path)
    return {name: tuple(paths) for name, paths in found.items()}


def demands() -> Iterator[Demand]:
    """Yield all of them, in the order of the page."""
    for chapter in CHAPTERS:
        yield from chapter.demands


def written() -> str:
    """Return the page. Raises KeyError where a test does not exist."""
    counted = Counter(each.met for each in demands())
    read = " and ".join(f"{day.day} {day:%B %Y}" for day in sorted({each.read for each in demands()}))
    outside = counted.pop(Met.OUTSIDE)
    counts = ", ".join(f"**{counted[met]}** {met.value}" for met in Met if met is not Met.OUTSIDE)
    parts = [
        HEAD.format(read=read),
        f"Of {sum(counted.values())} demands, {counts}; {outside} more are not applicable.\n",
    ]
    if open_ones := [each for each in demands() if each.met in (Met.PARTLY, Met.NO)]:
        parts.append(
            "What is open:\n\n"
            + "\n".join(f"- **{each.clause}** {each.asks}: {each.left}" for each in open_ones)
            + "\n"
        )
    for chapter in CHAPTERS:
        rows = "\n".join(map(_row, chapter.demands))
        parts.append(f"## {chapter.title}\n\n{COLUMNS}\n{rows}\n")
    return "\n".join(parts)


def _row(demand: Demand) -> str:
    shown = ", ".join(map(_link, demand.tests)) or "–"
    seen = f"; to look at: {demand.page}" if demand.page else ""
    met = demand.met.value if demand.met in (Met.YES, Met.OUTSIDE) else f"**{demand.met.value}**"
    left = f"*{demand.left}*" if demand.left else ""
    return (
        f"| {demand.clause} | {demand.asks} | {met} | {shown}{seen} | {' '.join(filter(None, [demand.found, left]))} |"
    )


def _link(test: str) -> str:
    (path,) = functions()[test]
    return f"[`{test.removeprefix('test_')}`](../{path.relative_to(TESTS.parent)})"
