"""Style guide: every component, rendered with the templates that the pages use, in every theme."""

from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from games.betting.limits import Limits
from games.engine.cards import Card
from games.engine.coup import Outcome, deal
from games.engine.roads import Bead, Regularity, Roads
from games.engine.settle import settle
from games.solo.page import SoloPage
from games.tables import roads_svg
from games.tables.board import Dealt, Seat, compose
from games.tables.default_tables import baccarat_limits
from games.tables.presentation import GameView
from games.variants import VARIANTS
from players.access import StaffRequest, staff_required
from wallet.models import Mode

CARDS = "2H 4C 3D 2S JC"  # in dealing order, all four suits: Banker wins with 6 over 5
STAKES = {"banker": 12_500, "tie": 1_000}  # minor units, as is the balance before the round
BALANCE = 86_500

DAYS = [("Mon", 1240), ("Tue", 1180), ("Wed", 1420), ("Thu", 1610), ("Fri", 2230), ("Sat", 2790), ("Sun", 2410)]
RESULTS = [("Player", 4462, "44.6 %", "player"), ("Banker", 4586, "45.9 %", "banker"), ("Tie", 952, "9.5 %", "tie")]
# has dragon tails that meet, and ties before and after the first win
ROADS = "TTPBBTPPBPBBBBPTPBBPBPPPPPPPPTBBBBBBBBPPPPPPPBTTBPBPBBTPB"
WIDE, NARROW = 16, 24  # columns of the roads
GAMES = [("Baccarat", 5400, "5,400 €"), ("Golden Baccarat", 2150, "2,150 €", "2"), ("Pairs", -800, "−800 €", "3")]


class ExampleForm(forms.Form):
    """A form with one of each control. Submitted empty, it shows its errors."""

    name = forms.CharField(help_text="As in your passport.")
    amount = forms.DecimalField(min_value=10, help_text="From €10.00.")
    table = forms.ChoiceField(choices=[("", "Choose one"), ("baccarat", "Baccarat"), ("golden", "Golden Baccarat")])
    agreed = forms.BooleanField(label="I have read the terms")


@staff_required("players.work")
@require_safe
def styleguide(request: StaffRequest) -> HttpResponse:
    """Show the style guide."""
    game = an_example()
    context = {
        "themes": [("dark", "Dark"), ("light", "Light"), ("contrast", "High contrast")],
        "game": game,
        "page": SoloPage(game=game, slug="", play_url="", csrf_token=""),
        "round": game.round,
        "mode_word": "real",
        "form": ExampleForm(request.GET if "send" in request.GET else None),
        "days": [(day, rounds, f"{rounds:,}") for day, rounds in DAYS],
        "results": RESULTS,
        "roads": some_roads(),
        "games": GAMES,
    }
    return render(request, "styleguide/styleguide.html", context)


def some_roads() -> list[tuple[str, SafeString]]:
    """Return the five roads of one shoe with their names."""
    outcomes = {outcome.name[0]: outcome for outcome in Outcome}
    roads = Roads.of([Bead(outcomes[letter], n % 9 == 2, n % 13 == 4) for n, letter in enumerate(ROADS)])
    sides = {outcome: outcome.value.capitalize() for outcome in Outcome}
    colours = {colour: colour.value for colour in Regularity}
    derived = (
        ("Big eye boy", roads.big_eye_boy, roads_svg.Shape.RINGS),
        ("Small road", roads.small_road, roads_svg.Shape.DOTS),
        ("Cockroach pig", roads.cockroach_pig, roads_svg.Shape.SLASHES),
    )
    return [
        ("Bead plate", roads_svg.bead_plate(roads.bead_plate, columns=WIDE, title="Bead plate", names=sides)),
        ("Big road", roads_svg.big_road(roads.big_road, columns=WIDE, title="Big road", names=sides)),
        *(
            (name, roads_svg.derived_road(road, columns=NARROW, title=name, names=colours, shape=shape))
            for name, road, shape in derived
        ),
    ]


def an_example() -> GameView:
    """Return the view of a table after a won round, which is not stored."""
    variant = VARIANTS["baccarat"]
    settled = settle(variant, deal([Card.parse(code) for code in CARDS.split()]), STAKES)
    balance_after = BALANCE - settled.staked + settled.paid
    seat = Seat(
        variant=variant,
        limits=Limits.of(baccarat_limits(), "EUR"),
        mode=Mode.REAL,
        takes_bets=True,
        is_paused=False,
        is_house_stopped=False,
        table_version=1,
        round_id=UUID(int=1),
        commitment="",
        slip={},
        slip_version=0,
        can_undo=False,
        last_stakes=STAKES,
        last_chip=None,
        table_id=0,
        funds=balance_after,
    )
    dealt = Dealt(
        id=UUID(int=0),
        code="",
        cards=CARDS,
        staked=settled.staked,
        paid=settled.paid,
        balance_before=BALANCE,
        balance_after=balance_after,
        bets={line.bet: line for line in settled.lines},
    )
    return compose(seat, language="en", notice=None, dealt=dealt, is_last=True, fresh=False)
