"""Coups a second: the engine and the simulation with arrays against the npm package baccarat-engine.

Both sides deal the same game: a real round of `baccarat`, for which one deck is shuffled anew, or a shoe of eight decks
down to the same cut card. Ours settles a stake on each coup, theirs calculates its result.
"""

import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from bench.contest import Contest, Rate, Suite, Unavailable, say
from bench.places import WORK
from games.engine.bets import Shape, Variant
from games.engine.coup import Coup
from games.engine.dealing import CUT_CARD
from games.engine.settle import settle
from games.simulation import by_arrays, by_engine
from games.variants import VARIANTS

NODE: Final = Path(__file__).with_name("node")
STAKES: Final = {"player": 100}
COUPS_AT_ONCE: Final = 500
FAST_COUPS_AT_ONCE: Final = 1_000_000
SECONDS_FOR_NPM: Final = 60.0
GRACE_SECONDS: Final = 60.0


def suite(variant: Variant, about: str, *, engine: str, fast: str, aims: tuple[float | None, float | None]) -> Suite:
    """The engine and the arrays, dealing one game, by the names that their results get."""
    ours: dict[str, Rate] = {
        engine: partial(_rate, partial(_deal_by_engine, variant, by_engine.deal_on(variant))),
        fast: partial(_rate, partial(_deal_by_arrays, variant)),
    }

    @contextmanager
    def open_contest(names: Collection[str]) -> Iterator[Contest]:
        modules = _install()
        yield Contest(partial(_npm_package, modules, variant), {name: ours[name] for name in names})

    return Suite(about, "coups/s", {engine: aims[0], fast: aims[1]}, open_contest)


def _rate(deal: Callable[[], int], seconds: float) -> float:
    """Call `deal`, which tells how many coups it dealt, until the time is over."""
    begun = time.perf_counter()
    coups = 0
    while (elapsed := time.perf_counter() - begun) < seconds:
        coups += deal()
    return coups / elapsed


def _deal_by_engine(variant: Variant, coups: Iterator[Coup]) -> int:
    for coup in islice(coups, COUPS_AT_ONCE):
        settle(variant, coup, STAKES)
    return COUPS_AT_ONCE


def _deal_by_arrays(variant: Variant) -> int:
    by_arrays.simulate(variant, FAST_COUPS_AT_ONCE, lambda done: None)
    return FAST_COUPS_AT_ONCE


def _npm_package(modules: Path, variant: Variant, seconds: float) -> float:
    cut = "fresh" if variant.shape is Shape.SOLO else str(CUT_CARD)
    command = ["node", str(modules / "coups.cjs"), str(seconds), str(variant.decks), cut]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + GRACE_SECONDS)
    if done.returncode:
        raise Unavailable(f"node failed: {_last_line(done.stderr)}")
    return float(done.stdout)


def _install() -> Path:
    """Install the package as its lock file pins it, once, and return the folder. Raises Unavailable."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise Unavailable(f"{program} is not installed; Node.js brings it")
    folder = WORK / "node"
    lock = "package-lock.json"
    complete = (folder / "node_modules" / f".{lock}").exists()  # npm writes it last
    if not complete or (folder / lock).read_bytes() != (NODE / lock).read_bytes():
        say("Installing the npm package baccarat-engine …")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(NODE, folder)
        _run_npm(folder)
    shutil.copy2(NODE / "coups.cjs", folder)
    return folder


def _run_npm(folder: Path) -> None:
    """Download what the lock file in the folder names, or leave no folder. Raises Unavailable."""
    npm = ["npm", "ci", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1"]
    try:
        done = subprocess.run(npm, capture_output=True, text=True, check=False, timeout=SECONDS_FOR_NPM)
        fault = _last_line(done.stderr) if done.returncode else ""
    except subprocess.TimeoutExpired:
        fault = f"no answer within {SECONDS_FOR_NPM:.0f} seconds"
    if fault:
        shutil.rmtree(folder)
        raise Unavailable(f"npm could not install baccarat-engine: {fault}")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it did not say why"


ONE_DECK: Final = suite(
    VARIANTS["baccarat"],
    "Coups, each from a freshly shuffled deck, against the npm package baccarat-engine",
    engine="engine_coups",
    fast="fast_coups",
    aims=(0.2, 10),
)
SHOE: Final = suite(
    VARIANTS["no_commission"],
    "Coups from shoes of eight decks, dealt to the cut card, against the npm package baccarat-engine",
    engine="engine_shoe_coups",
    fast="fast_shoe_coups",
    aims=(None, None),
)
