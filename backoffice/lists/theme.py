"""Theme of the lists: unfold with the house's colours, name and navigation."""

from typing import Any, Final

from django.templatetags.static import static

# From ink to ivory, and brass for highlights: the values of static/css/tokens.css and steps between
# them.
BASE: Final = {
    "50": "#faf7ee",
    "100": "#f1ecdf",
    "200": "#d8d0bc",
    "300": "#c5cfc8",
    "400": "#a9bab1",
    "500": "#6d8378",
    "600": "#55615a",
    "700": "#2a3a33",
    "800": "#1a2922",
    "900": "#121d18",
    "950": "#0b1310",
}
BRASS: Final = {
    "50": "#fbf6e9",
    "100": "#f4e9cc",
    "200": "#e8cf98",
    "300": "#e6c47a",
    "400": "#d7b56a",
    "500": "#c9a45c",
    "600": "#87631d",
    "700": "#6f5010",
    "800": "#573e0c",
    "900": "#3f2d09",
    "950": "#1a1407",
}

UNFOLD: Final[dict[str, Any]] = {
    "SITE_TITLE": "Sabot",
    "SITE_HEADER": "Sabot",
    "SITE_SUBHEADER": "Lists",
    "SITE_ICON": lambda request: static("icons/icon.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("icons/icon.svg")}],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "10px",
    "COLORS": {"base": BASE, "primary": BRASS},
    "STYLES": [lambda request: static("css/lists.css")],
    "SCRIPTS": [lambda request: static("js/staff/lists_theme.js")],
    "SIDEBAR": {"show_search": False, "navigation": "backoffice.lists.navigation.sidebar"},
}
