"""What is asked for at a table, in words, for whoever decides: every figure that changes, and the returns."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast

from audit import approvals
from audit.log import Json
from games.betting.limits import StoredLimits
from games.change_requests import returns
from games.change_requests.differences import changes, share, written
from games.change_requests.execution import limits_of, served_of
from games.engine.chemin.state import there
from games.labels import variant_label
from games.models import Shape, Table
from games.tables.checks import Served
from games.variants import GAMES, VARIANTS

Facts = Sequence[tuple[str, str]]


def describe_version(request: Mapping[str, Json]) -> approvals.Description:
    """Say what of a table becomes what, from when on, and what its bets return then."""
    table = Table.objects.select_related("version").get(pk=str(request["table"]))
    asked_of = table.versions.get(number=str(request["based_on"]))
    clock = cast("dict[str, int] | None", request["clock"])
    in_force = Served.under(asked_of)
    before = written(table.variant, asked_of.limits, asked_of.clock, in_force)
    found = changes(before, written(table.variant, limits_of(request), clock, served_of(request) or in_force))
    facts = [
        ("Game", _game(table.variant, request)),
        ("Goes live", _moment(request, "at once")),
        ("Follows version", f"{asked_of.number}{_overtaken(table, asked_of.number)}"),
        *((each.what, f"{each.before} → {each.after}") for each in found),
        *_returns(table.variant, request),
    ]
    return approvals.Description(f"Another version of {table.name}", facts)


def describe_table(request: Mapping[str, Json]) -> approvals.Description:
    """Say which table is to be made, for whom, and what its bets return."""
    variant, clock = str(request["variant"]), cast("dict[str, int] | None", request["clock"])
    facts = [
        ("Game", _game(variant, request)),
        ("Address", str(request["slug"])),
        ("For", Shape(str(request["shape"])).label),
        ("Chat", str(request["chat_language"]) or "any language"),
        ("Goes live", _moment(request, "it is made at once, and closed until somebody opens it")),
        *written(variant, limits_of(request), clock, there(served_of(request))).items(),
        *_returns(variant, request),
    ]
    return approvals.Description(f"Make the table {request['name']}", facts)


def _game(variant: str, request: Mapping[str, Json]) -> str:
    return f"{variant_label(GAMES[variant], 'name', 'en')}, rules {request['rules']}"


def _moment(request: Mapping[str, Json], at_once: str) -> str:
    """Say from when on. Who decides may do so after the moment that was asked for."""
    asked = request["goes_live_at"]
    return (
        f"{datetime.fromisoformat(str(asked)):%Y-%m-%d %H:%M} UTC, or once approved if that is later"
        if asked
        else at_once
    )


def _overtaken(table: Table, based_on: int) -> str:
    number = table.version and table.version.number
    return "" if number == based_on else f"; but {number} is in force by now, so this cannot be done any more"


def _returns(variant: str, request: Mapping[str, Json]) -> Facts:
    if variant not in VARIANTS:
        return ()
    least = returns.lowest(variant, cast("StoredLimits", limits_of(request)))
    return [
        (
            f"{bet.name} returns",
            f"{share(bet.rtp)}; with the worst stake, {low.amount}, {share(low.rtp)}",
        )
        for bet, low in zip(returns.bets(variant), least, strict=True)
    ]
