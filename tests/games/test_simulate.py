"""`manage.py simulate`: output, correct figures, and no access to the database."""

import ast
import json
from collections import Counter
from fractions import Fraction
from io import StringIO
from itertools import islice

import pytest
from django.core.management import CommandError, call_command

from games import simulation
from games.engine.bets import Shape
from games.engine.dealing import coups as coups_of_shoe
from games.engine.odds import exact
from games.engine.shoe import shuffle
from games.simulation import ReturnCounts, compare, slips, unit
from games.variants import VARIANTS
from tests.harness.product import modules
from tests.harness.sweeps import sample

WAYS = {"engine": simulation.simulate_by_engine, "arrays": simulation.simulate}


def simulate(*arguments: str) -> tuple[str, str]:
    """Run the command; return standard output and standard error."""
    out, err = StringIO(), StringIO()
    call_command("simulate", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.mark.sweep
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("slug", sample(VARIANTS, 1))
def test_every_bet_is_settled_on_every_coup(slug: str, way: str) -> None:
    shown: list[int] = []
    counts = WAYS[way](VARIANTS[slug], 12_345, shown.append)
    assert list(counts) == [bet.code for bet in VARIANTS[slug].bets]
    assert {payouts.total() for payouts in counts.values()} == {12_345}
    assert shown == sorted(shown)
    assert shown[-1] == 12_345


@pytest.mark.parametrize(("way", "coups"), [("engine", 20_000), ("arrays", 2_000_000)])
@pytest.mark.parametrize("slug", sample(VARIANTS, 1))
def test_returns_come_out_as_computed(slug: str, way: str, coups: int) -> None:
    counts = WAYS[way](VARIANTS[slug], coups, lambda done: None)
    for each in compare(VARIANTS[slug], counts):
        band = each.high - each.exact
        assert abs(each.actual - each.exact) < 2.5 * band, each  # beyond chance in 10 000 million runs


@pytest.mark.parametrize("slug", VARIANTS)
def test_slips_hold_every_bet_once_and_are_allowed(slug: str) -> None:
    variant = VARIANTS[slug]
    found = slips(variant, 20)
    assert Counter(bet for slip in found for bet in slip) == Counter(bet.code for bet in variant.bets)
    for slip in found:
        variant.check(slip)
    assert len(found) == 1 + len(variant.exclusions)


@pytest.mark.parametrize("slug", VARIANTS)
def test_rounding_takes_nothing_from_the_unit_staked(slug: str) -> None:
    variant = VARIANTS[slug]
    for bet in variant.bets:
        for prize in bet.prizes:
            assert prize.pays.payout(unit(variant)) == unit(variant) * (1 + prize.pays.fraction)


def always_lost(coups: int) -> ReturnCounts:
    return {bet.code: Counter({0: coups}) for bet in VARIANTS["baccarat"].bets}


def test_the_band_is_where_99_of_100_simulations_end() -> None:
    variant = VARIANTS["baccarat"]
    odds = exact(variant)["tie"]
    *_, tie = compare(variant, always_lost(10_000))
    assert (tie.bet, tie.exact) == ("tie", odds.rtp)
    assert float(tie.high - tie.exact) == pytest.approx(2.5758293 * float(odds.variance / 10_000) ** 0.5)
    assert tie.actual == 0
    assert not tie.within


def test_a_band_does_not_reach_below_nothing() -> None:
    player, *_ = compare(VARIANTS["baccarat"], always_lost(1))
    assert player.low == 0
    assert player.within


@pytest.mark.parametrize("slug", [slug for slug, variant in VARIANTS.items() if variant.shape is Shape.SHARED])
def test_shared_shoes_are_dealt_through_as_the_table_deals_them(slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shoes = [shuffle(bytes([number] * 32), 8) for number in range(3)]
    shuffled = iter(shoes)
    monkeypatch.setattr(simulation, "shuffle", lambda seed, decks: next(shuffled))
    expected = [coup for shoe in shoes for coup in coups_of_shoe(shoe)]
    assert list(islice(simulation.deal_on(VARIANTS[slug]), len(expected))) == expected


@pytest.mark.sweep
def test_people_read_actual_next_to_exact_returns_and_progress_on_standard_error() -> None:
    out, err = simulate("baccarat", "--coups", "6000")
    header, cards, columns, *bets, chance = out.splitlines()
    assert header.startswith("baccarat, rules 1.0: 6,000 coups, ")
    assert (
        cards == "Cards: one deck, shuffled before every coup, dealt by the engine through the shuffle of real rounds."
    )
    assert columns.split() == ["bet", "actual", "%", "exact", "%", "99", "%", "from", "to"]
    assert [line.split()[0] for line in bets] == ["player", "banker", "tie"]
    assert "98.7136" in bets[0]
    assert "chance" in chance
    assert "6,000 of 6,000 coups (100 %)" in err


def test_fast_says_that_it_deals_with_numpy_and_shared_tables_say_the_cut() -> None:
    out, _ = simulate("no_commission", "--coups", "50000", "--fast")
    assert "Cards: 8 decks, dealt through to one coup after the cut card, 14 before the end, dealt with NumPy" in out


@pytest.mark.parametrize(("options", "dealt_by"), [((), "engine"), (("--fast",), "arrays")])
def test_machines_read_fractions(options: tuple[str, ...], dealt_by: str) -> None:
    out, _ = simulate("pairs", "--coups", "1000", "--json", *options)
    shown = json.loads(out)
    assert {key: shown[key] for key in ("variant", "decks", "cut_card", "dealt_by", "coups")} == {
        "variant": "pairs",
        "decks": 8,
        "cut_card": 14,
        "dealt_by": dealt_by,
        "coups": 1000,
    }
    assert {bet: Fraction(each["exact"]) for bet, each in shown["bets"].items()} == {
        bet: odds.rtp for bet, odds in exact(VARIANTS["pairs"]).items()
    }
    assert json.loads(simulate("golden", "--coups", "10", "--json")[0])["cut_card"] is None


@pytest.mark.parametrize("arguments", [["roulette"], ["baccarat", "--coups", "0"], ["baccarat", "--coups", "many"]])
def test_what_cannot_be_simulated_is_refused(arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        simulate(*arguments)


def test_numpy_is_imported_by_what_counts_many_cards_alone_and_the_simulation_by_its_command_alone() -> None:
    importing: dict[str, set[str]] = {"numpy": set(), "games.simulation": set()}
    for module, path in modules():
        text = path.read_text()
        if not any(word in text for word in ("numpy", "simulation")):
            continue
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names += [f"{node.module}.{alias.name}" for alias in node.names]
            for wanted, found in importing.items():
                if any(name == wanted or name.startswith(f"{wanted}.") for name in names):
                    found.add(module)
    packages = {name if name == "games.simulation" else name.rpartition(".")[0] for name in importing["numpy"]}
    assert packages == {"games.simulation", "games.fairness.randomness"}
    assert importing["games.simulation"] == {"games.management.commands.simulate"}
