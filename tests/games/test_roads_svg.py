"""Roads as SVG: well-formed, readable without colour, and allowed by the content security policy."""

import re
from collections import Counter
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from games.engine.coup import Outcome
from games.engine.roads import Bead, Regularity, Roads
from games.labels import bet_name
from games.tables import roads_svg
from games.tables.roads_svg import Shape
from games.variants import LANGUAGES, VARIANTS

NAMES = {Outcome.PLAYER: "Player", Outcome.BANKER: "Banker", Outcome.TIE: "Tie"}
COLOURS = {Regularity.RED: "red", Regularity.BLUE: "blue"}
SVG = "{http://www.w3.org/2000/svg}"

PLAYER = Bead(Outcome.PLAYER, player_pair=True)
BANKER = Bead(Outcome.BANKER, banker_pair=True)
TIE = Bead(Outcome.TIE)
SHOE = [TIE, PLAYER, TIE, TIE, PLAYER, BANKER, BANKER, BANKER, PLAYER, TIE, BANKER, PLAYER, PLAYER]
ROADS = Roads.of(SHOE)


def read(svg: str) -> ElementTree.Element:
    """Parse the drawing as browsers do inside a page."""
    return ElementTree.fromstring(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))  # noqa: S314


def letters(drawing: ElementTree.Element) -> str:
    """Return the letters of the marks; each mark has its own place."""
    shown = next(text for text in drawing.iter(f"{SVG}text") if text.get("class") != "road__ties")
    said = shown.text or ""
    assert len(shown.get("x", "").split()) == len(shown.get("y", "").split()) == len(said)
    return said


def ties(drawing: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in drawing.iter(f"{SVG}text") if text.get("class") == "road__ties"]


def signs(drawing: ElementTree.Element) -> Counter[str]:
    """Return the number of marks of each kind; one path has all marks of a kind."""
    return Counter({path.get("class", ""): path.get("d", "").count("M") for path in drawing.iter(f"{SVG}path")})


def positions(drawing: ElementTree.Element, kind: str) -> list[tuple[float, float]]:
    """Return the start points of the marks of a kind."""
    outline = next(path.get("d", "") for path in drawing.iter(f"{SVG}path") if path.get("class") == kind)
    return [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)", outline)]


def plate(columns: int = 9, **changes: str) -> ElementTree.Element:
    names = NAMES | {Outcome(code): name for code, name in changes.items()}
    return read(roads_svg.bead_plate(ROADS.bead_plate, columns=columns, title="Bead plate", names=names))


def big(columns: int = 9) -> ElementTree.Element:
    return read(roads_svg.big_road(ROADS.big_road, columns=columns, title="Big road", names=NAMES))


def derived(shape: Shape = Shape.RINGS, columns: int = 9) -> ElementTree.Element:
    road = ROADS.big_eye_boy
    return read(roads_svg.derived_road(road, columns=columns, title="Big eye boy", names=COLOURS, shape=shape))


@pytest.mark.parametrize(
    ("draw", "title", "said"),
    [
        (plate, "Bead plate", "Player 5, Banker 4, Tie 4"),
        (big, "Big road", "Player 2, Banker 3, Player 1, Banker 1, Player 2"),
        (derived, "Big eye boy", "red 1, blue 3, red 1, blue 1"),
    ],
)
def test_a_road_is_a_picture_with_a_title_and_a_description(
    draw: Callable[[], ElementTree.Element], title: str, said: str
) -> None:
    drawing = draw()
    assert drawing.get("role") == "img"
    assert [drawing.findtext(f"{SVG}{name}") for name in ("title", "desc")] == [title, said]


def test_every_bead_bears_the_letter_of_its_side() -> None:
    assert letters(plate()) == "TPTTPBBBPTBPP"
    assert {kind: count for kind, count in signs(plate()).items() if "bead" in kind} == {
        "road__bead--player": 5,
        "road__bead--banker": 4,
        "road__bead--tie": 4,
    }


def test_every_circle_bears_the_letter_of_its_side_and_ties_are_counted_from_two() -> None:
    assert letters(big()) == "PPBBBPBPP"
    assert ties(big()) == ["3"]
    assert signs(big())["road__tie"] == 2


def test_ties_before_any_win_are_a_stroke_and_their_number() -> None:
    road = Roads.of([TIE, TIE]).big_road
    drawing = read(roads_svg.big_road(road, columns=3, title="Big road", names=NAMES))
    assert ties(drawing) == ["2"]
    assert set(signs(drawing)) == {"road__grid", "road__tie"}


def test_a_sign_is_in_its_cell() -> None:
    assert positions(plate(), "road__bead--banker") == [(12, 132), (36, 12), (36, 36), (36, 108)]
    assert positions(big(), "road__ring--banker") == [(27, 12), (27, 36), (27, 60), (75, 12)]


def test_pairs_have_a_corner_each() -> None:
    drawing = plate()
    assert {(x % 24, y % 24) for x, y in positions(drawing, "road__pair--player")} == {(20, 20)}
    assert {(x % 24, y % 24) for x, y in positions(drawing, "road__pair--banker")} == {(4, 4)}
    assert signs(drawing)["road__rim"] == 9


@pytest.mark.parametrize("shape", Shape)
def test_red_and_blue_differ_in_shape(shape: Shape) -> None:
    shapes = {
        (path.get("class", ""), re.sub(r"M[\d.]+ [\d.]+([^M]*).*", r"\1", path.get("d", "")))
        for path in derived(shape).iter(f"{SVG}path")
        if path.get("class") != "road__grid"
    }
    (red, *red_shape), (blue, *blue_shape) = sorted(shapes, reverse=True)
    assert (red, blue) == ("road__red", "road__blue")
    assert red_shape != blue_shape


@pytest.mark.parametrize("draw", [plate, big, derived])
@pytest.mark.parametrize("columns", [1, 2, 9])
def test_every_sign_is_on_the_board(draw: Callable[..., ElementTree.Element], columns: int) -> None:
    drawing = draw(columns=columns)
    wide, high = int(drawing.get("width", "0")), int(drawing.get("height", "0"))
    drawn = [kind for kind in signs(drawing) if kind != "road__grid"]
    assert drawn
    for left, top in (place for kind in drawn for place in positions(drawing, kind)):
        assert 0 <= left < wide
        assert 0 <= top < high


def test_an_empty_shoe_is_an_empty_board() -> None:
    roads = Roads.of([])
    drawing = read(roads_svg.bead_plate(roads.bead_plate, columns=6, title="Bead plate", names=NAMES))
    assert drawing.findtext(f"{SVG}desc") == "Player 0, Banker 0, Tie 0"
    assert set(signs(drawing)) == {"road__grid"}


def test_names_cannot_become_markup() -> None:
    drawing = plate(player='<b onload="x">', tie="&amp;")
    assert letters(drawing)[:2] == "&<"
    assert drawing.find(f".//{SVG}b") is None


@pytest.mark.parametrize("draw", [plate, big, derived])
def test_nothing_carries_a_style_of_its_own(draw: Callable[[], ElementTree.Element]) -> None:
    for node in draw().iter():
        assert {"style", "fill", "stroke", "id"}.isdisjoint(node.keys())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_three_sides_have_three_letters_in_every_language(language: str) -> None:
    letters = {bet_name(VARIANTS["no_commission"], outcome.value, language)[0] for outcome in Outcome}
    assert len(letters) == 3
