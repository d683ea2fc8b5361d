"""Find secrets in the files of the project: keys, tokens, passwords.

No network is used.

Values that only look like a secret are listed by hash in ``tools/no_secrets.json``. ``python
tools/find_secrets.py [FILES]`` exits with 1 if there is a secret; with ``--known`` it lists all
findings as false alarms. Without FILES it reads all files in git.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha1
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from detect_secrets.core.secrets_collection import SecretsCollection
from detect_secrets.settings import transient_settings

PROJECT: Final = Path(__file__).resolve().parents[1]
KNOWN: Final = PROJECT / "tools" / "no_secrets.json"
# Files of others, and texts for people, in which every long word looks random.
UNREAD: Final = ("static/vendor/", "tests/vendor/", "locale/", "docs/images/", "tools/no_secrets.json")
OF_PROVIDERS: Final = ("AWSKey", "GitHubToken", "GitLabToken", "Npm", "PypiToken", "SendGrid", "Slack", "Stripe")
SETTINGS: Final[dict[str, Any]] = {
    "plugins_used": [
        *({"name": f"{name}Detector"} for name in (*OF_PROVIDERS, "BasicAuth", "JwtToken", "Keyword", "PrivateKey")),
        {"name": "Base64HighEntropyString", "limit": 4.5},
        {"name": "HexHighEntropyString", "limit": 3.0},
    ],
    "filters_used": [
        {"path": f"detect_secrets.filters.{name}"}
        for name in (
            "allowlist.is_line_allowlisted",
            "heuristic.is_indirect_reference",
            "heuristic.is_likely_id_string",
            "heuristic.is_potential_uuid",
            "heuristic.is_sequential_string",
            "heuristic.is_templated_secret",
        )
    ],
}
# Lines that a detector could match. The others, nineteen in twenty, would take most of the time.
SUSPICIOUS: Final = re.compile(
    r"[\"'=: ][A-Za-z0-9+/=_-]{16,}|://[^\s/]*@|-----BEGIN"
    r"|(?i:(?:key|pass|pwd|secret|contrase|token)\w*[\"'\]]*\s*(?::=|[:=(]))"
)
# Formats of this house that no detector knows: identities of backups, keys of the signer, API
# tokens, and the keys of `docs/settings.md` in an environment file.
OURS: Final = {
    "Identity of age": re.compile(r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    "Key of a signer": re.compile(r"PRIVATE\+KEY\+[^\s\"'{]{20,}"),
    "Token of a program": re.compile(r"\bsabot_(?=[\w-]*[A-Z])[\w-]{30,}"),
    "Key of the house": re.compile(r"\b(?:SECRET|SECOND_FACTOR|DOCUMENT|PARTNER|CREDENTIALS)_KEY=[\w-]{43,}"),
}


class Secret(NamedTuple):
    """A possible secret: its file, its kind, and its SHA-1 hash."""

    file: str
    kind: str
    hash: str


def tracked() -> list[str]:
    """Return the files in git that are searched."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name and not name.startswith(UNREAD) and (PROJECT / name).is_file()]


def found_in(files: Sequence[str], root: Path = PROJECT) -> dict[Secret, int]:
    """Return the possible secrets in *files*, named relative to *root*, with their line numbers."""
    copied: dict[str, tuple[str, list[int]]] = {}  # by the name of the copy: of which file, and which lines
    ours: dict[Secret, int] = {}
    with TemporaryDirectory() as folder:
        for count, name in enumerate(files):
            written = dict(enumerate((root / name).read_text(errors="replace").splitlines(), start=1))
            ours |= _ours_in(name, written)
            suspicious = {number: line for number, line in written.items() if SUSPICIOUS.search(line)}
            if suspicious:
                copy = Path(folder, str(count), Path(name).name)  # never the file itself, at any place
                copy.parent.mkdir()
                copy.write_text("".join(f"{line}\n" for line in suspicious.values()))
                copied[f"{count}/{copy.name}"] = name, list(suspicious)
        found = SecretsCollection(root=folder)
        with transient_settings(SETTINGS):
            found.scan_files(*copied)
    theirs = {
        Secret(copied[copy][0], each.type, each.secret_hash): copied[copy][1][each.line_number - 1]
        for copy, each in found
    }
    return theirs | ours


def _ours_in(name: str, lines: Mapping[int, str]) -> dict[Secret, int]:
    """Return the possible secrets in formats of this house in a file, with their line numbers."""
    return {
        Secret(name, kind, sha1(match[0].encode(), usedforsecurity=False).hexdigest()): number
        for number, line in lines.items()
        for kind, pattern in OURS.items()
        for match in pattern.finditer(line)
    }


def main(arguments: Sequence[str]) -> int:
    """Search and print the findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--known", action="store_true", help="what is found is no secret: write it down")
    asked = parser.parse_args(arguments)
    found = found_in(asked.files or tracked())
    if asked.known:
        KNOWN.write_text(json.dumps(sorted(found), indent=1) + "\n")
        return 0
    known = {Secret(*each) for each in json.loads(KNOWN.read_text())}
    new = {secret: line for secret, line in found.items() if secret not in known}
    for secret, line in new.items():
        print(f"{secret.file}:{line}: {secret.kind}", file=sys.stderr)
    if new:
        print("Take it out, and replace it wherever it was good for something: git keeps it.", file=sys.stderr)
        print("What is none is written down with python tools/find_secrets.py --known.", file=sys.stderr)
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
