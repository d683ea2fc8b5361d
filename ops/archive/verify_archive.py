"""What proves a month of a house that has left its database, for somebody who trusts nobody: journals, entries and
balances, checked with nothing but Python itself (3.11 or newer). Every archive carries this very file:

    python3 -I verify_archive.py ARCHIVE [--keys KEYS]

With keys the event log of the month is checked as well, by the ``verify.py`` that lies beside this file.

What it shows: each file is the one that the manifest names. Every journal sums to zero in each currency and mode, and
is what was asked for under its key (SHA-256). The entries of each account lead, without a gap, from what it held when
the month began to what it held when the month ended, and never below zero. What the house carried forward is what these
entries come to. That this is the archive which the house made, the event ``month.archived`` of its log says, with the
SHA-256 of the archive as a whole.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import io
import json
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

MANIFEST, LOG = "manifest.json", "log.zip"
JOURNALS, ACCOUNTS, CARRIED = "ledger/journals", "ledger/accounts", "ledger/carried"
PARTS = (JOURNALS, ACCOUNTS, CARRIED, LOG)
LINE = 64 * 1024 * 1024  # bytes of the longest line: a round of a shared table with a hundred thousand bettors
MOST = 1000  # sentences about what is wrong, after which nobody reads on
PIECE = 1024 * 1024

Wrong = Callable[[str], None]


class NotReadable(Exception):
    """The archive is none, or damaged so that nothing in it can be checked; the message says how."""


class Archive:
    """An archive, checked: after `check`, sentences about what is right and what is wrong. Raises NotReadable."""

    def __init__(self, path: Path) -> None:
        self.right: list[str] = []
        self.wrong: list[str] = []
        try:
            self._zip = zipfile.ZipFile(path)
            self.manifest: dict[str, Any] = json.loads(self._zip.read(MANIFEST))
            named = self.manifest["files"]
        except (OSError, KeyError, ValueError, TypeError, RuntimeError, zipfile.BadZipFile) as error:
            raise NotReadable(f"{path} is no archive of a month: {error}") from error
        if sorted(named) != sorted(PARTS):
            raise NotReadable(f"{path} names other files than an archive has: {', '.join(sorted(named))}")

    def check(self) -> None:
        """Check all that the archive has of the ledger; the log has a program of its own (`check_log`)."""
        try:
            names = self._zip.namelist()
            self.wrong += [f"{name} is in the archive more than once" for name in {*names} if names.count(name) > 1]
            for name in PARTS:
                self._check_digest(name)
            if not self.wrong:
                _Ledger(self.manifest, self._lines, self._says_wrong).check(self.right)
        except (OSError, KeyError, ValueError, TypeError, AttributeError, RuntimeError, zipfile.BadZipFile) as error:
            self.wrong.append(f"it cannot be read to its end: {type(error).__name__}: {error}")

    def check_log(self, verify: ModuleType, keys: Sequence[Any]) -> None:
        """Check the event log of the month with the program for it and *keys* to believe."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, LOG)
            with self._zip.open(LOG) as packed, file.open("wb") as copy:
                while piece := packed.read(PIECE):
                    copy.write(piece)
            try:
                export = verify.Export(file, keys)
            except verify.UNREADABLE as error:
                self.wrong.append(f"{LOG} cannot be checked: {error}")
                return
            export.check()
        self.right += export.right
        self.wrong += [f"{LOG}: {sentence}" for sentence in export.wrong]

    def _says_wrong(self, sentence: str) -> None:
        if len(self.wrong) < MOST:
            self.wrong.append(sentence)

    def _check_digest(self, name: str) -> None:
        with self._zip.open(name) as file:
            found = hashlib.sha256()
            while piece := file.read(PIECE):
                found.update(piece)
        if found.hexdigest() != self.manifest["files"][name]:
            self.wrong.append(f"{name} is not the file that the manifest names")

    def _lines(self, name: str) -> Iterator[str]:
        with self._zip.open(name) as file:
            while line := file.readline(LINE):
                if not line.endswith(b"\n"):
                    raise ValueError(f"a line of {name} has no end")
                yield line[:-1].decode()


class _Ledger:
    """The journals of a month, held to the balances before and after it."""

    def __init__(self, manifest: dict[str, Any], lines: Callable[[str], Iterator[str]], wrong: Wrong) -> None:
        self._manifest, self._lines, self._wrong = manifest, lines, wrong
        self._moved: dict[int, list[int]] = defaultdict(lambda: [0, 0])  # of each account: amount, entries
        self._carried: dict[int, list[str]] = defaultdict(list)  # of journals that are carried forward: their lines
        self._journals = self._entries = 0
        # Of two journals written at once the one with the higher number may come first on an account: of each account,
        # by their number there, the entries before which one is still to come.
        self._waiting: dict[int, dict[int, tuple[str, int, int]]] = defaultdict(dict)

    def check(self, right: list[str]) -> None:
        """Check everything, and say in *right* what was."""
        accounts = {each["account"]: each for each in map(json.loads, self._lines(ACCOUNTS))}
        stands = {number: list(each["opening"]) for number, each in accounts.items()}
        sums = self._read_carried()
        last = self._manifest["first"] - 1
        for line in self._lines(JOURNALS):
            journal = json.loads(line)
            if not last < journal["id"] < self._manifest["beyond"]:
                self._wrong(f"journal {journal['id']} is not of this month, or not in its place")
            last = journal["id"]
            self._check_journal(journal, accounts, stands)
        for number, waiting in self._waiting.items():
            if waiting:
                self._wrong(f"account {number}: its entry number {stands[number][1] + 1} is not here, later ones are")
        for number, each in accounts.items():
            if stands[number] != each["closing"]:
                self._wrong(f"account {number}: its entries lead to {stands[number]}, not to {each['closing']}")
        for line in sorted(
            sums ^ {f"account {number} {moved} {many}" for number, (moved, many) in self._moved.items()}
        ):
            self._wrong(f"carried forward: {line}: {'the entries do not say so' if line in sums else 'it is missing'}")
        for number in self._carried:
            self._wrong(f"carried forward: there is no journal {number} in this month")
        if (self._journals, self._entries) != (self._manifest["journals"], self._manifest["entries"]):
            self._wrong(f"there are {self._journals} journals with {self._entries} entries, not as the manifest says")
        right.append(
            f"{self._journals} journals with {self._entries} entries are whole, and lead {len(accounts)} accounts from"
            f" what they held before {self._manifest['month']} to what they held after it."
        )

    def _check_journal(
        self, journal: dict[str, Any], accounts: dict[int, dict[str, Any]], stands: dict[int, list[int]]
    ) -> None:
        name = f"journal {journal['id']}"
        sums: dict[tuple[str, str], int] = defaultdict(int)
        said = []
        for due, (line, number, amount, balance, version) in enumerate(journal["entries"], 1):
            account = accounts.get(number)
            if account is None or line != due or amount == 0:
                self._wrong(f"{name}: line {line} is not as a line has to be")
                continue
            currency, mode = account["currency"], account["mode"]
            sums[currency, mode] += amount
            said.append(f"{number} {currency} {mode} {amount}")
            self._moved[number][0] += amount
            self._moved[number][1] += 1
            self._enter(f"{name} line {line}", account, stands[number], (amount, balance, version))
        for (currency, mode), total in sums.items():
            if total:
                self._wrong(f"{name}: {currency} {mode} sums to {total}")
        reverses = "" if journal["reverses"] is None else str(journal["reverses"])
        asked = "|".join((journal["kind"], journal["round"] or "", reverses, ",".join(said)))
        if hashlib.sha256(asked.encode()).hexdigest() != journal["sha256"]:
            self._wrong(f"{name}: it is not what was asked for under its key")
        if journal["id"] in self._carried:
            self._check_journal_carried(journal, accounts)
        self._journals += 1
        self._entries += len(journal["entries"])

    def _enter(self, name: str, account: dict[str, Any], stands: list[int], entry: tuple[int, Any, Any]) -> None:
        """Add an entry to what its account holds, once those before it are there, and check what it says of that:
        nothing on an account of the house that keeps no balance.
        """
        amount, balance, version = entry
        if not account["keeps_balance"]:
            stands[:] = [stands[0] + amount, stands[1] + 1]
            if (balance, version) != (None, None):
                self._wrong(f"{name}: it says a balance where none is kept")
            return
        waiting = self._waiting[account["account"]]
        if not isinstance(version, int) or version <= stands[1] or version in waiting:
            self._wrong(f"{name}: {version} is no number that comes next on account {account['account']}")
            return
        waiting[version] = (name, amount, balance)
        while stands[1] + 1 in waiting:
            of, moved, said = waiting.pop(stands[1] + 1)
            stands[:] = [stands[0] + moved, stands[1] + 1]
            if said != stands[0] or said < 0:
                self._wrong(f"{of}: it says {said} on account {account['account']}, which should hold {stands[0]}")

    def _read_carried(self) -> set[str]:
        """Read what is carried forward, which has the digest that the log says, and return the sums of accounts."""
        sums, digest = set(), hashlib.sha256()
        for line in self._lines(CARRIED):
            digest.update(f"{line}\n".encode())
            what, number, *_ = line.split(" ", 2)
            if what == "account":
                sums.add(line)
            elif what in ("journal", "entry"):
                self._carried[int(number)].append(line)
        if digest.hexdigest() != self._manifest["carried"]:
            self._wrong("what is carried forward is not what the manifest says")
        return sums

    def _check_journal_carried(self, journal: dict[str, Any], accounts: dict[int, dict[str, Any]]) -> None:
        """Check that a journal that is carried forward is carried as it is."""
        number = journal["id"]
        said = (journal[each] for each in ("key", "sha256", "kind", "round", "reverses", "at"))
        due = [" ".join(("journal", str(number), *("-" if each is None else str(each) for each in said)))]
        for line, account, amount, balance, version in journal["entries"]:
            money = [accounts[account][each] for each in ("currency", "mode")]
            rest = ("-" if each is None else str(each) for each in (amount, balance, version))
            due.append(" ".join(("entry", str(number), str(line), str(account), *money, *rest)))
        if self._carried.pop(number) != due:
            self._wrong(f"carried forward: journal {number} is not carried as it is")


def main() -> int:
    """Check what the command line names, and say it: 0 where all is right, 1 where not, 2 where it cannot be read."""
    parser = argparse.ArgumentParser(description="Check the archive of a month.")
    parser.add_argument("archive", type=Path, help="the ZIP")
    parser.add_argument("--keys", type=Path, help="the keys of the log to believe, from elsewhere than the archive")
    given = parser.parse_args()
    try:
        archive = Archive(given.archive)
    except NotReadable as error:
        print(error)
        return 2
    archive.check()
    if given.keys:
        verify = _beside("verify")
        try:
            keys = verify.keys_of(verify.read(given.keys))
        except verify.UNREADABLE as error:
            print(ascii(f"{given.keys} cannot be read: {error}")[1:-1])
            return 2
        archive.check_log(verify, keys)
    for sentence in archive.right:
        print(ascii(sentence)[1:-1])
    for sentence in archive.wrong:
        print(ascii(f"WRONG: {sentence}")[1:-1])
    if not given.keys:
        print("The log of the month was not checked: give --keys.")
    print("Something is wrong." if archive.wrong else "All that was checked is proven.")
    return 1 if archive.wrong else 0


def _beside(name: str) -> ModuleType:
    """Load the program of that name from the folder in which this one lies, where an isolated Python looks for none."""
    sys.path.insert(0, str(Path(__file__).parent))
    return importlib.import_module(name)


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
