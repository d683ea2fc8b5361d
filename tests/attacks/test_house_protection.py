"""The owner of the database removes or changes rows that protect players and their money.

Limits, agreements, exclusions, answers of registers, account locks, identities, findings about
duplicates, borrowed money, national rules, limits of tables, house stops, approvals, withdrawals,
significant events, liability, exchange rates. The signed log contradicts each, so the verification
of the house names it.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from django.test import override_settings
from django.utils import timezone

from audit import approvals, retention
from audit.models import Approval, RetainedData, Significant
from audit.sealing import sealer
from audit.significant import detection
from audit.verification import house
from games.models import Table, TableVersion
from players import cases
from players.identity import duplicates, verification
from players.login import locks
from players.models import (
    AccountLock,
    Agreement,
    BorrowedMoney,
    Case,
    CaseAction,
    CaseEntry,
    CaseKind,
    CaseOutcome,
    Duplicate,
    Exclusion,
    Ground,
    Identity,
    Jurisdiction,
    LimitChange,
    LimitOffer,
    NationalRuleChange,
    RegisterCheck,
    Resolution,
    RuleSource,
    Topic,
)
from players.protection import borrowed_money, exclusions, national_rules, registers
from players.support import complaints, conversations
from tests.attacks.test_house_rounds import findings, others_notice_nothing, unguarded
from tests.builders import a_submission, a_table
from tests.harness.databases import filled
from tests.people import a_member_of_staff
from tests.recorded import a_recorded_player
from tests.servers.register import PATH
from tests.wallet.payout_builders import a_withdrawal, approve
from wallet import exchange_rates, house_stop
from wallet.ledger import hourly_totals
from wallet.models import ExchangeRate, HouseStop, Withdrawal


def protect() -> None:
    """Register players with limits, an offer that was declined, exclusions, an answer of a register and a lock. Approve
    a withdrawal, change a period as two agree, stop the house twice, open a table, count liability.
    """
    national_rules.record_shipped()
    player, other = a_recorded_player(100_000), a_recorded_player(0, "GB")
    with override_settings(PLAYER_REGISTERS={"SE": PATH}):
        registers.ask(player)
    staff = a_member_of_staff("compliance")
    verification.verify(submission_id=a_submission(player).pk, by=staff)
    approve(a_withdrawal(player, 10_000))
    asked = retention.ask(what=RetainedData.MAIL, days=400, by=str(staff), person=staff.person, reason="a test")
    rule = national_rules.ask(
        where=Jurisdiction.objects.get(pk="SE"),
        rule="pause_hours",
        value=48,
        source=RuleSource.READ,
        reason="a new law",
        by=staff,
    )
    other_staff = a_member_of_staff("compliance")
    for each in (asked, rule):
        approvals.decide(
            approval_id=each.pk,
            yes=True,
            by=str(other_staff),
            person=other_staff.person,
            reason="agreed",
            may=other_staff.user.has_perm,
        )
    for one in (player, other):
        duplicates.note(player=one, ground=Ground.PAYOUT, value="SE 1")
        duplicates.note(player=one, ground=Ground.PHONE, value="+46701234567")
    paid_to = Duplicate.objects.get(ground=Ground.PAYOUT)
    before = ""
    for resolution in (Resolution.DIFFERENT, Resolution.SAME):
        duplicates.resolve(
            first_id=player.pk,
            second_id=other.pk,
            shown=[paid_to.pk],
            resolution=resolution,
            note="",
            by=staff,
            before=before,
        )
        before = resolution
    exclusions.pause(player=player, by=str(player))
    exclusions.exclude(player=other, days=None, reason="a test", by=a_member_of_staff())
    locks.lock(player=other, reason="a test", by=staff)
    borrowed_money.block_deposits(player=other, reason="a test", by=a_member_of_staff("support"))
    case = Case.objects.get(
        pk=cases.ask_source_of_funds(player=player, due_at=datetime(2100, 1, 1, tzinfo=UTC), reason="a test", by=staff)
    )
    cases.act(case=case, action=CaseAction.ASSIGNED, by=staff, to=str(staff))
    cases.act(case=case, action=CaseAction.HELD, by=staff, words="a test")
    cases.open_case(other.pk, CaseKind.MARKER, subject="nights")
    decided, withdrawn = (
        conversations.begin(player=player, topic=Topic.COMPLAINT, text="That was no natural.") for _ in range(2)
    )
    seen = decided.messages.latest("pk").pk
    complaints.decide(
        by=staff, conversation_id=decided.pk, verdict=CaseOutcome.REJECTED, reasons="It was one.", seen=seen
    )
    complaints.reopen(player=player, conversation_id=decided.pk, text="But.")
    complaints.withdraw(player=player, conversation_id=withdrawn.pk)
    supervisor = a_member_of_staff("supervisor")
    house_stop.stop_house(reason="a test", by=supervisor)
    house_stop.resume_house(reason="it is over", by=supervisor)
    house_stop.stop_house(reason="another test", by=supervisor)
    finance = a_member_of_staff("finance")
    for value in (11, 12):
        rate = exchange_rates.Rate("SEK", date(2026, 3, 20), Decimal(value))
        exchange_rates.store([rate], by=finance, is_imported=False)
    a_table()
    hourly_totals.roll(timezone.now().replace(minute=0, second=0, microsecond=0))
    sealer.seal()
    detection.find()
    sealer.seal()


@pytest.fixture(scope="module")
def cloned_from(django_db_setup, django_db_blocker) -> Iterator[str]:
    with django_db_blocker.unblock(), filled(protect) as name:
        yield name


def test_an_untouched_house_is_verified(cloned_db):
    national_rules.record_shipped()  # a second time, which says nothing
    assert LimitChange.objects.count()
    assert LimitOffer.objects.count()
    assert Exclusion.objects.count() == 2
    assert Significant.objects.count()
    assert RegisterCheck.objects.count()
    assert findings("protection") == ""
    assert findings("ledger") == ""
    assert house.run(is_whole=False) == []


# Statement run as superuser -> finding. `{…}`: from the rows before.
TAKEN = {
    "a limit": (
        "DELETE FROM players_limitchange WHERE id = {change}",
        "player:{player}: change {change} of a limit: amount: the stored value is nothing; event ",
    ),
    "a limit that was raised": (
        "UPDATE players_limitchange SET amount = 2 * amount WHERE id = {change}",
        "player:{player}: change {change} of a limit: amount: the stored value is 200000000000; event ",
    ),
    "whether a limit waits for a confirmation": (
        "UPDATE players_limitchange SET needs_confirmation = NOT needs_confirmation WHERE id = {change}",
        "player:{player}: change {change} of a limit: needs confirmation: the stored value is true; event ",
    ),
    "a limit that nobody has set": (
        (
            'INSERT INTO players_limitchange SELECT (jsonb_populate_record(c, \'{{"id": 77, "amount": null}}\')).*'
            " FROM players_limitchange AS c WHERE id = {change}"
        ),
        "player:{player}: change 77 of a limit: no event records it.",
    ),
    "the answer to the offer of limits": (
        "DELETE FROM players_limitoffer",
        "player:{other}: the answer to the offer of limits: exists: the stored value is false; event ",
    ),
    "an agreement to the terms": (
        "DELETE FROM players_agreement WHERE player_id = {player}",
        "player:{player}: the agreement to the terms {terms}: exists: the stored value is false; event ",
    ),
    "an agreement that nobody has made": (
        "INSERT INTO players_agreement (player_id, terms_version) VALUES ({player}, 'next')",
        "player:{player}: the agreement to the terms next: no event records it.",
    ),
    "an exclusion": (
        "DELETE FROM players_exclusion WHERE id = {exclusion}",
        "player:{other}: exclusion {exclusion}: kind: the stored value is nothing; event ",
    ),
    "an exclusion that was made shorter": (
        "UPDATE players_exclusion SET until = begun + interval '1 day' WHERE id = {exclusion}",
        "player:{other}: exclusion {exclusion}: until: the stored value is ",
    ),
    "an exclusion that was lifted without a trace": (
        (
            "INSERT INTO players_exclusionlift (exclusion_id, reason, asked_by, decided_by)"
            " VALUES ({exclusion}, 'x', 'staff:1', 'staff:2')"
        ),
        "player:{other}: the lifting of exclusion {exclusion}: no event records it.",
    ),
    "an answer of a register": (
        "DELETE FROM players_registercheck WHERE id = {check}",
        "player:{player}: register check {check}: outcome: the stored value is nothing; event ",
    ),
    "an answer that said otherwise": (
        "UPDATE players_registercheck SET outcome = 'excluded' WHERE id = {check}",
        "player:{player}: register check {check}: outcome: the stored value is excluded; event ",
    ),
    "an answer that was made to hold longer": (
        "UPDATE players_registercheck SET at = at + interval '1 hour' WHERE id = {check}",
        "player:{player}: register check {check}: at: the stored value is ",
    ),
    "an answer that no register gave": (
        "INSERT INTO players_registercheck (id, player_id, register, outcome) VALUES (77, {player}, 'house', 'clear')",
        "player:{player}: register check 77: no event records it.",
    ),
    "an account lock": (
        "DELETE FROM players_accountlock WHERE id = {lock}",
        "player:{other}: lock {lock} of the account: locks: the stored value is nothing; event ",
    ),
    "an account lock that became an unlocking": (
        "UPDATE players_accountlock SET locks = false WHERE id = {lock}",
        "player:{other}: lock {lock} of the account: locks: the stored value is false; event ",
    ),
    "an account that was unlocked without a trace": (
        (
            "INSERT INTO players_accountlock (id, player_id, locks, reason, by_id)"
            " SELECT 77, player_id, false, 'x', by_id FROM players_accountlock WHERE id = {lock}"
        ),
        "player:{other}: lock 77 of the account: no event records it.",
    ),
    "a confirmed identity": (
        "DELETE FROM players_identity WHERE player_id = {player} AND by LIKE 'staff:%'",
        "player:{player}: the identity recorded by {staff}: exists: the stored value is false; event ",
    ),
    "an identity that nobody has confirmed": (
        "INSERT INTO players_identity (player_id, by) VALUES ({other}, 'staff:77')",
        "player:{other}: the identity recorded by staff:77: no event records it.",
    ),
    "a mark of borrowed money": (
        "DELETE FROM players_borrowed_money WHERE id = {mark}",
        "player:{other}: mark {mark} of borrowed money: is marked: the stored value is nothing; event ",
    ),
    "a mark of borrowed money that became its removal": (
        "UPDATE players_borrowed_money SET is_marked = false WHERE id = {mark}",
        "player:{other}: mark {mark} of borrowed money: is marked: the stored value is false; event ",
    ),
    "a mark of borrowed money that was removed without a trace": (
        (
            "INSERT INTO players_borrowed_money (id, player_id, is_marked, reason, by_id)"
            " SELECT 77, player_id, false, 'x', by_id FROM players_borrowed_money WHERE id = {mark}"
        ),
        "player:{other}: mark 77 of borrowed money: no event records it.",
    ),
    "a likely duplicate": (
        "DELETE FROM players_duplicate WHERE id = {phone}",
        "player:{other}: the duplicate of player:{player} by phone: exists: the stored value is false; event ",
    ),
    "a likely duplicate that was found without a trace": (
        (
            "INSERT INTO players_duplicate (first_id, second_id, ground, resolution, note)"
            " VALUES ({player}, {other}, 'name', '', '')"
        ),
        "player:{other}: the duplicate of player:{player} by name: no event records it.",
    ),
    "that two accounts are one person": (
        "UPDATE players_duplicate SET resolution = 'different' WHERE id = {paid_to}",
        "player:{other}: the finding about player:{player} by payout: resolution: the stored value is different;",
    ),
    "a finding of which none is left": (
        "UPDATE players_duplicate SET resolution = '', resolved_by_id = NULL, resolved_at = NULL WHERE id = {paid_to}",
        "player:{other}: the finding about player:{player} by payout: by: the stored value is nothing; event ",
    ),
    "a finding that was made older, so that another decides": (
        "UPDATE players_duplicate SET resolved_at = resolved_at - interval '1 hour' WHERE id = {paid_to}",
        "player:{other}: the finding about player:{player} by payout: at: the stored value is ",
    ),
    "a finding that nobody has made": (
        (
            "UPDATE players_duplicate AS d SET resolution = 'different', resolved_by_id = s.id, resolved_at = now()"
            " FROM players_staff AS s WHERE d.id = {phone}"
        ),
        "player:{other}: the finding about player:{player} by phone: no event records it.",
    ),
    "a national rule": (
        "UPDATE players_jurisdiction SET exclusion_days = 1 WHERE code = 'GB'",
        "rule:GB:exclusion_days: the value in force is 1; event ",
    ),
    "a national rule that two people changed": (
        "UPDATE players_jurisdiction SET pause_hours = 24 WHERE code = 'SE'",
        "rule:SE:pause_hours: the value in force is 24; event ",
    ),
    "a national rule that was removed": (
        "UPDATE players_jurisdiction SET highest_month_deposit = NULL WHERE code = 'DE'",
        "rule:DE:highest_month_deposit: the value in force is nothing; event ",
    ),
    "the source of a national rule": (
        (
            "UPDATE players_national_rule_change SET source = 'c'"
            " WHERE jurisdiction_id = 'GB' AND rule = 'may_hurry_results'"
        ),
        "rule:GB:may_hurry_results: the source is c; event ",
    ),
    "the change of a national rule": (
        "DELETE FROM players_national_rule_change WHERE id = {rule}",
        "rule:SE:pause_hours: change of approval {agreed}: after: the stored value is nothing; event ",
    ),
    "what a national rule was before its change": (
        "UPDATE players_national_rule_change SET before = '12' WHERE id = {rule}",
        "rule:SE:pause_hours: change of approval {agreed}: before: the stored value is 12; event ",
    ),
    "the change of a national rule that nobody has made": (
        (
            "INSERT INTO players_national_rule_change (id, jurisdiction_id, rule, before, after, source, approval_id)"
            " VALUES (77, 'SE', 'pause_hours', '24', '48', 'R', {approval})"
        ),
        "rule:SE:pause_hours: change 77: no event records it.",
    ),
    "a national rule that never was in the release": (
        (
            "INSERT INTO players_national_rule_change (id, jurisdiction_id, rule, after, source)"
            " VALUES (77, 'RO', 'pause_hours', '24', 'c')"
        ),
        "rule:RO:pause_hours: change 77: no event records it.",
    ),
    "a jurisdiction": (
        (
            'INSERT INTO players_jurisdiction SELECT (jsonb_populate_record(j, \'{{"code": "XX"}}\')).*'
            " FROM players_jurisdiction AS j WHERE code = 'RO'"
        ),
        "rule:XX:pause_hours: no event records it.",
    ),
    "an entry of a case": (
        "DELETE FROM players_case_entry WHERE case_id = {case} AND action = 'held'",
        "case:{case}: entry {held}: the stored value is nothing; event ",
    ),
    "an entry of a case that nobody made": (
        (
            'INSERT INTO players_case_entry (id, case_id, by, action, "to", text)'
            " VALUES (77, {case}, 'staff:1', 'noted', '', 'x')"
        ),
        "case:{case}: entry 77 (noted): no event records it.",
    ),
    "a case that holds no payouts any more": (
        "UPDATE players_case SET holds = false WHERE id = {case}",
        'case:{case}: the stored value is {{"due": ',
    ),
    "a case that was closed without a trace": (
        (
            "UPDATE players_case SET closed_at = now(), outcome = 'no_concern', closed_by_id = {number}"
            " WHERE kind = 'marker'"
        ),
        'case:{marker}: the stored value is {{"due": ',
    ),
    "a request for approval that was another": (
        (
            "UPDATE audit_approval SET request = replace(request, '400', '4'),"
            " sha256 = sha256(convert_to(replace(request, '400', '4'), 'UTF8')) WHERE id = {approval}"
        ),
        "approval:{approval}: request: request: the stored value is ",
    ),
    "who asked for an approval": (
        "UPDATE audit_approval SET person = gen_random_uuid() WHERE id = {approval}",
        "approval:{approval}: request: person: the stored value is ",
    ),
    "a decision": (
        "UPDATE audit_decision SET verdict = 'refused' WHERE approval_id = {approval}",
        "approval:{approval}: decision: verdict: the stored value is refused; event ",
    ),
    "an approval with its decision": (
        (
            "WITH gone AS (DELETE FROM audit_decision WHERE approval_id = {approval})"
            " DELETE FROM audit_approval WHERE id = {approval}"
        ),
        "approval:{approval}: request: kind: the stored value is nothing; event ",
    ),
    "an approval that nobody gave": (
        (
            "WITH asked AS (INSERT INTO audit_approval SELECT (jsonb_populate_record(a, '{{\"id\": 77}}')).*"
            " FROM audit_approval AS a WHERE id = {approval})"
            " INSERT INTO audit_decision SELECT (jsonb_populate_record(d, '{{\"approval_id\": 77}}')).*"
            " FROM audit_decision AS d WHERE approval_id = {approval}"
        ),
        "approval:77: is approved, but no event records this.",
    ),
    "a house stop": (
        "DELETE FROM wallet_housestop WHERE id = {stop}",
        "house stop {stop}: by: the stored value is nothing; event ",
    ),
    "the end of a house stop without a trace": (
        "UPDATE wallet_housestop SET ended_at = now(), ended_by_id = by_id, ended_reason = 'x' WHERE id = {stop}",
        "house stop {stop}: no event house.resumed is recorded for it.",
    ),
    "the status of a withdrawal": (
        "UPDATE wallet_withdrawal SET status = 'sending' WHERE id = {withdrawal}",
        "withdrawal:{withdrawal}: is sending; its newest event says approved.",
    ),
    "the bank account of a withdrawal": (
        "UPDATE wallet_withdrawal SET account_id = gen_random_uuid() WHERE id = {withdrawal}",
        "withdrawal:{withdrawal}: step {step}: bank account: the stored value is ",
    ),
    "who approved a withdrawal": (
        "UPDATE wallet_withdrawal_step SET by = 'staff:77' WHERE id = {step}",
        "withdrawal:{withdrawal}: step {step}: by: the stored value is staff:77; event ",
    ),
    "a step of a withdrawal": (
        "DELETE FROM wallet_withdrawal_step WHERE id = {step}",
        "withdrawal:{withdrawal}: step {step}: after: the stored value is nothing; event ",
    ),
    "a step that nobody took": (
        (
            "INSERT INTO wallet_withdrawal_step SELECT (jsonb_populate_record(t, '{{\"id\": 77}}')).*"
            " FROM wallet_withdrawal_step AS t WHERE id = {step}"
        ),
        "withdrawal:{withdrawal}: step 77 to approved: no event records it.",
    ),
    "the limits of a table": (
        "UPDATE games_tableversion SET limits = jsonb_set(limits, '{{SEK,bets,tie,1}}', '100000000')",
        "table:{table}: version 1: limits: the stored value is ",
    ),
    "a significant event": (
        "DELETE FROM audit_significant WHERE id = {significant}",
        "significant:{significant}: is missing; event ",
    ),
    "what a significant event says": (
        "UPDATE audit_significant SET title = 'Nothing' WHERE id = {significant}",
        "significant:{significant} ({key}): was changed afterwards; event ",
    ),
    "an exchange rate": (
        "UPDATE wallet_exchange_rate SET rate = 110 WHERE id = {rate}",
        "exchange-rates:EUR: rate of SEK on 2026-03-20: rate: the stored value is 110; event ",
    ),
    "the correction of an exchange rate": (
        "DELETE FROM wallet_exchange_rate WHERE id = {rate}",
        "exchange-rates:EUR: rate of SEK on 2026-03-20: rate: the stored value is nothing; event ",
    ),
    "which of two exchange rates is the newer one": (
        "UPDATE wallet_exchange_rate SET id = id + 77 WHERE id = (SELECT min(id) FROM wallet_exchange_rate)",
        "exchange-rates:EUR: rate of SEK on 2026-03-20: rate: the stored value is 12; event ",
    ),
    "an exchange rate that nobody entered": (
        (
            "INSERT INTO wallet_exchange_rate (day, base, currency, rate, is_imported, by_id)"
            " SELECT day + 1, base, currency, 1, false, by_id FROM wallet_exchange_rate WHERE id = {rate}"
        ),
        "exchange-rates:EUR: rate 1 of SEK on 2026-03-21: no event records it.",
    ),
    "the totals of an hour": (
        "UPDATE wallet_ledgerhourlytotal SET amount = amount - 1 WHERE account_kind || journal_kind = 'cashdeposit'",
        "cash SEK R: the stored values are balance 89999, held 0; event ",
    ),
    "what was held at an hour": (
        (
            "INSERT INTO wallet_pasthold SELECT t.hour + interval '1 hour', gen_random_uuid(), a.id, 700"
            " FROM (SELECT max(hour) AS hour FROM wallet_ledgerhourlytotal) AS t"
            " JOIN wallet_account AS a ON a.owner_id = {player} AND a.kind = 'cash' AND a.mode = 'R'"
        ),
        "cash SEK R: the stored values are balance 90000, held 700; event ",
    ),
}


# A table with what belongs to its rows.
TABLES = re.compile(r"\b(?:players|wallet|audit|games)_(?:case|exclusion|\w+)")


def together() -> list[list[str]]:
    """Group what is taken so that no group names a table twice: a verification takes half a second."""
    groups: list[tuple[set[str], list[str]]] = []
    for what, (statement, _) in TAKEN.items():
        tables = {*TABLES.findall(statement)}
        free = next((group for group in groups if not group[0] & tables), None)
        if free is None:
            groups.append(free := (set(), []))
        free[0].update(tables)
        free[1].append(what)
    return [group for _, group in groups]


@pytest.mark.parametrize("group", together(), ids=lambda group: group[0])
def test_is_named(cloned_db, group):
    change = LimitChange.objects.earliest("pk")
    exclusion = Exclusion.objects.get(kind="staff")
    significant = Significant.objects.earliest("pk")
    withdrawal = Withdrawal.objects.get()
    rows = {
        "check": RegisterCheck.objects.filter(player=change.player_id).latest("pk").pk,
        "staff": Identity.objects.get(player=change.player_id, by__startswith="staff:").by,
        "mark": BorrowedMoney.objects.get().pk,
        "lock": AccountLock.objects.get().pk,
        "approval": Approval.objects.exclude(kind=national_rules.KIND).get().pk,
        "agreed": Approval.objects.get(kind=national_rules.KIND).pk,
        "rule": NationalRuleChange.objects.exclude(approval=None).get().pk,
        "paid_to": Duplicate.objects.get(ground=Ground.PAYOUT).pk,
        "phone": Duplicate.objects.get(ground=Ground.PHONE).pk,
        "case": Case.objects.get(kind=CaseKind.FUNDS).pk,
        "held": CaseEntry.objects.get(action=CaseAction.HELD).pk,
        "marker": Case.objects.get(kind=CaseKind.MARKER).pk,
        "number": Case.objects.get(kind=CaseKind.FUNDS).owner_id,
        "stop": HouseStop.objects.get(ended_at=None).pk,
        "rate": ExchangeRate.objects.latest("pk").pk,
        "withdrawal": withdrawal.pk,
        "step": withdrawal.steps.latest("pk").pk,
        "change": change.pk,
        "player": change.player_id,
        "other": exclusion.player_id,
        "terms": Agreement.objects.filter(player=change.player_id).get().terms_version,
        "exclusion": exclusion.pk,
        "table": Table.objects.get().pk,
        "significant": significant.pk,
        "key": significant.key,
    }
    assert TableVersion.objects.count() == 1
    with unguarded(cloned_db) as superuser:
        for what in group:
            assert superuser.execute(TAKEN[what][0].format(**rows).encode()).rowcount, what
    others_notice_nothing()
    said = findings("protection", "ledger")
    assert {what: text for what in group if (text := TAKEN[what][1].format(**rows)) not in said} == {}, said
