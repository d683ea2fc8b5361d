"""Design tokens from `static/css/tokens.css`: names by heading, colours by theme, and the pairs of
colours in use.

The style guide shows them, and the tests check the contrast of every pair in every theme. So the
style sheet remains the only place where a colour is defined.
"""

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from django.conf import settings

TEXT: Final = 4.5  # WCAG 2.2, 1.4.3: contrast of text with its background
SHAPE: Final = 3.0  # WCAG 2.2, 1.4.11: contrast of controls, their states, and graphics

FREE_PLAY: Final = ".money--free"

_MEDIA = re.compile(r"^@media \((.*?)\) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_RULE = re.compile(r"^ *([.:\[][^{]*?) \{\n(.*?)^ *\}", re.MULTILINE | re.DOTALL)
_TOKEN = re.compile(r"--([\w-]+): ([^;]+);")
_HEADING = re.compile(r"/\* (.*?) \*/\n(.*?)(?=\n\n|\Z)", re.DOTALL)
_TWO_VALUES = re.compile(r"light-dark\((.+), (.+)\)")
_REFERENCE = re.compile(r"var\(--([\w-]+)\)")
_SHORT, _LONG = 3, 6  # hexadecimal digits of a colour without transparency


class UnknownToken(LookupError):
    """The token does not exist or is not a plain colour."""


class Theme(Enum):
    """A theme: title, whether light, and the media condition and selector that override tokens of the root."""

    DARK = ("Dark", False, None)
    LIGHT = ("Light", True, None)
    CONTRAST = ("High contrast", False, ("", '[data-theme="contrast"]'))
    MORE = ("More contrast, dark device", False, ("prefers-contrast: more", ":root"))
    MORE_LIGHT = ("More contrast, light device", True, ("prefers-contrast: more", ":root"))

    def __init__(self, title: str, by_day: bool, rule: tuple[str, str] | None) -> None:
        self.title, self.by_day, self.rule = title, by_day, rule


@dataclass(frozen=True)
class Pair:
    """Two tokens that are used together, and their minimum contrast."""

    over: str
    ground: str
    least: float


@dataclass(frozen=True)
class Group:
    """Tokens under one heading, with their values as written."""

    title: str
    tokens: tuple[tuple[str, str], ...]


def _pairs(least: float, grounds: str, over: str) -> list[Pair]:
    return [Pair(each, ground, least) for ground in grounds.split() for each in over.split()]


PAIRS: Final = (
    *_pairs(TEXT, "ink ink-glow surface surface-raised well", "text text-dim"),
    *_pairs(TEXT, "ink ink-glow surface surface-raised", "link brass-bright danger good"),
    *_pairs(TEXT, "danger-ground", "text danger"),
    *_pairs(TEXT, "brass", "on-brass"),
    *_pairs(TEXT, "felt-lit felt felt-deep", "on-felt on-felt-dim player banker tie"),
    *_pairs(TEXT, "player-cloth banker-cloth tie-cloth", "on-felt"),
    *_pairs(TEXT, "felt-brass", "on-felt-brass"),
    *_pairs(TEXT, "paper", "card-red card-black card-blue card-green"),
    *_pairs(TEXT, "chip-1 chip-2 chip-3 chip-4 chip-5 chip-6 chip-7 chip-8", "on-chip"),
    *_pairs(SHAPE, "ink ink-glow surface surface-raised well", "line-strong brass focus"),
    *_pairs(SHAPE, "felt-lit felt felt-deep", "felt-brass felt-focus"),
    *_pairs(SHAPE, "surface", "data-1 data-2 data-3 data-4 data-player data-banker data-tie"),
    *_pairs(TEXT, "data-2 data-3 data-player data-banker data-tie", "surface"),
)


class Tokens:
    """The parsed style sheet."""

    def __init__(self, sheet: str) -> None:
        self._rules: dict[tuple[str, str], dict[str, str]] = {}
        for condition, inside in _MEDIA.findall(sheet):
            self._add(condition, inside)
        plain = _MEDIA.sub("", sheet)
        self._add("", plain)
        self._root = next(body for selector, body in _RULE.findall(plain) if selector == ":root")

    @classmethod
    def read(cls) -> "Tokens":
        """Read the project's own style sheet."""
        return cls(Path(settings.BASE_DIR, "static", "css", "tokens.css").read_text(encoding="utf-8"))

    def groups(self) -> list[Group]:
        """Return all tokens by heading."""
        return [Group(title, tuple(_TOKEN.findall(body))) for title, body in _HEADING.findall(self._root)]

    def colour(self, name: str, theme: Theme, *, free: bool = False) -> tuple[int, int, int]:
        """Return red, green and blue, 0 to 255, of an opaque token in a theme; on the cloth of
        *free* play if true.

        Raises UnknownToken where it is missing, translucent or not a colour.
        """
        written = self._values(theme, free=free).get(name, "")
        if two := _TWO_VALUES.fullmatch(written):
            written = two[1] if theme.by_day else two[2]
        if reference := _REFERENCE.fullmatch(written):
            return self.colour(reference[1], theme, free=free)
        digits = written.removeprefix("#")
        if len(digits) == _SHORT:
            digits = "".join(2 * digit for digit in digits)
        if not written.startswith("#") or len(digits) != _LONG:
            raise UnknownToken(f"{name}: {written}")
        red, green, blue = bytes.fromhex(digits)
        return red, green, blue

    def contrast(self, pair: Pair, theme: Theme, *, free: bool = False) -> float:
        """Return the contrast of a pair by WCAG 2.2: 1 for equal colours, 21 for black and white."""
        lights = [_luminance(self.colour(name, theme, free=free)) for name in (pair.over, pair.ground)]
        return (max(lights) + 0.05) / (min(lights) + 0.05)

    def _add(self, condition: str, sheet: str) -> None:
        for selector, body in _RULE.findall(sheet):
            self._rules.setdefault((condition, selector), {}).update(_TOKEN.findall(body))

    def _values(self, theme: Theme, *, free: bool) -> dict[str, str]:
        values = dict(self._rules["", ":root"])
        if theme.rule:
            values |= self._rules[theme.rule]
        if free:
            values |= self._rules["", FREE_PLAY]
        if free and theme.rule:
            condition, selector = theme.rule
            values |= self._rules[condition, f"{selector.removeprefix(':root')} {FREE_PLAY}".strip()]
        return values


def _luminance(colour: tuple[int, int, int]) -> float:
    """Return relative luminance, 0 to 1, as WCAG 2.2 defines it."""
    parts = [value / 255 for value in colour]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
