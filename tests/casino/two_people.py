"""All actions that need two people, with a valid request for each and every known way to bypass
it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.test import Client
from django.urls import reverse

from accounts import closing
from audit import approvals, retention
from audit.models import Approval, RetainedData, Retention
from games.change_requests import requests as asking
from games.models import Phase, Table, TableVersion, Void, VoidReason
from games.models.rounds import round_code
from games.shared import malfunction
from games.tables.default_tables import baccarat_limits
from players import staff
from players.account import closures
from players.login import locks, second_factor
from players.models import (
    Case,
    CaseOutcome,
    ExclusionLift,
    Jurisdiction,
    Player,
    RuleSource,
    Staff,
    StaffAction,
    StaffChange,
    User,
)
from players.protection import borrowed_money, exclusions, national_rules, screening
from tests.builders import a_player, a_submission, a_table, a_verified_player, other_limits
from tests.harness.owner import update_as_owner
from tests.live.at_table import a_live_table, advance_to, bet
from tests.people import a_member_of_staff, a_visitor
from tests.wallet import adjusting, studios
from tests.wallet.at_the_bank import a_payment, call_back, statement
from tests.wallet.payout_builders import a_withdrawal, an_account
from wallet import withdrawals
from wallet.ledger import accounts
from wallet.models import Mode, Partner, PartnerKind, PaymentState, Withdrawal, WithdrawalStatus
from wallet.payments import held_deposits, notifications
from wallet.seamless_wallet import partners
from wallet.withdrawals import releases
from wallet.withdrawals.releases import facts_of

MONEY = 10_000
LARGE = withdrawals.TWO_PEOPLE_ABOVE["SEK"] + 1


@dataclass(frozen=True)
class Way:
    """A statement with which the web login might do it alone, and the message or SQLSTATE of the
    refusal.
    """

    statement: str
    refusal: str
    values: Sequence[int | str | UUID] = ()


class Action(ABC):
    """An action that needs two people, on a subject that each instance creates."""

    kind: str
    asking: str = "supervisor"  # role
    deciding: str = "supervisor"
    event: str = ""  # recorded by the action itself
    # Functions that format a value of the request on the page of the second person; None: the page omits it. Other
    # values are shown as they are, and amounts as money.
    written: Mapping[str, Callable[[Any], str] | None] = {}
    shows: Sequence[str] = ()  # what else the second person reads there
    has_page: bool = True  # of the subject, which the second person can open

    @abstractmethod
    def __init__(self) -> None: ...

    @abstractmethod
    def ask(self, by: Staff) -> Approval:
        """Request the action with the service."""

    def page(self) -> tuple[str, Mapping[str, object]] | None:
        """Return the URL of the request form and its data; None if the form has several steps."""
        return None

    @abstractmethod
    def is_done(self) -> bool: ...

    def ways(self, asked: Approval) -> Sequence[Way]:
        """Return the ways to bypass *asked* while it waits for a decision."""
        return ()


class Adjustment(Action):
    kind, asking, deciding, event = "balance.adjust", "support", "finance", "balance.adjusted"
    written = {
        "key": None,
        "mode": lambda _: "real",
        "player": "player:{}".format,
        "why": lambda _: "A round was not recorded correctly.",
    }
    shows = ("Available now SEK 100.00", "Available afterwards SEK 105.00")

    def __init__(self) -> None:
        self.player = a_player(real=MONEY)

    def ask(self, by: Staff) -> Approval:
        return adjusting.ask(self.player, 500, by=by)

    def page(self) -> tuple[str, Mapping[str, object]]:
        sent = {"mode": "R", "way": "up", "amount": "5", "why": "round", "reason": "ticket 12"}
        return reverse("staff_player_adjust", args=[self.player.pk]), sent

    def is_done(self) -> bool:
        return accounts.balance(self.player.pk, Mode.REAL) != MONEY

    def ways(self, asked: Approval) -> Sequence[Way]:
        cash = accounts.player_account(self.player.pk, Mode.REAL)
        return (
            Way("SELECT * FROM wallet_adjust(%s)", "SB030", [asked.pk]),
            Way(
                "INSERT INTO wallet_adjustment (approval_id, key, account_id, amount, why)"
                " VALUES (%s, gen_random_uuid(), %s, 500, 'round')",
                "permission denied",
                [asked.pk, cash],
            ),
            Way(
                "SELECT * FROM wallet_post(jsonb_build_array(jsonb_build_object('key', gen_random_uuid(),"
                " 'kind', 'adjustment', 'lines', jsonb_build_array(jsonb_build_array(%s, 'SEK', 'R', 500),"
                " (SELECT jsonb_build_array(id, 'SEK', 'R', -500) FROM wallet_account"
                "  WHERE kind = 'adjusted' AND currency = 'SEK' AND mode = 'R')))))",
                "SB009",
                [cash],
            ),
            Way("UPDATE wallet_account SET balance = balance + 500 WHERE id = %s", "permission denied", [cash]),
        )


class Payment(Action):
    kind, asking, deciding, event = "withdrawal", "finance", "finance", "withdrawal.approved"
    written = {"account_hash": None, "player": "player:{}".format, "withdrawal": "withdrawal:{}".format}
    shows = ("KYC verified", "Total deposits SEK", "Approval by two people", "no payout to it yet")

    def __init__(self) -> None:
        self.withdrawal = a_withdrawal(a_verified_player(real=2 * LARGE), LARGE)

    def ask(self, by: Staff) -> Approval:
        withdrawals.approve(withdrawal_id=self.withdrawal.pk, by=str(by), person=by.person, reason="in order")
        return Approval.objects.latest("pk")

    def page(self) -> tuple[str, Mapping[str, object]]:
        sent = {"action": "approve", "reason": "in order"}
        return reverse("staff_withdrawal_decide", args=[self.withdrawal.pk]), sent

    def is_done(self) -> bool:
        status = Withdrawal.objects.get(pk=self.withdrawal.pk).status
        return status not in (WithdrawalStatus.REQUESTED, WithdrawalStatus.SECONDING)

    def ways(self, asked: Approval) -> Sequence[Way]:
        change = "UPDATE wallet_withdrawal SET status = '{}' WHERE id = %s"
        mine = [self.withdrawal.pk]
        return (
            Way(change.format("approved"), "SB032", mine),
            Way(change.format("sending"), "does not become", mine),
            Way("UPDATE wallet_withdrawal SET takes_two = false WHERE id = %s", "permission denied", mine),
            Way(
                "INSERT INTO wallet_withdrawal"
                " (player_id, account_id, key, reference, amount, currency, takes_two, status)"
                " VALUES (%s, %s, gen_random_uuid(), gen_random_uuid(), %s, 'SEK', false, 'requested')",
                "SB032",
                [self.withdrawal.player_id, an_account(self.withdrawal.player).pk, LARGE],
            ),
        )


class Lifting(Action):
    kind, asking, deciding, event = "exclusion.lift", "compliance", "support", "exclusion.lifted"
    written = {"exclusion": "exclusion:{}".format, "player": "player:{}".format}
    shows = ("Reason for the exclusion for a test", "End 20")

    def __init__(self) -> None:
        by = a_member_of_staff("compliance")
        self.exclusion = exclusions.exclude(player=a_player(), days=30, reason="for a test", by=by)

    def ask(self, by: Staff) -> Approval:
        return exclusions.ask(exclusion=self.exclusion, reason="a mistake", by=by)

    def page(self) -> tuple[str, Mapping[str, object]]:
        return reverse("staff_exclusion_lift", args=[self.exclusion.pk]), {"reason": "a mistake"}

    def is_done(self) -> bool:
        return ExclusionLift.objects.exists()

    def ways(self, asked: Approval) -> Sequence[Way]:
        mine = [self.exclusion.pk]
        return (
            Way(
                "INSERT INTO players_exclusionlift (exclusion_id, reason, asked_by, decided_by)"
                " VALUES (%s, 'x', %s, 'staff:1')",
                "SB031",
                [*mine, asked.by],
            ),
            Way("UPDATE players_exclusion SET until = now() WHERE id = %s", "permission denied", mine),
            Way("DELETE FROM players_exclusion WHERE id = %s", "permission denied", mine),
        )


class Voiding(Action):
    kind, event = "void_live_round", "round.voided"
    written = {
        "incident": lambda _: "A card lay face up.",
        "round": lambda key: round_code(UUID(key)),
    }
    shows = ("Stakes in SEK SEK 50.00; players: 1; payouts: SEK", "Seed reproduces it yes")

    def __init__(self) -> None:
        live_table = a_live_table()
        bet(a_player("SE", real=MONEY), live_table, player=5000)
        self.settled = advance_to(live_table, Phase.SETTLED)
        self.incident = malfunction.report(round_id=self.settled.pk, cause="A card lay face up.", by="staff:1")

    def ask(self, by: Staff) -> Approval:
        return malfunction.ask_void(incident_id=self.incident.pk, reason="It did.", by=by)

    def page(self) -> tuple[str, Mapping[str, object]]:
        sent = {"decision": "void", "reason": "It did.", "sure": "on"}
        return reverse("staff_incident_rule", args=[self.incident.pk]), sent

    def is_done(self) -> bool:
        return Void.objects.exists()

    def ways(self, asked: Approval) -> Sequence[Way]:
        void_round = "INSERT INTO games_void (round_id, reason, by) VALUES (%s, %s, %s)"
        mine = self.settled.pk
        return (
            *(Way(void_round, "SB033", [mine, reason, asked.by]) for reason in VoidReason),
            Way("SELECT games_end_void(%s)", "SB073", [mine]),
            Way(
                f"WITH moved AS (SELECT id, gen_random_uuid() AS key FROM wallet_journal WHERE round_id = '{mine}')"
                " SELECT * FROM wallet_reverse(ARRAY(SELECT id FROM moved), ARRAY(SELECT key FROM moved), 'void');"
                " SET CONSTRAINTS ALL IMMEDIATE",
                "SB034",
            ),
        )


class Version(Action):
    kind, event = "table.version", "table.version"
    # Only what changes is shown; the page of the table, which is linked, has the rest.
    written = {
        "based_on": "Based on version {}".format,
        "clock": None,
        "digest": None,
        "goes_live_at": lambda _: "on approval",
        "jurisdictions": None,
        "limits": lambda _: "SEK 10 – SEK 2,500 → SEK 10 – SEK 50",
        "modes": None,
        "rules": "rules {}".format,
        "table": "table:{}".format,
    }

    def __init__(self) -> None:
        self.table = a_table()

    def ask(self, by: Staff) -> Approval:
        return asking.ask_version(table_id=self.table.pk, limits=other_limits(), reason="a new season", staff=by)

    def is_done(self) -> bool:
        return TableVersion.objects.filter(table=self.table).count() != 1

    def ways(self, asked: Approval) -> Sequence[Way]:
        copied = (
            "INSERT INTO games_tableversion SELECT (jsonb_populate_record(v, jsonb_build_object("
            " 'id', v.id + 1000, 'number', v.number + 1, 'approval_id', {}, 'limits', {}::jsonb))).*"
            " FROM games_tableversion AS v WHERE v.table_id = %s"
        )
        mine = [self.table.pk]
        wanted = f"(SELECT request::jsonb -> 'limits' FROM audit_approval WHERE id = {asked.pk})"
        return (
            Way(copied.format("NULL", wanted), "permission denied", mine),
            Way(copied.format(asked.pk, wanted), "permission denied", mine),
            Way("SELECT games_add_table_version(%s, '{}', '')", "nothing proves", mine),
            Way("UPDATE games_tableversion SET limits = '{}' WHERE table_id = %s", "permission denied", mine),
        )


class NewTable(Action):
    kind, event, has_page = "table.make", "table.version", False
    written = {
        "chat_language": lambda _: "any language",
        "clock": None,  # a solo table has none
        "digest": None,
        "goes_live_at": lambda _: "closed until staff open it",
        "jurisdictions": lambda _: "Sweden",
        "limits": lambda _: "SEK: Chips SEK 10, SEK 50, SEK 100, SEK 500, SEK 1,000, SEK 5,000",
        "modes": lambda _: "real money",
        "rules": "rules {}".format,
        "variant": lambda _: "Baccarat",
    }

    def __init__(self) -> None:
        a_table()

    def ask(self, by: Staff) -> Approval:
        return asking.ask_table(
            slug="second",
            name="Second",
            variant="baccarat",
            shape=Table._meta.get_field("shape").default,
            limits=baccarat_limits(),
            jurisdictions=["SE"],
            modes=[Mode.REAL],
            reason="more players",
            staff=by,
        )

    def is_done(self) -> bool:
        return Table.objects.filter(slug="second").exists()


class OfStaff(Action):
    """An action on a staff account; by default, a reset of its second factors."""

    kind, asking, deciding = StaffAction.FACTORS, "administrator", "compliance"
    event = staff.EVENTS[StaffAction.FACTORS]
    shows = ("Current roles support",)
    written = {"staff": "staff:{}".format, "from": ", ".join, "roles": ", ".join}

    def __init__(self) -> None:
        a_member_of_staff("compliance")  # someone must be able to decide
        self.member = a_member_of_staff("support")

    def ask(self, by: Staff) -> Approval:
        return staff.ask(action=StaffAction(self.kind), member=self.member, reason="for a test", by=by)

    def page(self) -> tuple[str, Mapping[str, object]] | None:
        word = self.kind.partition(".")[2]
        return reverse("staff_person_ask", args=[self.member.pk, word]), {"reason": "for a test"}

    def is_done(self) -> bool:
        return not second_factor.is_set_up(self.member.user)

    def ways(self, asked: Approval) -> Sequence[Way]:
        mine = [self.member.user_id]
        return (
            Way("SELECT players_staff_execute(%s, NULL)", "SB020", [asked.pk]),
            Way("DELETE FROM mfa_authenticator WHERE user_id = %s", "nothing proves", mine),
            Way("UPDATE players_user SET is_active = NOT is_active WHERE id = %s", "permission denied", mine),
            Way("UPDATE players_user SET is_superuser = true WHERE id = %s", "permission denied", mine),
            Way("INSERT INTO players_user_groups (user_id, group_id) VALUES (%s, 1)", "permission denied", mine),
            Way("SELECT players_staff_found(%s, 'x', '{finance}', NULL)", "permission denied", mine),
        )


class Disabling(OfStaff):
    kind, event = StaffAction.DISABLE, staff.EVENTS[StaffAction.DISABLE]

    def is_done(self) -> bool:
        return not User.objects.get(pk=self.member.user_id).is_active


class Suspending(OfStaff):
    """Confirmation of a suspension, which began with the request."""

    kind, event = StaffAction.SUSPEND, staff.EVENTS[StaffAction.SUSPEND]

    def ask(self, by: Staff) -> Approval:
        return staff.suspend(member=self.member, reason="for a test", by=by)

    def is_done(self) -> bool:
        return StaffChange.objects.filter(user=self.member.user, kind=StaffAction.DISABLE).exists()

    def ways(self, asked: Approval) -> Sequence[Way]:
        """The account was disabled in the test's transaction, which may write to it."""
        others = [way for way in super().ways(asked) if "is_active" not in way.statement]
        return [*others, Way("SELECT players_staff_suspend(%s)", "SB020", [asked.pk])]


class Enabling(OfStaff):
    kind, event = StaffAction.ENABLE, staff.EVENTS[StaffAction.ENABLE]

    def __init__(self) -> None:
        super().__init__()
        one, other = a_member_of_staff("administrator"), a_member_of_staff("compliance")
        asked = staff.ask(action=StaffAction.DISABLE, member=self.member, reason="for a test", by=one)
        decide(asked, other)

    def is_done(self) -> bool:
        return User.objects.get(pk=self.member.user_id).is_active

    def ways(self, asked: Approval) -> Sequence[Way]:
        """The account was disabled in the test's transaction, which may write to it."""
        return [way for way in super().ways(asked) if "is_active" not in way.statement]


class OtherRoles(OfStaff):
    kind, event = StaffAction.ROLES, staff.EVENTS[StaffAction.ROLES]

    def ask(self, by: Staff) -> Approval:
        return staff.ask_for_roles(member=self.member, roles=["finance"], reason="for a test", by=by)

    def page(self) -> tuple[str, Mapping[str, object]]:
        address = reverse("staff_person_ask", args=[self.member.pk, "roles"])
        return address, {"reason": "for a test", "roles": ["finance"]}

    def is_done(self) -> bool:
        return staff.roles_of(self.member) != ["support"]


class NewAccount(OfStaff):
    kind, event, has_page = StaffAction.MAKE, staff.EVENTS[StaffAction.MAKE], False
    written = {"person": lambda _: "no other account", "roles": ", ".join}
    shows = ("E-mail address nina@example.com",)

    def ask(self, by: Staff) -> Approval:
        return staff.ask_to_make(
            email="nina@example.com", name="Nina", roles=["support"], same_as=None, reason="new here", by=by
        )

    def page(self) -> None:
        return None

    def is_done(self) -> bool:
        return User.objects.filter(email="nina@example.com").exists()

    def ways(self, asked: Approval) -> Sequence[Way]:
        login = User.objects.create_user(f"{uuid4().hex}@example.com", None, verified=True)
        return (
            Way("SELECT players_staff_execute(%s, %s)", "SB020", [asked.pk, login.pk]),
            Way("INSERT INTO players_staff (user_id, name) VALUES (%s, 'x')", "permission denied", [login.pk]),
        )


class KeptFor(Action):
    kind, asking, deciding, event = retention.KIND, "compliance", "compliance", "retention.changed"
    written = {"before": "{} days".format, "days": "{} days".format, "what": lambda what: str(RetainedData(what).label)}

    def __init__(self) -> None:
        self.days = Retention.objects.get(pk=RetainedData.MAIL).days

    def ask(self, by: Staff) -> Approval:
        return retention.ask(what=RetainedData.MAIL, days=400, by=str(by), person=by.person, reason="complaints")

    def page(self) -> tuple[str, Mapping[str, object]]:
        return reverse("staff_retention"), {"what": "mail", "days": "400", "reason": "complaints"}

    def is_done(self) -> bool:
        return Retention.objects.get(pk=RetainedData.MAIL).days != self.days

    def ways(self, asked: Approval) -> Sequence[Way]:
        return (
            Way("SELECT audit_keep_for(%s)", "changes no retention", [asked.pk]),
            Way("UPDATE audit_retention SET days = 9999", "permission denied"),
        )


class NationalRule(Action):
    kind, asking, deciding, event = national_rules.KIND, "compliance", "administrator", national_rules.CHANGED
    written = {
        "after": "{} h".format,
        "before": "{} h".format,
        "rule": lambda _: "Pause button",
        "source": lambda _: "from the text of the rule",
        "source_before": lambda _: "second-hand, from summaries",
    }

    def __init__(self) -> None:
        self.before = self.hours()

    def hours(self) -> int:
        return Jurisdiction.objects.get(pk="SE").pause_hours

    def ask(self, by: Staff) -> Approval:
        where = Jurisdiction.objects.get(pk="SE")
        return national_rules.ask(
            where=where, rule="pause_hours", value=48, source=RuleSource.READ, reason="a new law", by=by
        )

    def page(self) -> tuple[str, Mapping[str, object]]:
        sent = {"value": "48", "source": "R", "reason": "a new law"}
        return reverse("staff_rule_change", args=["SE", "pause_hours"]), sent

    def is_done(self) -> bool:
        return self.hours() != self.before

    def ways(self, asked: Approval) -> Sequence[Way]:
        return (
            Way("SELECT * FROM players_change_national_rule(%s)", "SB143", [asked.pk]),
            Way("UPDATE players_jurisdiction SET pause_hours = 1", "permission denied"),
            Way("DELETE FROM players_national_rule_change", "permission denied"),
            Way(
                "INSERT INTO players_national_rule_change (jurisdiction_id, rule, before, after, source, approval_id)"
                " VALUES ('SE', 'pause_hours', '24', '48', 'R', %s)",
                "permission denied",
                [asked.pk],
            ),
        )


class NewPartner(Action):
    kind, asking, deciding, event = partners.ADD, "finance", "supervisor", "partner.added"

    def __init__(self) -> None:
        self.said = {"code": f"oak-{uuid4().hex[:8]}", "name": "Old Oak", "address": "https://games.example/"}

    def ask(self, by: Staff) -> Approval:
        return studios.ask_for_partner(PartnerKind.STUDIO, by=by, **self.said)

    def page(self) -> tuple[str, Mapping[str, object]]:
        more = {"kind": "studio", "per_minute": "6000", "reason": "a contract"}
        return reverse("staff_partner_new"), self.said | more

    def is_done(self) -> bool:
        return Partner.objects.filter(code=self.said["code"]).exists()

    def ways(self, asked: Approval) -> Sequence[Way]:
        return (
            Way(
                "INSERT INTO wallet_partner (code, name, kind, address, per_minute, approval_id)"
                " VALUES (%s, 'Old Oak', 'studio', 'https://games.example/', 6000, %s)",
                "SB050",
                [self.said["code"], asked.pk],
            ),
        )


class AnotherKey(Action):
    kind, asking, deciding, event = partners.KEY, "finance", "supervisor", "partner.key_made"

    def __init__(self) -> None:
        self.partner = studios.a_partner()

    def ask(self, by: Staff) -> Approval:
        return partners.ask_for_key(partner=self.partner, reason="once a year", by=by)

    def page(self) -> tuple[str, Mapping[str, object]]:
        return reverse("staff_partner_key", args=[self.partner.pk]), {"reason": "once a year"}

    def is_done(self) -> bool:
        return partners.running_keys(self.partner) > 1

    def ways(self, asked: Approval) -> Sequence[Way]:
        return (
            Way(
                "INSERT INTO wallet_partner_key (partner_id, name, sealed, approval_id)"
                " VALUES (%s, 'sabot-mine', ''::bytea, %s)",
                "SB050",
                [self.partner.pk, asked.pk],
            ),
        )


class HeldDeposit(Action):
    kind, asking, deciding, event = "deposit.held", "finance", "compliance", "deposit.released"
    written = {
        "action": lambda _: "Credit",
        "payment": "payment:{}".format,
        "player": "player:{}".format,
    }
    shows = ("Current state held", "The deposit had ended before the money arrived.")

    def __init__(self) -> None:
        self.payment = a_payment(a_player())
        notifications.close(self.payment, PaymentState.EXPIRED, because="nobody decided")
        call_back(statement(self.payment))

    def ask(self, by: Staff) -> Approval:
        action = held_deposits.Action.CREDIT
        return held_deposits.ask(self.payment.pk, action=action, reference="", reason="a minute late", by=by)

    def page(self) -> tuple[str, Mapping[str, object]]:
        sent = {"action": "credit", "reason": "a minute late"}
        return reverse("staff_deposit_decide", args=[self.payment.pk]), sent

    def is_done(self) -> bool:
        self.payment.refresh_from_db()
        return self.payment.state != PaymentState.HELD

    def ways(self, asked: Approval) -> Sequence[Way]:
        mine = [self.payment.pk]
        return (
            Way("SELECT * FROM wallet_decide_deposit(%s)", "SB136", [asked.pk]),
            Way("SELECT * FROM wallet_end_held_deposit(%s, 'credited')", "permission denied", mine),
            Way("SELECT * FROM wallet_return_deposit(%s, 'R1', 'x')", "SB132", mine),
            Way("UPDATE wallet_payment SET state = 'credited', journal_id = 1 WHERE id = %s", "SB132", mine),
        )


class Release(Action):
    kind, asking, deciding, event = "withdrawal.release", "finance", "compliance", "withdrawal.released"
    written = {
        "facts": lambda _: "Released from Account: locked since",
        "player": "player:{}".format,
        "withdrawal": "withdrawal:{}".format,
    }
    shows = ("KYC verified", "Total deposits SEK 100.00", ": a stolen card")

    def __init__(self) -> None:
        self.withdrawal = a_withdrawal(a_verified_player(real=MONEY), MONEY)
        locks.lock(player=self.withdrawal.player, reason="a stolen card", by=a_member_of_staff("support"))

    def ask(self, by: Staff) -> Approval:
        return releases.ask(withdrawal_id=self.withdrawal.pk, reason="papers seen", by=by)

    def page(self) -> tuple[str, Mapping[str, object]]:
        return reverse("staff_withdrawal_release", args=[self.withdrawal.pk]), {"reason": "papers seen"}

    def is_done(self) -> bool:
        return not facts_of([self.withdrawal])[self.withdrawal.pk].is_held

    def ways(self, asked: Approval) -> Sequence[Way]:
        return (
            Way("UPDATE wallet_withdrawal SET status = 'approved' WHERE id = %s", "SB137", [self.withdrawal.pk]),
            Way("UPDATE players_accountlock SET locks = false WHERE player_id = %s", "permission denied", [1]),
        )


class Borrowed(Action):
    kind, asking, deciding, event = "borrowed.remove", "support", "compliance", "borrowed.removed"
    written = {"mark": lambda _: "a friend told us", "player": "player:{}".format}

    def __init__(self) -> None:
        self.player = a_player()
        by = a_member_of_staff("support")
        self.blocked = borrowed_money.block_deposits(player=self.player, reason="a friend told us", by=by)

    def ask(self, by: Staff) -> Approval:
        return borrowed_money.ask_removal(player=self.player, reason="a payslip", by=by)

    def page(self) -> tuple[str, Mapping[str, object]]:
        return reverse("staff_player_borrowed", args=[self.player.pk]), {"reason": "a payslip", "removes": "True"}

    def is_done(self) -> bool:
        return borrowed_money.block_of(self.player) is None

    def ways(self, asked: Approval) -> Sequence[Way]:
        return (
            Way(
                "INSERT INTO players_borrowed_money (player_id, is_marked, reason, by_id, approval_id)"
                " VALUES (%s, false, 'x', %s, %s)",
                "may not do this alone",
                [self.player.pk, self.blocked.by_id, asked.pk],
            ),
            Way("DELETE FROM players_borrowed_money WHERE id = %s", "permission denied", [self.blocked.pk]),
        )


class Match(Action):
    kind, asking, deciding, event = "screening.decide", "compliance", "compliance", "case.closed"
    written = {
        "case": "case:{}".format,
        "outcome": lambda _: "Another person",
        "player": "player:{}".format,
    }

    def __init__(self) -> None:
        screening.read_due()
        self.player = a_player()
        listed = screening.SandboxList.people[0]
        update_as_owner(Player.objects.filter(pk=self.player.pk), birth_date=listed.born)
        a_submission(self.player, given_names="Viktor", family_name="Sanctionov")
        self.case = Case.objects.get(player=self.player)

    def ask(self, by: Staff) -> Approval:
        return screening.ask(case=self.case, outcome=CaseOutcome.OTHER_PERSON, reason="another passport", by=by)

    def page(self) -> tuple[str, Mapping[str, object]]:
        sent = {"action": "closed", "to": "other_person", "words": "another passport"}
        return reverse("staff_case_act", args=[self.case.pk]), sent

    def is_done(self) -> bool:
        return Case.objects.get(pk=self.case.pk).closed_at is not None

    def ways(self, asked: Approval) -> Sequence[Way]:
        asker = int(asked.by.partition(":")[2])
        return (
            Way("SELECT players_move_case(%s, %s, 'closed', 'other_person', 'x')", "SB155", [self.case.pk, asker]),
            Way("UPDATE players_case SET outcome = 'ended' WHERE id = %s", "permission denied", [self.case.pk]),
            Way("UPDATE players_screening_entry SET born = ''", "permission denied"),
        )


class Erasure(Action):
    kind, asking, deciding, event = "account.erase", "compliance", "compliance", "account.closing"

    def __init__(self) -> None:
        self.player = a_player()

    def ask(self, by: Staff) -> Approval:
        return closing.ask_erasure(player=self.player, reason="a letter", by=by)

    def page(self) -> tuple[str, Mapping[str, object]]:
        return reverse("staff_player_erase", args=[self.player.pk]), {"reason": "a letter"}

    def is_done(self) -> bool:
        return closures.state_of(self.player) is not None

    def ways(self, asked: Approval) -> Sequence[Way]:
        return (
            Way("SELECT players_close_as_asked(%s, %s)", "SB082", [self.player.pk, asked.pk]),
            Way(
                "INSERT INTO players_closure (player_id, state, by, at) VALUES (%s, 'closing', 'staff:1', now())",
                "permission denied",
                [self.player.pk],
            ),
        )


ACTIONS: tuple[type[Action], ...] = (
    Adjustment,
    HeldDeposit,
    Release,
    Borrowed,
    Voiding,
    Version,
    NewTable,
    Lifting,
    Payment,
    OfStaff,
    Disabling,
    Suspending,
    Enabling,
    OtherRoles,
    NewAccount,
    KeptFor,
    NationalRule,
    NewPartner,
    AnotherKey,
    Match,
    Erasure,
)


@dataclass
class Asked:
    """A requested action, the requester's second account with the deciding role, and the person who
    decides.
    """

    action: Action
    asker: Staff = field(init=False)
    twin: Staff = field(init=False)
    decider: Staff = field(init=False)
    approval: Approval = field(init=False)

    def __post_init__(self) -> None:
        self.asker = a_member_of_staff(self.action.asking)
        self.twin = a_member_of_staff(self.action.deciding, person=self.asker.person)
        self.decider = a_member_of_staff(self.action.deciding)
        self.approval = self.action.ask(self.asker)


def decide(asked: Approval, by: Staff, *, yes: bool = True) -> None:
    """Decide with the service and the decider's permissions."""
    approvals.decide(
        approval_id=asked.pk, yes=yes, by=str(by), person=by.person, reason="I saw it too", may=by.user.has_perm
    )


def browser_of(member: Staff) -> Client:
    """Return a logged-in browser of a staff member."""
    visitor = a_visitor()
    visitor.force_login(member.user)
    return visitor


def decide_on_the_page(asked: Approval, by: Staff, *, yes: bool = True) -> None:
    """Send the form of the request's page."""
    sent = {"yes": "1" if yes else "0", "reason": "I saw it too"}
    browser_of(by).post(reverse("staff_approval_decide", args=[asked.pk]), sent)
