"""The page that verifies proofs without a network, as one file to save: its modules, style and proof are in it.

The modules are those with which the pages of the house verify. The file is only ever downloaded: the
policy of its response lets nothing run at our address, and the policy inside it lets nothing run but
its own script, and nothing be loaded or sent.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from django.contrib.staticfiles import finders
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

MODULES: Final = "js/verification"
IMPORT: Final = re.compile(r'^import \{([^}]*)\} from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT: Final = re.compile(r"^export (?=(?:const|async function|function) (\w+))", re.MULTILINE)
DOWNLOADED: Final = "default-src 'none'; frame-ancestors 'none'; sandbox"


def saved(name: str, proof: dict[str, Any] | None) -> HttpResponse:
    """Return the page as a download, in the reader's language, with a proof or without one."""
    script, style = bundle("checker"), _read("css/tokens.css") + _read("css/checker.css")
    policy = f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}"
    inside = "" if proof is None else json.dumps(proof).replace("<", "\\u003c")
    parts = {
        "policy": policy,
        "style": f"<style>{style}</style>",
        "proof": f'<script type="application/json" id="proof">{inside}</script>',
        "script": f"<script>{script}</script>",
    }
    safe = {each: mark_safe(text) for each, text in parts.items()}  # noqa: S308  (our own files, and JSON without "<")
    response = HttpResponse(render_to_string("games/checker.html", safe))
    response["Content-Disposition"] = f'attachment; filename="{name}.html"'
    response["Content-Security-Policy"] = DOWNLOADED
    return response


@cache
def bundle(entry: str) -> str:
    """Return a module of ours and all that it imports as one script, without changing what they say.

    Each module becomes a function that returns its exports.
    """
    return '"use strict";\n' + "".join(_bundled(entry, set()))


def _bundled(name: str, done: set[str]) -> Iterator[str]:
    """Yield a module after those that it imports, each once."""
    if name in done:
        return
    done.add(name)
    source = _read(f"{MODULES}/{name}.js")
    for _names, module in IMPORT.findall(source):
        yield from _bundled(module, done)
    exports = EXPORT.findall(source)
    body = EXPORT.sub("", IMPORT.sub(r"const {\1} = \2;\n", source))
    yield f"const {name} = (() => {{\n{body}return {{ {', '.join(exports)} }};\n}})();\n"


@cache
def _read(path: str) -> str:
    return Path(str(finders.find(path))).read_text(encoding="utf-8")


def _source(text: str) -> str:
    """Return what allows this text in a policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
