"""English texts for staff: descriptions of change requests, and differences of table versions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, cast

from babel import Locale
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext, gettext_lazy

from audit import approvals
from audit.log import Json
from games.betting.limits import Limits, StoredLimits
from games.change_requests.execution import eligibility_of, limits_of
from games.engine.chemin.state import there
from games.engine.odds import exact, lowest_return, percent
from games.labels import bet_name, variant_label
from games.models import Shape, Table
from games.tables.checks import TableEligibility, TableLimits
from games.variants import GAMES, VARIANTS
from players.login.forms import INTERNATIONAL
from wallet.models import Mode
from wallet.money import format_amount, format_money


@dataclass(frozen=True)
class BetReturn:
    """A bet of a game: payouts as text, return, house edge, and probabilities to win, push and
    lose.

    All figures are shares of one.
    """

    code: str
    name: str
    pays: str
    rtp: Fraction
    edge: Fraction
    win: Fraction
    push: Fraction
    lose: Fraction


@dataclass(frozen=True)
class LowestReturn:
    """The lowest return of a bet in a currency, and the stake in minor units that has it because of
    rounding.
    """

    name: str
    currency: str
    stake: int
    rtp: Fraction

    @property
    def amount(self) -> str:
        """The stake as text."""
        return format_money(self.stake, self.currency, get_language() or "en")


def bets(variant: str) -> list[BetReturn]:
    """Return every bet of a game with its exact return; empty for a game between players."""
    game = VARIANTS.get(variant)
    if game is None:
        return []
    odds = exact(game)
    return [
        BetReturn(
            code=bet.code,
            name=bet_name(game, bet.code, get_language() or "en"),
            pays=bet.pays_text,
            rtp=odds[bet.code].rtp,
            edge=odds[bet.code].edge,
            win=odds[bet.code].win,
            push=odds[bet.code].push,
            lose=odds[bet.code].lose,
        )
        for bet in game.bets
    ]


def lowest(variant: str, limits: StoredLimits) -> list[LowestReturn]:
    """Return the lowest return of every bet over all currencies of *limits*, in the order of the
    table.

    The game must have bets against the house.
    """
    codes = [bet.code for bet in VARIANTS[variant].bets]
    return [min(_lowest(variant, code, limits), key=lambda each: each.rtp) for code in codes]


def _lowest(variant: str, bet: str, limits: StoredLimits) -> Iterator[LowestReturn]:
    game = VARIANTS[variant]
    for currency in limits:
        allowed = Limits.of(limits, currency)
        rtp, stake = lowest_return(game, bet, allowed.bets[bet].minimum, allowed.bets[bet].maximum, allowed.step)
        yield LowestReturn(bet_name(game, bet, get_language() or "en"), currency, stake, rtp)


NOTHING = "—"
MONEY = {Mode.REAL.value: gettext_lazy("real money"), Mode.FREE.value: gettext_lazy("free money")}
READABLE = 7  # characters of a fraction
CHEMIN = {"seat_count": gettext_lazy("Seats"), "house_players": gettext_lazy("House players")}
PACE = {
    "betting": gettext_lazy("Betting"),
    "call": gettext_lazy("Call"),
    "card": gettext_lazy("Each card"),
    "pause": gettext_lazy("Pause"),
    "ask": gettext_lazy("Bank offer"),
    "decide": gettext_lazy("Decision"),
    "deal": gettext_lazy("Card drawing"),
    "choice": gettext_lazy("Third-card choice"),
    "house_player": gettext_lazy("House player response"),
    "removal": gettext_lazy("Removal of absent players"),
}


@dataclass(frozen=True)
class Change:
    """One difference. A dash stands for a value that did not or will not exist."""

    what: str
    before: str
    after: str


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    """Compare the results of `written` or `rules_written` for two versions."""
    names = [*after, *(name for name in before if name not in after)]
    found = [Change(name, before.get(name, NOTHING), after.get(name, NOTHING)) for name in names]
    return [each for each in found if each.before != each.after]


def written(
    variant: str, limits: TableLimits, clock: Mapping[str, int] | None, eligibility: TableEligibility
) -> dict[str, str]:
    """Return the players, money, limits and pace of a table as labelled texts.

    Amounts have their currency.
    """
    found = {
        gettext("Jurisdictions"): ", ".join(map(country, eligibility.jurisdictions)),
        gettext("Money"): money(eligibility.modes),
    }
    for currency, entry in limits.items():
        figures: Mapping[str, Any] = entry
        found |= {f"{currency}: {name}": text for name, text in _figures(variant, currency, figures)}
    for name, value in (clock or {}).items():
        found[str(PACE.get(name, name.capitalize()))] = (
            (gettext("%(value)s turns") % {"value": value}) if name == "missed" else f"{value / 1000:g} s"
        )
    return found


def country(jurisdiction: str) -> str:
    """Return the name of a jurisdiction."""
    return (
        gettext("United Kingdom and other countries")
        if jurisdiction == INTERNATIONAL
        else Locale.parse(get_language() or "en").territories[jurisdiction]
    )


def money(modes: Iterable[str]) -> str:
    """Return the names of the kinds of money of a table."""
    return gettext(" and ").join(str(name) for mode, name in MONEY.items() if mode in set(modes))


def rules_written(variant: str, body: Mapping[str, Any]) -> dict[str, str]:
    """Return stored rules (`games.change_requests.rules`) as labelled texts, whatever release they
    come from.
    """
    found = {gettext("Decks"): str(body["decks"])}
    for bet, rule in body.get("bets", {}).items():
        name = _bet(variant, bet)
        found[gettext("%(bet)s: pays") % {"bet": name}] = "; ".join(
            f"{pays} ({when.replace('_', ' ')})" for when, pays in rule["pays"]
        )
        found[f"{name}: RTP"] = share(Fraction(rule["return"]))
        found[gettext("%(bet)s: only with") % {"bet": name}] = (
            ", ".join(_bet(variant, each) for each in rule["needs"]) or NOTHING
        )
        found[gettext("%(bet)s: commission") % {"bet": name}] = gettext("yes") if rule["commission"] else gettext("no")
    found |= {
        (gettext("Not together, %(place)s") % {"place": place}): ", ".join(rivals)
        for place, rivals in enumerate(body.get("exclusions", ()), 1)
    }
    if "seats" in body:
        found |= {gettext("Seats"): "–".join(map(str, body["seats"])), gettext("Tax"): share(Fraction(body["tax"]))}
    return found


def share(exact: Fraction) -> str:
    """Format a share in percent, and as a fraction if that is short enough to read."""
    text = str(exact)
    in_percent = f"{number_format(percent(exact, 4))} %"
    return f"{in_percent} = {text}" if len(text) <= READABLE else in_percent


def fraction(exact: Fraction) -> str:
    """Format a share as a fraction, with digits in groups of three."""
    return f"{exact.numerator:,} / {exact.denominator:,}".replace(",", "\u202f")


def _figures(variant: str, currency: str, entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    def amount(minor: int) -> str:
        return format_amount(minor, currency, get_language() or "en")

    if "bets" not in entry:
        yield gettext("Bank"), f"{amount(entry['minimum'])} – {amount(entry['maximum'])}"
        yield from ((str(name), str(entry[key])) for key, name in CHEMIN.items())
        return
    game = VARIANTS.get(variant)
    order = [bet.code for bet in game.bets] if game else []
    for bet in sorted(entry["bets"], key=lambda bet: (bet not in order, order.index(bet) if bet in order else 0)):
        low, high = entry["bets"][bet]
        yield _bet(variant, bet), f"{amount(low)} – {amount(high)}"
    yield gettext("Step"), amount(entry["step"])
    yield gettext("Chips"), ", ".join(map(amount, entry["chips"]))
    if "tray" in entry:
        yield gettext("Chips in the tray"), ", ".join(map(amount, entry["tray"]))
    if "liability" in entry:
        yield gettext("maximum house loss per round"), amount(entry["liability"])


def _bet(variant: str, bet: str) -> str:
    """Return the name of a bet, or its code if this release does not have the bet."""
    game = VARIANTS.get(variant)
    return bet_name(game, bet, get_language() or "en") if game and any(each.code == bet for each in game.bets) else bet


Facts = Sequence[tuple[str, str]]


def describe_version(request: Mapping[str, Json]) -> approvals.Description:
    """Describe a new version: what changes, from when on, and the returns of its bets."""
    table = Table.objects.select_related("version").get(pk=str(request["table"]))
    asked_of = table.versions.get(number=str(request["based_on"]))
    clock = cast("dict[str, int] | None", request["clock"])
    in_force = TableEligibility.under(asked_of)
    before = written(table.variant, asked_of.limits, asked_of.clock, in_force)
    found = changes(before, written(table.variant, limits_of(request), clock, eligibility_of(request) or in_force))
    facts = [
        (gettext("Game"), _game(table.variant, request)),
        (gettext("Goes live"), _moment(request, gettext("on approval"))),
        (gettext("Based on version"), f"{asked_of.number}{_overtaken(table, asked_of.number)}"),
        *((each.what, f"{each.before} → {each.after}") for each in found),
        *_returns(table.variant, request),
    ]
    return approvals.Description((gettext("New version of %(table)s") % {"table": table.name}), facts)


def describe_table(request: Mapping[str, Json]) -> approvals.Description:
    """Describe a new table: its properties and the returns of its bets."""
    variant, clock = str(request["variant"]), cast("dict[str, int] | None", request["clock"])
    facts = [
        (gettext("Game"), _game(variant, request)),
        (gettext("URL name"), str(request["slug"])),
        (gettext("Type"), str(Shape(str(request["shape"])).label)),
        (gettext("Chat"), str(request["chat_language"]) or gettext("any language")),
        (gettext("Goes live"), _moment(request, gettext("created on approval, closed until staff open it"))),
        *written(variant, limits_of(request), clock, there(eligibility_of(request))).items(),
        *_returns(variant, request),
    ]
    return approvals.Description((gettext("Create table %(name)s") % {"name": request["name"]}), facts)


def _game(variant: str, request: Mapping[str, Json]) -> str:
    return gettext("%(games)s, rules %(rules)s") % {
        "games": variant_label(GAMES[variant], "name", get_language() or "en"),
        "rules": request["rules"],
    }


def _moment(request: Mapping[str, Json], at_once: str) -> str:
    """Return when the change goes live. A decision may come after the requested time."""
    asked = request["goes_live_at"]
    return (
        (
            gettext("%(fromisoformat)s UTC, or on approval if later")
            % {"fromisoformat": f"{datetime.fromisoformat(str(asked)):%Y-%m-%d %H:%M}"}
        )
        if asked
        else at_once
    )


def _overtaken(table: Table, based_on: int) -> str:
    number = table.version and table.version.number
    return (
        ""
        if number == based_on
        else (gettext("; %(number)s is now in force, so this request can no longer be executed") % {"number": number})
    )


def _returns(variant: str, request: Mapping[str, Json]) -> Facts:
    if variant not in VARIANTS:
        return ()
    least = lowest(variant, cast("StoredLimits", limits_of(request)))
    return [
        (
            (gettext("RTP of %(bet)s") % {"bet": bet.name}),
            (
                gettext("%(rtp)s; at the worst stake, %(amount)s, %(rtp_2)s")
                % {"rtp": share(bet.rtp), "amount": low.amount, "rtp_2": share(low.rtp)}
            ),
        )
        for bet, low in zip(bets(variant), least, strict=True)
    ]
