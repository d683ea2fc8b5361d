"""The side panels of a live table, each with a tab."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from games.engine.bets import Control
from games.models import Shape, Table
from games.variants import VARIANTS
from wallet.models import Mode

ICONS = {
    "statistics": "chart-pie",
    "log": "info",
    "chat": "message-circle",
    "favourites": "star",
    "limits": "scale",
    "history": "scroll-text",
    "cashier": "wallet",
    "rules": "book-open",
    "settings": "sliders",
}
# rendered with the page; the others load when they are opened
WITH_THE_PAGE = frozenset({"statistics", "log", "chat", "favourites"})
OF_CHEMIN = ("log", "chat", "history", "cashier", "rules", "settings")  # at Chemin de Fer


@dataclass(frozen=True)
class SidePanel:
    """A panel and its tab."""

    name: str
    icon: str
    word: str  # label of the tab
    title: str
    template: str = ""  # of a panel rendered with the page
    address: str = ""  # from which any other panel is loaded


def side_panels(table: Table, mode: Mode) -> tuple[SidePanel, ...]:
    """Return the panels of a table for one kind of money, in the order of their tabs."""
    return tuple(_panels(table, mode))


def panel_names(table: Table) -> tuple[str, ...]:
    """Return the names of the panels of this table."""
    if table.shape == Shape.CHEMIN:
        return OF_CHEMIN
    has_favourites = Control.FAVOURITES in VARIANTS[table.variant].controls
    return tuple(name for name in ICONS if name != "log" and (name != "favourites" or has_favourites))


def _panels(table: Table, mode: Mode) -> Iterator[SidePanel]:
    labels, titles = _labels(), _titles()
    for name in panel_names(table):
        is_here = name in WITH_THE_PAGE
        yield SidePanel(
            name=name,
            icon=ICONS[name],
            word=labels[name],
            title=titles.get(name, labels[name]),
            template=f"games/panels.html#{name}" if is_here else "",
            address="" if is_here else reverse("live_panel", args=[table.slug, mode, name]),
        )


def _labels() -> dict[str, str]:
    return {
        "statistics": _("Results"),
        "log": _("At the table"),
        "chat": _("Chat"),
        "favourites": _("Favourites"),
        "limits": _("Limits"),
        "history": _("History"),
        "cashier": _("Cashier"),
        "rules": _("Rules"),
        "settings": _("Settings"),
    }


def _titles() -> dict[str, str]:
    return {"favourites": _("Favourite bets"), "limits": _("Limits and payouts")}
