"""Everything that the handbook tells people to type or to open exists: every command with its arguments, every page,
every setting, every section it leads to.
"""

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import CommandError, get_commands, load_command_class
from django.urls import Resolver404, resolve, reverse

from ops import checks
from ops.embedded import binaries
from ops.management.commands import create_roles
from players.staff import ROLE_DESCRIPTIONS
from tests.harness.product import APPS

PROJECT = Path(__file__).resolve().parents[2]
HANDBOOK = PROJECT / "docs" / "operating.md"
TEXT = HANDBOOK.read_text()
LINES = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.S) for line in block.splitlines()]
TYPED = sorted({*LINES, *(each for each in re.findall(r"`([^`\n]+)`", TEXT) if " " in each or each in ("dropdb",))})
COMMANDS = [each for each in TYPED if each.startswith("manage.py ")]
PROGRAMS = [each for each in TYPED if re.match(r"(pg_\w+|dropdb|createdb|psql) ", each)]
PAGES = sorted(set(re.findall(r"`(/(?:staff|healthz|readyz)[\w/-]*)`", TEXT)))
SETTINGS = sorted(set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", TEXT)))


WITHOUT_DJANGO = ("run", "beat")  # manage.py itself takes these


def takes(typed: str) -> bool:
    """Return whether a command of the house exists and accepts these arguments."""
    _, name, *arguments = shlex.split(typed)
    if name in WITHOUT_DJANGO:
        return arguments == []
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    parser.called_from_command_line = False
    try:
        parser.parse_args(arguments)
    except CommandError:
        return False
    return True


def test_every_command_is_there_and_takes_what_it_is_given():
    assert [typed for typed in COMMANDS if not takes(typed)] == []


def test_every_program_of_postgresql_is_there():
    assert [typed for typed in PROGRAMS if not binaries.client(typed.split()[0]).exists()] == []


def test_every_page_is_there_and_has_that_address():
    assert [address for address in PAGES if reverse(resolve(address).view_name) != address] == []


def test_what_is_not_there_would_be_found():
    with pytest.raises(Resolver404):
        resolve("/staff/no-such-page/")
    assert not takes("manage.py restore FILE --no-such-option")


def test_every_setting_is_written_down():
    written = (PROJECT / "docs" / "settings.md").read_text()
    of_roles = Path(create_roles.__file__).read_text()
    assert [name for name in SETTINGS if f"`{name}`" not in written and name not in of_roles] == []


def test_every_link_leads_somewhere():
    links = [link.partition("#") for link in sorted(set(re.findall(r"\]\(([^)]+)\)", TEXT)))]
    texts = {file: (HANDBOOK.parent / file).read_text() for file, _, _ in links}
    assert [(file, anchor) for file, _, anchor in links if anchor and anchor not in anchors(texts[file])] == []


def anchors(text):
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def rows_below(title, first):
    """Return the rows of the table in a section that begins with this cell, each a list of its cells."""
    section = TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    table = section.partition(f"| {first} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in table.splitlines()[2:]]


REPLACED = rows_below("Keys, and how each is replaced", "secret")
LEAKED = rows_below("A key leaks", "what leaked")


def names_of(secret):
    """Return the subject of a row of the keys: settings, or its first words if it names none."""
    return re.findall(r"`([A-Z_]+)`", secret) or [secret]


def test_gli19_b_6_3_a_leaked_key_has_a_procedure_to_replace_it():
    for name, how in ((name, row[2]) for row in REPLACED for name in names_of(row[0])):
        if name == "SANDBOX_BANK_KEY":  # opens nothing in production
            continue
        (shown,) = [row[2] for row in LEAKED if name in row[0]]
        assert [section for section in re.findall(r"\*([A-Z][^*]+)\*", how) if f"*{section}*" not in shown] == [], name


def test_there_are_keys_and_none_is_called_one_that_cannot_be_replaced():
    assert len(REPLACED) > 10
    assert len(LEAKED) > 10
    emergency = TEXT.partition("\n## A key leaks\n")[2].partition("\n## ")[0]
    assert not re.search(r"cannot be changed|later release|works today", emergency)


SECTIONS = re.findall(r"^#+ (.+)$", TEXT, re.M) + re.findall(r"^\*\*([^*]+?)\.\*\*", TEXT, re.M)
NAMED = {" ".join(each.split()) for each in re.findall(r"(?<![*\w])\*([A-Z][^*:]+)\*(?!\*)", TEXT)}
POSITIONS = [PROJECT / each for each in ("templates", "fragments", *APPS)]


def said() -> str:
    """Return every word that templates and modules of the house say."""
    files = [file for place in POSITIONS for file in place.rglob("*") if file.suffix in (".html", ".py", ".md")]
    return " ".join(" ".join(file.read_text() for file in sorted(files)).split())


def test_what_is_named_is_a_section_or_said_so_in_the_house():
    named, everything = sorted(NAMED - set(SECTIONS)), said()
    patterns = {words: r"[^.]{0,80}?".join(map(re.escape, words.split(" … "))) for words in named}
    assert [words for words, pattern in patterns.items() if not re.search(pattern, everything)] == []


def test_every_fault_is_one_that_the_house_names():
    known = Path(checks.__file__).read_text()
    assert [number for number in sorted(set(re.findall(r"sabot\.E\d+", TEXT))) if f'id="{number}"' not in known] == []


def test_every_role_reads_its_tasks():
    assert set(re.findall(r"^\| (\w+) \|", TEXT, re.M)) >= set(ROLE_DESCRIPTIONS)


def test_the_other_documents_lead_there():
    for name in ("README.md", "docs/settings.md", "docs/audit.md"):
        assert "operating.md" in (PROJECT / name).read_text()
