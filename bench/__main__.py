"""Command line of the benchmarks: `python -m bench [--quick] [NAME …]`."""

import argparse
import sys
from importlib import import_module

from bench.house import open_house
from bench.measuring import QUICK, THOROUGH, Result, Unavailable, say

BENCHES = {  # the module of each; a function in it has the same name
    "start": "starts",
    "odds": "odds",
    "posting": "play",
    "solo_service": "play",
    "solo_http": "clicks",
    "live_bets_http": "clicks",
    "costs": "clicks",
    "felt": "clicks",
    "shares": "clicks",
    "pay_all": "play",
    "push": "push",
    "seal": "audit_log",
    "verify": "audit_log",
    "growth": "growth",
}
WITHOUT_HOUSE = ("start", "odds")
ROW = "{:<24}{:>14}{:>14}{:>9}{:>7}  {}"


def main() -> int:
    """Run the benchmarks and print a table. Return 1 if something could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the house against yardsticks.")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*BENCHES, []], help=", ".join(BENCHES))
    parser.add_argument("--quick", action="store_true", help="run for a moment and on little data, to see that it runs")
    given = parser.parse_args()

    results: list[Result] = []
    faults: list[str] = []
    for name in BENCHES:
        if name not in (given.names or BENCHES):
            continue
        try:
            if name not in WITHOUT_HOUSE:
                open_house()  # modules with models must be imported after this
            bench = getattr(import_module(f"bench.{BENCHES[name]}"), name)
            say(f"{name}: {bench.__doc__}")
            results += bench(QUICK if given.quick else THOROUGH)
        except Unavailable as fault:
            faults.append(f"{name}: not measured: {fault}")
    print(ROW.format("", "ours", "yardstick", "ratio", "aim", "unit"))
    for each in results:
        figures = f"{each.ours:,.1f}", f"{each.yardstick:,.1f}", f"{each.ratio:.3f}"
        print(ROW.format(each.name, *figures, f"{each.aim:.3g}" if each.aim else "", each.unit))
    for line in faults:
        say(line)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
