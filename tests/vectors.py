"""The test vectors of `docs/vectors`, with which anybody can test another implementation."""

import json
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[1] / "docs" / "vectors"
ROUNDS: Final[list[dict[str, Any]]] = json.loads((FOLDER / "rounds.json").read_text())
DEALS: Final[list[dict[str, Any]]] = json.loads((FOLDER / "deals.json").read_text())
SHOES: Final[list[dict[str, Any]]] = json.loads((FOLDER / "shoes.json").read_text())
BEACONS: Final[dict[str, Any]] = json.loads((FOLDER / "beacons.json").read_text())
