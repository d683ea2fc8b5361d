"""Rules for migration statements while the previous release is running, beyond those of squawk.

The previous release continues with its own function calls, its own rows and its own privileges. So
everything that is not a pure addition needs an exception in ``migrations.toml`` with the reason why
it is safe.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

# In this order: a dollar may start a body, and the E of an escaped string is not a name.
TOKEN: Final = re.compile(
    r"""
      (?P<comment> --[^\n]* | /\* )
    | (?P<string> (?<!\w)[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' )
    | (?P<name> "(?:[^"]|"")*" )
    | (?P<body> (?<![\w$]) \$(?P<tag> (?:[^\W\d]\w*)? )\$ .*? \$(?P=tag)\$ )
    | (?P<end> ; )
    """,
    re.VERBOSE | re.DOTALL,
)
BLOCK: Final = re.compile(r"/\*|\*/")


@dataclass(frozen=True)
class Statement:
    """One statement without comments: its text, the text without string contents (*bare*), and its
    bodies.
    """

    text: str
    bare: str
    bodies: tuple[str, ...]

    @property
    def word(self) -> str:
        """The first word, in capitals."""
        found = re.match(r"[\s(]*(\w+)", self.bare)
        return found[1].upper() if found else ""


def statements(script: str) -> Iterator[Statement]:
    """Yield the statements in order."""
    text, bare, at = "", "", 0
    bodies: list[str] = []
    for kind, begin, end in (*_tokens(script), ("end", len(script), len(script))):
        between, token = script[at:begin], script[begin:end]
        at = end
        if kind == "comment":
            text, bare = f"{text}{between} ", f"{bare}{between} "
            continue
        text, bare = text + between, bare + between
        if kind == "end":
            if bare.strip():
                yield Statement(text.strip(), bare.strip(), tuple(bodies))
            text, bare, bodies = "", "", []
            continue
        text += token
        bare += token if kind == "name" else "''"
        if kind in ("body", "string"):
            bodies.append(token)


def without_comments(script: str) -> str:
    """Return a script with a blank for each comment."""
    parts, at = [], 0
    for kind, begin, end in _tokens(script):
        if kind == "comment":
            parts.append(script[at:begin])
            at = end
    return " ".join([*parts, script[at:]])


def _tokens(script: str) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of quoted text, comments, and statement ends."""
    at = 0
    while found := TOKEN.search(script, at):
        at = _end_of_block(script, found.end()) if found[0] == "/*" else found.end()
        yield str(found.lastgroup), found.start(), at


def _end_of_block(script: str, at: int) -> int:
    """Return the end of a comment that started before *at*. Comments can be nested."""
    depth = 1
    while depth and (found := BLOCK.search(script, at)):
        depth += 1 if found[0] == "/*" else -1
        at = found.end()
    return at if not depth else len(script)


AGAIN: Final = "not-begun-again"
CODE: Final = "code"
FUNCTION: Final = "replaces-function"
LOCKED: Final = "locks-table"
NARROWER: Final = "narrows"
RIGHTS: Final = "takes-rights"
RUN: Final = "runs-function"
SEVERAL: Final = "several-tables"
TIMEOUT: Final = "waits-for-locks"
TRIGGER: Final = "changes-trigger"
UNINDEXED: Final = "drops-index"
WRITTEN: Final = "writes-in-place"

NAME: Final = r'(?:(?:"?public"?\.)?"?(?P<name>\w+)"?)'
TABLE: Final = rf"ALTER\s+TABLE\s+(?:IF\s+EXISTS\s+)?(?:ONLY\s+)?{NAME}"
ROUTINE: Final = "(?:FUNCTION|PROCEDURE|ROUTINE|AGGREGATE)"

WAITS: Final = re.compile(r"\b(?:set\s+(?:local\s+|session\s+)?|reset\s+|set_config\s*\(\s*')lock_timeout", re.I)
# Statements with an immediate effect. The body of a new function takes effect later.
RUNS: Final = re.compile(
    r"CALL|CLUSTER|COPY|DELETE|EXECUTE|EXPLAIN|INSERT|MERGE|REFRESH|REINDEX|SELECT|TRUNCATE|UPDATE|VACUUM|VALUES|WITH"
)
REWRITES: Final = re.compile(r"\b(?:UPDATE|DELETE|MERGE|TRUNCATE|CLUSTER|VACUUM|REINDEX|REFRESH)\b", re.I)
CALLED: Final = re.compile(r"\b((?:audit|casino|games|players|wallet)_\w+)\"?\s*\(", re.I)
INTO: Final = re.compile(r"\bINTO\s+[\w.\"]+", re.I)  # columns after it look like arguments
MADE_TABLE: Final = re.compile(rf"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?{NAME}", re.I)
MADE_FUNCTION: Final = re.compile(rf"CREATE\s+{ROUTINE}\s+{NAME}", re.I)
REVOKED_HERE: Final = re.compile(rf"REVOKE\s+[\w\s,]+?\s+ON\s+{ROUTINE}\s+(?P<names>.+?)\s+FROM\b", re.I | re.S)
TRIGGERED: Final = r"(?:CREATE\s+(?:OR\s+REPLACE\s+)?(?:CONSTRAINT\s+)?|DROP\s+|ALTER\s+)(?:EVENT\s+)?TRIGGER\b"
HELD: Final = tuple(
    re.compile(pattern, re.I | re.S)
    for pattern in (TABLE, rf"LOCK\s+(?:TABLE\s+)?(?:ONLY\s+)?{NAME}", rf"{TRIGGERED}.*?\bON\s+{NAME}")
)
# Statements that fail if the object exists, and the clauses that prevent this.
MADE: Final = re.compile(
    r"CREATE\s+(?:UNIQUE\s+|CONSTRAINT\s+)?(?P<kind>FUNCTION|PROCEDURE|TRIGGER|TABLE|INDEX|SEQUENCE|TYPE|VIEW|SCHEMA)\s+"
    # IF NOT EXISTS accepts an invalid index.
    r"(?:(?P<beside>CONCURRENTLY\s+(?:IF\s+NOT\s+EXISTS\s+)?)|(?!CONCURRENTLY\b|IF\b))"
    rf"{NAME}|{TABLE.replace('name', 'table')}.*?"
    rf"\bADD\s+(?:CONSTRAINT|COLUMN)\s+(?!IF\b){NAME.replace('name', 'part')}",
    re.I | re.S,
)
GONE: Final = re.compile(rf"\bDROP\s+\w+\s+(?:CONCURRENTLY\s+)?IF\s+EXISTS\s+{NAME}", re.I)


@dataclass(frozen=True)
class Rule:
    """A kind of statement that can break the previous release, and the reason.

    Objects created in the same migration are exempt.
    """

    name: str
    pattern: re.Pattern[str]
    message: str


def _rule(name: str, pattern: str, message: str) -> Rule:
    return Rule(name, re.compile(pattern, re.I | re.S), message)


RULES: Final = (
    _rule(
        TRIGGER,
        rf"{TRIGGERED}(?:.*?\bON\s+{NAME})?",
        "a trigger comes, goes or changes: play waits for it, and is refused or not refused from then on",
    ),
    _rule(
        TRIGGER,
        rf"{TABLE}\s+(?:ENABLE|DISABLE)\s+(?:(?:ALWAYS|REPLICA)\s+)?(?:TRIGGER|RULE)\b",
        "a trigger sleeps or wakes",
    ),
    _rule(
        FUNCTION,
        rf"(?:CREATE\s+OR\s+REPLACE|ALTER)\s+(?:{ROUTINE}|VIEW|RULE)\s+{NAME}"
        rf"|DROP\s+(?:PROCEDURE|ROUTINE|AGGREGATE)\s+(?:IF\s+EXISTS\s+)?{NAME.replace('name', 'dropped')}",
        "the older version calls this from now on, with what it gives and for what it expects",
    ),
    _rule(RIGHTS, r"(?:ALTER\s+DEFAULT\s+PRIVILEGES\b.*?)?\bREVOKE\b", "somebody may do less from now on"),
    _rule(
        RIGHTS,
        rf"(?:CREATE|ALTER)\s+POLICY\b|(?:CREATE|ALTER|DROP)\s+ROLE\b|{TABLE}\s+(?:ENABLE|FORCE)\s+ROW\s+LEVEL\s+SECURITY"
        r"|ALTER\s+\w+\s+\S+\s+OWNER\s+TO\b",
        "somebody may do less from now on",
    ),
    _rule(LOCKED, rf"LOCK\s+(?:TABLE\s+)?(?:ONLY\s+)?{NAME}", "play waits until this migration ends"),
    _rule(
        NARROWER,
        rf"{TABLE}\b.*?\bADD\s+(?:CONSTRAINT\s+\S+\s+)?(?:CHECK|UNIQUE|EXCLUDE|FOREIGN\s+KEY|PRIMARY\s+KEY|NOT\s+NULL)\b",
        "the older version may write what is refused from now on",
    ),
    _rule(
        NARROWER,
        rf"CREATE\s+UNIQUE\s+INDEX\b.*?\bON\s+(?:ONLY\s+)?{NAME}",
        "the older version may write twice what is refused from now on",
    ),
    _rule(
        NARROWER,
        rf"{TABLE}\b.*?\bALTER\s+(?:COLUMN\s+)?\S+\s+DROP\s+(?:DEFAULT|IDENTITY)\b|ALTER\s+DOMAIN\b",
        "the older version does not say what has no default any longer",
    ),
    _rule(
        UNINDEXED,
        rf"DROP\s+INDEX\s+(?:CONCURRENTLY\s+)?(?:IF\s+EXISTS\s+)?{NAME}",
        "what it kept from being twice may be, and what found by it (ON CONFLICT) fails",
    ),
)


@dataclass
class Found:
    """The objects that the statements of one migration create and drop, in order."""

    tables: set[str] = field(default_factory=set)  # created in it
    functions: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)  # tables that may be in use
    recreated: set[str] = field(default_factory=set)  # dropped and created again in it

    def find_faults(self, statements: Sequence[Statement], *, is_atomic: bool) -> Iterator[tuple[str, str]]:
        """Yield rule and message of each finding."""
        if not is_atomic:
            yield from self._check_repeatable(statements)
        for statement in statements:
            if statement.word != "CREATE" and WAITS.search(statement.text):
                yield TIMEOUT, "it sets for itself how long it waits for a lock, with play behind it"
            if statement.word == "DO":
                yield CODE, "a block is run that nobody has read here: say in the exceptions what it does"
                for body in statement.bodies:
                    yield from self._check_block(without_comments(body))
            else:
                yield from self._check_statement(statement)
            self._remember(statement)

    def _check_repeatable(self, statements: Sequence[Statement]) -> Iterator[tuple[str, str]]:
        """Yield statements that fail when the migration is repeated after an interruption.

        `migrate` repeats it after each lock timeout, and an index built concurrently remains
        invalid.
        """
        gone: set[str] = set()
        for statement in statements:
            if (made := MADE.match(statement.bare)) and (len(statements) > 1 or made["beside"]):
                name = (made["name"] or made["part"]).lower()
                if name in gone:
                    self.recreated.add(name)
                else:
                    yield (
                        AGAIN,
                        f"it may be cut short, and is there when it is begun again: {_beginning(statement.text)}",
                    )
            gone |= {name.lower() for name in GONE.findall(statement.bare)}

    def _check_statement(self, statement: Statement) -> Iterator[tuple[str, str]]:
        for rule in RULES:
            if (found := rule.pattern.match(statement.bare)) and not self._is_of_here(rule, found, statement):
                yield rule.name, f"{rule.message}: {_beginning(statement.text)}"
        if RUNS.fullmatch(statement.word):
            yield from self._look_at_action(statement.bare, statement.text)

    def _check_block(self, body: str) -> Iterator[tuple[str, str]]:
        """Yield the findings in the body of a block, also in statements that it executes
        dynamically.
        """
        for rule in RULES:
            if found := rule.pattern.search(body):
                yield rule.name, f"{rule.message}: {_beginning(found[0])}"
        yield from self._look_at_action(body, body)

    def _look_at_action(self, searched: str, text: str) -> Iterator[tuple[str, str]]:
        if REWRITES.search(searched):
            yield WRITTEN, f"rows of a table in use are held while they are rewritten: {_beginning(text)}"
        called = {name.lower() for name in CALLED.findall(INTO.sub("INTO ", searched))}
        called |= {each for each in self.functions if re.search(rf"\b{each}\b\"?\s*\(", searched, re.I)}
        for name in sorted(called):
            yield RUN, f"{name} is run, which may do anything: say in the exceptions what it does"

    def _is_of_here(self, rule: Rule, found: re.Match[str], statement: Statement) -> bool:
        """Return whether the statement is about an object that the same migration created."""
        named: Mapping[str, str | None] = found.groupdict()
        if rule.name == FUNCTION:
            return (named["name"] or "").lower() in self.functions
        if rule.name == RIGHTS and (revoked := REVOKED_HERE.match(statement.bare)):
            names = {re.sub(r"\(.*|[\"\s]|public\.", "", each).lower() for each in revoked["names"].split(", ")}
            return names <= self.functions
        return (named.get("name") or "").lower() in (self.recreated if rule.name == UNINDEXED else self.tables)

    def _remember(self, statement: Statement) -> None:
        if made := MADE_TABLE.match(statement.bare):
            self.tables.add(made["name"].lower())
        if made := MADE_FUNCTION.match(statement.bare):
            self.functions.add(made["name"].lower())
        held = {each["name"].lower() for pattern in HELD if (each := pattern.match(statement.bare))}
        self.held |= held - self.tables


def _beginning(text: str) -> str:
    return " ".join(text.split())[:60]
