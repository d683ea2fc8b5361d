"""No code path lets anyone influence an outcome: shown on the sources, so that a new path makes a
test fail.

Who may shuffle a shoe and who may open a seed are import contracts (``pyproject.toml``).
"""

import ast
import inspect
from collections.abc import Iterator
from functools import cache

import pytest
from django import forms
from django.apps import apps
from django.urls import URLPattern, URLResolver, get_resolver

from games.verification import verification_task
from tests.harness.product import APPS, modules

OUTCOME_WORDS = ("seed", "card", "outcome", "result", "shoe", "win")


@pytest.fixture(scope="module", autouse=True)
def no_sources_afterwards() -> Iterator[None]:
    """Drop the syntax trees afterwards: the garbage collector would traverse millions of nodes in
    later tests.
    """
    yield
    for kept in (sources, nodes, imported_names, called_names):
        kept.cache_clear()


@cache
def sources() -> tuple[tuple[str, ast.Module], ...]:
    return tuple((name, parsed(path.read_text())) for name, path in modules() if not name.startswith("games.engine."))


def parsed(text: str) -> ast.Module:
    """Return the syntax tree of a module.

    Python 3.11 counts the depth of all threads together and sometimes fails if another thread
    compiles at the same moment (CPython issue 106905).
    """
    try:
        return ast.parse(text)
    except SystemError:
        return ast.parse(text)


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


@cache
def imported_names(tree: ast.Module) -> tuple[str, ...]:
    names: list[str] = []
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "written out in full, so that what is imported can be read off"
            names += (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(names)


def imported_tails(tree: ast.Module) -> Iterator[str]:
    """Yield the last parts of a module's imports."""
    yield from (name.rpartition(".")[2] for name in imported_names(tree))


@cache
def called_names(tree: ast.AST) -> frozenset[str]:
    functions = [node.func for node in nodes(tree) if isinstance(node, ast.Call)]
    return frozenset(
        function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "") for function in functions
    )


def names(tree: ast.Module) -> frozenset[str]:
    """Return every name and attribute that a module uses."""
    used = (getattr(node, "attr", None) or getattr(node, "id", None) for node in nodes(tree))
    return frozenset(name for name in used if isinstance(name, str))


def test_gli19_3_2_no_product_module_uses_a_predictable_generator():
    importing = [
        name
        for name, tree in sources()
        for imported in imported_names(tree)
        if imported.split(".")[0] == "random" or imported.startswith("numpy.random")
    ]
    assert importing == []
    assert [name for name, tree in sources() if names(tree) & {"default_rng", "RandomState", "SystemRandom"}] == []


def test_gli19_3_2_seeds_come_from_the_operating_system_in_one_place():
    """The dealer's; the second draws its keys."""
    drawing = {name for name, tree in sources() if {"token_bytes", "urandom"} & called_names(tree)}
    of_games = {name for name in drawing if name.startswith("games.") and name != "games.simulation"}
    assert of_games == {"games.dealer.dealer", "games.dealer.keys"}
    dealer = dict(sources())["games.dealer.dealer"]
    (of_dealer,) = (node for node in nodes(dealer) if isinstance(node, ast.ClassDef) and node.name == "Dealer")
    (made,) = (node for node in of_dealer.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    defaults = dict(zip((each.arg for each in made.args.kwonlyargs), made.args.kw_defaults, strict=True))
    assert ast.unparse(defaults["draw"] or made) == "secrets.token_bytes"
    elsewhere = [node for _, tree in sources() for node in nodes(tree) if isinstance(node, ast.keyword)]
    assert not [node for node in elsewhere if node.arg == "draw"], "nobody gives the dealer another source"


def test_what_shuffles_has_no_hand_in_money():
    for name, tree in sources():
        if "shuffle" in called_names(tree):
            assert not [
                each for each in imported_names(tree) if each.split(".")[0] in ("wallet", "players", "django.db")
            ], name


@pytest.mark.parametrize(("module", "seed"), [("games.dealer.dealer", "seed"), ("games.dealer.shoes", "self.seed")])
def test_gli19_4_5_2_cards_are_shuffled_from_that_seed(module, seed):
    tree = dict(sources())[module]
    shuffles = [
        node for node in nodes(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "shuffle"
    ]
    assert [ast.unparse(call.args[0]) for call in shuffles] == [seed]


def test_only_what_plays_and_publishes_a_shoe_asks_the_dealer_about_it():
    called = {name: called_names(tree) for name, tree in sources() if not name.startswith("games.dealer")}

    def callers(function: str) -> set[str]:
        return {name for name, functions in called.items() if function in functions}

    assert callers("deal_cards") == {"games.deals", "games.shared.shoes", "games.chemin.shoes"}
    assert callers("ask_for_cards") == {"games.shared.shoes", "games.chemin.shoes"}
    assert callers("ask_for_seed") == {"games.shared.shoes"}
    assert callers("new_shoe") == {"games.shared.shoes"}


def test_a_player_is_dealt_what_was_sealed_for_them_and_nothing_else():
    """A demo round is dealt only from its committed seed and what the visitor adds; nothing else affects the deal."""
    tree = dict(sources())["games.demo.play"]
    functions = {each.name: each for each in nodes(tree) if isinstance(each, ast.FunctionDef)}
    dealing = functions["_dealt"]
    assert [argument.arg for argument in dealing.args.args] == ["demo_seat", "table", "how", "player_value"]
    calls = [each for each in nodes(tree) if isinstance(each, ast.Call)]
    seats = [call for call in calls if getattr(call.func, "id", "") == "DemoSeat"]
    assert [ast.unparse(call.args[2]) for call in seats] == ["commit(Purpose.DEMO, table.id, table.variant)"]
    later = [word.value for call in calls for word in call.keywords if word.arg == "next"]
    assert {ast.unparse(value) for value in later} == {
        "commit(Purpose.DEMO, table.id, table.variant)",
        "dealt.following",
    }


def callers(module: str, called: str) -> set[str]:
    """Return the functions of a module that call *called*."""
    functions = (node for node in nodes(dict(sources())[module]) if isinstance(node, ast.FunctionDef))
    return {function.name for function in functions if called in called_names(function)}


def test_only_a_seed_that_does_not_reproduce_its_round_voids_one_of_a_solo_table():
    """No page, form, command or task voids it: one function does, after the comparison."""
    naming = {
        name for name, tree in sources() if {"void_round", "undo_round"} & {*called_names(tree), *imported_tails(tree)}
    }
    assert naming == {
        "games.verification.verification_task",
        "games.rounds.void",
        "games.shared.malfunction",
        "games.chemin.coups.void",
    }
    assert callers("games.verification.verification_task", "void_round") == {"_void"}
    assert callers("games.shared.malfunction", "void_round") == {"void_live_round"}
    assert callers("games.chemin.coups.void", "void_round") == {"_take_back"}


def test_a_round_of_a_shared_table_is_voided_by_the_clock_by_one_before_its_deal_or_by_two_people():
    """One function voids a round before the deal, one after the approval of two people, one if it
    is overdue.
    """
    naming = {name for name, tree in sources() if "void_live_round" in {*called_names(tree), *imported_tails(tree)}}
    assert naming == {"games.shared.malfunction", "games.shared.phases"}
    assert callers("games.shared.malfunction", "void_live_round") == {"cancel", "execute"}
    assert callers("games.shared.phases", "void_live_round") == {"_move"}
    of_visitors = {
        name for name, tree in sources() if "void_coup" in called_names(tree) and not name.startswith("games.engine.")
    }
    assert of_visitors == {"games.shared.malfunction", "games.chemin.tick"}
    assert callers("games.shared.malfunction", "void_coup") == {"void_live_round"}
    assert callers("games.chemin.tick", "void_coup") == {"_answer"}
    named = {name for name, tree in sources() for node in nodes(tree) if is_two_peoples_action(node)}
    assert named == {"games.registration"}, "what two people decide is done by the approval and nobody else"


def is_two_peoples_action(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "execute" and getattr(node.value, "id", "") == "malfunction"


def test_nobody_chooses_which_rounds_are_verified():
    """The task has no arguments, and nothing else calls its function."""
    calling = {name for name, tree in sources() if "verify_finished_rounds" in called_names(tree)}
    assert calling == {"games.tasks"}
    assert inspect.signature(verification_task.verify_finished_rounds).parameters == {}


def every_form(base: type[forms.BaseForm]) -> Iterator[type[forms.BaseForm]]:
    for form in base.__subclasses__():
        if form.__module__.split(".")[0] in APPS:
            yield form
        yield from every_form(form)


def test_no_form_carries_a_card_a_seed_or_a_result():
    get_resolver().url_patterns  # noqa: B018  (imports every view, and with it every form)
    fields = {
        f"{form.__module__}.{form.__name__}.{field}"
        for form in every_form(forms.BaseForm)
        for field in form.base_fields  # type: ignore[attr-defined]
    }
    assert any(name.endswith("SlipForm.round_id") for name in fields)
    assert [name for name in fields if any(word in name.rsplit(".", 1)[1] for word in OUTCOME_WORDS)] == []


def patterns(resolver: URLResolver) -> Iterator[URLPattern]:
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            yield from patterns(each)
        else:
            yield each


def test_no_address_carries_a_card_a_seed_or_a_result():
    only_shown = ("shoe", "shoe_checker", "shoe_proof")
    found = [pattern for pattern in patterns(get_resolver()) if pattern.name not in only_shown]
    parameters = {name for pattern in found for name in pattern.pattern.regex.groupindex}
    assert parameters
    assert not [name for name in parameters if any(word in name for word in OUTCOME_WORDS)]


def test_finished_rounds_have_no_way_to_be_edited():
    models = ("Round", "Participation", "Wager", "Void", "VoidPart", "VoidNotice", "Incident")
    permissions = {model: set(apps.get_model("games", model)._meta.default_permissions) for model in models}
    assert {model: given for model, given in permissions.items() if given & {"add", "change", "delete"}} == {}
