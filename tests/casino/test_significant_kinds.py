"""Every recorded kind of event is significant, or listed as ordinary."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

from audit import approvals
from audit.sealing import alarms
from audit.significant import detection, workflow
from players import staff
from players.account.registration import CHANGES
from players.models import CaseAction, SubmissionStatus
from players.staff import report_schedules
from tests.harness.product import APPS
from wallet.models import PAID, PaymentState, WithdrawalStatus
from wallet.payments.notifications import Decision
from wallet.seamless_wallet import host

KIND = re.compile(r"[a-z_]+\.[a-z_]+")
RECORDERS = {"record", "record_refusal", "event", "_record", "_of_player", "_done"}
# Names of hourly totals and of settings are not kinds.
IN_SQL = re.compile(
    r"(?<!audit_hour_is_open\()(?<!current_setting\()(?<!set_config\()(?<!totals = )'([a-z_]+\.[a-z_]+)'"
)  # names of hourly totals and settings are not kinds
# Kinds built from parts or passed as arguments: the text in the code, and the resulting kinds.
PUT_TOGETHER = {
    "withdrawal.{}": [f"withdrawal.{status}" for status in WithdrawalStatus],
    "payment.{}": [
        *(f"payment.{state}" for state in PaymentState if state not in (PaymentState.WAITING, *PAID)),
        *(f"payment.{decision}" for decision in (Decision.CONTRADICTED, Decision.MISMATCHED)),
    ],
    "identity.{}": [f"identity.{status}" for status in SubmissionStatus],
    "significant.{}": list(workflow.KINDS),
    "{}.{}": [
        f"{subject}.{verb}"
        for subject in ("complaint", "service")
        for verb in ("lodged", "begun", "continued", "answered", "closed")
        if (subject, verb) not in (("complaint", "lodged"), ("complaint", "begun"))
    ]
    + [f"complaint.{action}" for action in CaseAction.values],
}
HANDED_ON = {
    *CHANGES,
    *(f"case.{action}" for action in CaseAction),  # players_enter_case
    *(f"marker.{action}" for action in CaseAction),
    *staff.EVENTS.values(),
    *host.EVENTS.values(),
    *report_schedules.EVENTS.values(),
    *(
        kind
        for alarm in vars(alarms).values()
        if isinstance(alarm, alarms.Alarm)
        for kind in (alarm.begins, alarm.ends)
    ),
}


def sources(ending: str) -> Iterator[Path]:
    for app in APPS:
        for path in sorted((settings.BASE_DIR / app).rglob(f"*{ending}")):
            if "migrations" not in path.parts and "node_modules" not in path.parts:
                yield path


def texts(argument: ast.expr, constants: dict[str, str]) -> Iterator[str]:
    """Yield the possible texts of a recorder's first argument, with "{}" for each placeholder."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        yield argument.value
    elif isinstance(argument, ast.IfExp):
        yield from texts(argument.body, constants)
        yield from texts(argument.orelse, constants)
    elif isinstance(argument, ast.Name | ast.Attribute):
        name = argument.id if isinstance(argument, ast.Name) else argument.attr
        if name in constants:
            yield constants[name]
    elif isinstance(argument, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in argument.values)


def named(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the constants of a module that are texts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                yield target.id, node.value.value


@cache
def recorded() -> set[str]:
    """Return every kind that the code records literally."""
    texts_of_modules = [path.read_text() for path in sources(".py")]
    trees = [ast.parse(text) for text in texts_of_modules if any(f"{name}(" in text for name in RECORDERS)]
    found = set(HANDED_ON)
    for tree in trees:
        constants = dict(named(tree))
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in RECORDERS:
                for text in (text for argument in node.args[:2] for text in texts(argument, constants)):
                    found.update(PUT_TOGETHER.get(text, [text] if KIND.fullmatch(text) else []))
    for path in sources(".sql"):
        found.update(IN_SQL.findall(path.read_text()))
    # Kinds of requests are not events, unless the result has the same name.
    return found - (set(approvals.kinds()) - set(detection.kinds()))


def test_each_is_of_a_category_or_ordinary():
    assert recorded() - set(detection.kinds()) == set()


def test_none_is_both_and_none_is_made_up():
    assert set(detection._kinds) & detection._ordinary == set()
    assert set(detection.kinds()) - recorded() == set()


def test_the_search_sees_composed_text_and_literals_in_sql():
    assert {"withdrawal.paid", "complaint.opened", "round.settled", "personal.erased", "log.lags"} <= recorded()


def test_staff_read_a_line_about_it():
    lines = {kind: said[2] for kind, said in detection.kinds().items() if said}
    assert lines
    assert {kind: line for kind, line in lines.items() if not re.fullmatch(r"[A-Z][^.]{5,80}", line)} == {}
