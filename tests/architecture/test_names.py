"""Every file and every function of the database that a docstring, a comment or a document names
exists.
"""

import re
import subprocess
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
OURS = re.compile(r"\b(?:audit|wallet|players|games)_[a-z][a-z_]+\b")
FILE = re.compile(r"`([\w./-]*\w\.(?:py|sql|sh|md|toml|html|css|js|txt))`")
QUOTED = re.compile(r'"""[\s\S]*?"""|(?<=\s)# [^\n]*')  # multi-line strings and comments
SQL_PROSE = re.compile(r"^\s*--[^\n]*", re.MULTILINE)
# A file inside an export, and an example of a user's own file.
ELSEWHERE = {"verify.py", "identity.txt"}


@cache
def tracked() -> dict[str, str]:
    """Return the text of every file in git that can contain names."""
    listed = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.splitlines() if (PROJECT / name).is_file()]
    return {name: (PROJECT / name).read_text() if name.endswith((".py", ".sql", ".md")) else "" for name in names}


def prose(name: str, text: str) -> str:
    """Return the prose of a file: a document as a whole, otherwise docstrings and comments."""
    if name.endswith(".md"):
        return text
    if name.endswith(".sql"):
        return "\n".join(SQL_PROSE.findall(text))
    return "\n".join(found[0] for found in QUOTED.finditer(text) if is_prose(found))


def code(name: str, text: str) -> str:
    if name.endswith(".sql"):
        return SQL_PROSE.sub("", text)
    return QUOTED.sub(lambda found: "" if is_prose(found) else found[0], text) if name.endswith(".py") else ""


def is_prose(found: re.Match[str]) -> bool:
    """Return whether the match is a comment or a docstring, which begins its line, and not a used
    string.
    """
    before = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]
    return found[0].startswith("#") or not before.strip()


def test_every_function_of_the_database_that_is_named_exists():
    known = {Path(name).stem for name in tracked()}
    for name, text in tracked().items():
        known.update(OURS.findall(code(name, text)))
    unknown = {f"{name}: {word}" for name, text in tracked().items() for word in OURS.findall(prose(name, text))}
    assert sorted(each for each in unknown if each.partition(": ")[2] not in known) == []


def test_every_file_that_is_named_exists():
    unknown = [
        f"{name}: {file}"
        for name, text in tracked().items()
        for file in FILE.findall(prose(name, text))
        if Path(file).name not in ELSEWHERE
        and not any(path == file.lstrip("./") or path.endswith(f"/{file.lstrip('./')}") for path in tracked())
    ]
    assert unknown == []
