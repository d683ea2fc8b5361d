"""The modules of the product, for tests about its source. A module is named as it is imported, so that a test names
what moves with it.
"""

from pathlib import Path
from typing import Final

from django.apps import apps

PROJECT: Final = Path(__file__).resolve().parents[2]
APPS: Final = tuple(sorted(each.label for each in apps.get_app_configs() if Path(each.path).parent == PROJECT))


def module_name(path: Path) -> str:
    """Return the name by which a file of the product is imported."""
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


def modules() -> list[tuple[str, Path]]:
    """Return name and file of each module of the product but for migrations, in the order of their names."""
    return sorted(
        (module_name(path), path)
        for app in APPS
        for path in (PROJECT / app).rglob("*.py")
        if "migrations" not in path.parts
    )
