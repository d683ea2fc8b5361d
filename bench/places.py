"""Where benches keep what they make."""

import os
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parent.parent
VAR: Final = Path(os.environ.get("SABOT_VAR") or PROJECT / "var").resolve()
RESULTS: Final = VAR / "bench.json"
WORK: Final = VAR / "bench"
