"""The command line: `python -m bench [--quick] [NAME …]`."""

import argparse
import json
import sys
from collections.abc import Iterable

from bench import engines, growth, house, ledger, lists, live, push, reports, sealing, starts, verifying
from bench.contest import QUICK, THOROUGH, Result, Suite, Unavailable, say
from bench.places import RESULTS

GAMES = (engines.ONE_DECK, engines.SHOE, house.SUITE)
BACK_OFFICE = (reports.SUITE, lists.SUITE, growth.SUITE)
SUITES: tuple[Suite | growth.Growth | starts.Starts, ...] = (
    starts.SUITE,
    *GAMES,
    *ledger.SUITES,
    *live.SUITES,
    push.SUITE,
    sealing.SUITE,
    verifying.SUITE,
    *BACK_OFFICE,
)
NAMES = tuple(name for suite in SUITES for name in suite.aims)
COLUMNS = "{:<24}{:>16}{:>16}{:>9}{:>7}  {}"


def main() -> int:
    """Measure, print a table, write the results; 1 where something could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the house against its yardsticks.")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*NAMES, []], help=", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="run everything for a moment, to see that it runs")
    given = parser.parse_args()

    results: list[Result] = []
    faults: list[str] = []
    for suite in SUITES:
        names = [name for name in suite.aims if name in (given.names or NAMES)]
        if not names:
            continue
        say(suite.about)
        try:
            results += suite.measure(names, QUICK if given.quick else THOROUGH)
        except Unavailable as fault:
            faults.append(f"{', '.join(names)}: not measured: {fault}")
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps([result.as_json() for result in results], indent=2) + "\n")
    print("\n".join(_table(results)))
    for line in faults:
        say(line)
    return 1 if faults else 0


def _table(results: Iterable[Result]) -> Iterable[str]:
    yield COLUMNS.format("", "ours", "yardstick", "ratio", "aim", "unit")
    for each in results:
        aim = "" if each.aim is None else f"{each.aim:g}"
        yield COLUMNS.format(
            each.name, f"{each.ours:,.0f}", f"{each.yardstick:,.0f}", f"{each.ratio:.3f}", aim, each.unit
        )


if __name__ == "__main__":
    sys.exit(main())
