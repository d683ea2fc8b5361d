"""One house in which every page has something on it: its people, and the state of each."""

from datetime import timedelta
from functools import cached_property
from random import Random
from typing import Any
from uuid import UUID, uuid4

import psycopg
from django.db import connection, transaction
from django.test import RequestFactory
from django.urls import resolve, reverse
from django.utils.timezone import now

from accounts import closing
from accounts import retention as expiry
from audit import approvals, log, retention
from audit.models import Checkpoint, Report, ReportState, RetainedData
from audit.reports.kinds import Interval
from audit.reports.requests import clock
from games import chat, incidents
from games.chat import moderation
from games.chat.moderation import Decision, Length, Why
from games.chemin import play
from games.chemin.collusion.player_reports import report
from games.engine.chemin import Call
from games.engine.chemin import Phase as Phases
from games.fairness.returns import monitor
from games.incidents import letters
from games.models import (
    ChatReport,
    Grounds,
    Incident,
    LetterKind,
    LiveRound,
    LiveTable,
    Phase,
    PlayReason,
    ReportDecision,
    ReportReason,
    Table,
)
from games.shared import malfunction
from games.solo.operator_money import refresh_operator_balance
from games.tables.clock import LONGEST, Clock
from games.tables.status import open_table, pause_table
from games.verification import verification_task
from players import cases
from players.api import tokens
from players.identity import verification
from players.login import second_factor
from players.models import (
    ApiToken,
    CaseAction,
    CaseOutcome,
    LimitKind,
    Period,
    Player,
    RefusalReason,
    Scope,
    Session,
    Staff,
    Topic,
    User,
)
from players.protection import exclusions, limits
from players.staff import access_log, notices
from players.support import complaints, conversations
from tests.actions import CLERK
from tests.audit.reporting import a_broken_kind, asked, made_here, registered
from tests.audit.signing import Pens
from tests.builders import (
    a_chemin_live_table,
    a_newcomer,
    a_player,
    a_purse,
    a_round,
    a_seat,
    a_submission,
    a_table,
    a_verified_player,
    an_overdue_complaint,
)
from tests.chemin.at_table import (
    a_bank,
    a_bank_to_keep,
    a_chemin_table,
    a_coup_without_a_natural,
    a_practice_table,
    a_seated_player,
    a_staked_coup,
    answer,
    answer_by_the_rule,
    asked_at,
    let_pass,
    seated_players,
    state_of,
)
from tests.chemin.friends import gives_to
from tests.chemin.on_record import Evening
from tests.games.corrupt import corrupt
from tests.games.counted import dealt, keep, keep_unshuffled
from tests.live.at_table import a_live_table, advance_to, bet, lay, round_at
from tests.live.talk import a_talker, say
from tests.matrix import MONEY, World, with_password
from tests.notices import a_notice
from tests.operator_wallet import an_operator
from tests.people import a_member_of_staff, employed
from tests.returns.sums import HOUR, summed_up
from tests.voiding import cancel
from tests.wallet.at_the_bank import a_payment, at_the_bank
from tests.wallet.payout_builders import IBAN, a_withdrawal, an_account, approve
from tests.wallet.studios import a_partner, another_key
from wallet import withdrawals
from wallet.models import Mode, Payment, Withdrawal
from wallet.payments.notifications import ask_about
from wallet.sandbox_bank.orders import Answer
from wallet.seamless_wallet.partners import end_key, switch_off
from wallet.seamless_wallet.signing import signing_key

LONGEST_CLOCK = Clock(betting=LONGEST, call=LONGEST, card=LONGEST, pause=LONGEST)


class Scene(World):
    """One house in which every page has something on it. The user of each address is made once."""

    def __init__(self) -> None:
        self._users: dict[str, User | None] = {}

    def user(self, role: str) -> User | None:
        """Return the user who requests the address."""
        if role not in self._users:
            self._users[role] = super().user(role)
        return self._users[role]

    @cached_property
    def withdrawn_notice_id(self) -> int:
        """A notice that was withdrawn before anybody was shown it, next to one that is coming."""
        far, by = exclusions.now() + timedelta(days=200), a_member_of_staff("supervisor", name="Sten Ström")
        notice = a_notice(timedelta(days=201), by=by, shown_from=far)
        notices.withdraw(notice_id=notice.pk, reason="The work is put off.", by=by)
        return notice.pk if self.notice_id else 0

    @cached_property
    def table(self) -> Table:
        """The table of `baccarat`."""
        return Table.objects.get(pk=self.table_id)

    @cached_property
    def golden(self) -> Table:
        """The table of `golden`."""
        return Table.objects.get(pk=self.golden_id)

    @cached_property
    def round_id(self) -> str:
        """A round of the player's, at the existing table."""
        return str(a_round(self.player, self.table, player=1000).round_id)

    @cached_property
    def regular(self) -> Player:
        """A player who has played, won and lost."""
        player = a_player(real=MONEY, free=MONEY)
        for mode in (Mode.REAL, Mode.FREE):
            for bets in ({"player": 1000}, {"banker": 5000, "tie": 1000}, {"tie": 10_000}):
                a_round(player, self.table, mode, **bets)
        return player

    @cached_property
    def at_a_live_table(self) -> Player:
        """A player who has played a round at a shared table, and bet on the next one."""
        player, live_table = a_player(real=MONEY), a_live_table("pairs", slug="running")
        for _ in range(2):
            bet(player, live_table, banker=10_000, tie=1_000, banker_pair=1_000)
            advance_to(live_table, Phase.BETTING)
        bet(player, live_table, banker=10_000, tie=1_000)
        return player

    def _live(self, moment: str, phase: Phase | None = None) -> tuple[Player, LiveTable]:
        """Return a player who has bet on the round of a separate shared table, and the table, in *phase*. No deadline
        passes while the page is open.
        """
        player, live_table = a_player(real=MONEY), a_live_table(slug=f"live-{moment}", clock=LONGEST_CLOCK)
        bet(player, live_table, player=25_000, tie=5_000, player_pair=5_000, perfect_pair=1_000)
        if phase:
            advance_to(live_table, phase)
        return player, live_table

    @cached_property
    def live_bets(self) -> Player:
        """A player at a shared table that takes bets."""
        return self._live("bets")[0]

    @cached_property
    def live_closed(self) -> Player:
        """A player at a shared table whose bets are closed."""
        return self._live("closed", Phase.CLOSED)[0]

    @cached_property
    def live_settled(self) -> Player:
        """A player at a shared table whose round is paid."""
        return self._live("settled", Phase.SETTLED)[0]

    @cached_property
    def live_voided(self) -> Player:
        """A player at a shared table whose round is voided."""
        player, live_table = self._live("voided")
        cancel(round_id=round_at(live_table).pk, by="staff:test")
        return player

    @cached_property
    def live_talk(self) -> Player:
        """A player who talks at a table where others do, and one was reported."""
        player, live_table = self._live("talk")
        chat.choose_name(player=player, name="Ștefan-Țiriac Ö 77")
        for words, language in (
            ("Bună seara tuturor!", "ro"),
            ("Jag har vunnit tre gånger i rad på Banker, det är ju helt otroligt. Hur går det för er andra?", "sv"),
            ("W" * 200, "en"),
        ):
            rude = say(live_table, words, language=language)
        chat.report(player=player, live_table=live_table, number=rude.pk, reason=ReportReason.ABUSE)
        said = say(live_table, "Na ja, es geht so.", player, "de")
        chat.block(player=player, live_table=live_table, number=say(live_table, "Nobody reads this").pk)
        shouting = Why(Grounds.ABUSE, "Shouting")
        moderation.ban(player=rude.player, length=Length.WEEK, why=shouting, by=a_member_of_staff("support"))
        assert said.pk
        taken = say(live_table, "Ask me, I work here.", language="en")
        moderation.take_name(
            player=taken.player, name=taken.name, why=Why(Grounds.IMPOSTOR), by=a_member_of_staff("support")
        )
        return player

    @cached_property
    def nameless_in_chat(self) -> Player:
        """A player who was notified of a removed message and a removed chat name, and chooses another name."""
        assert self.live_talk
        said = say(LiveTable.objects.get(table__slug="live-talk", mode=Mode.REAL), "The same. The same. The same.")
        decision = Decision(ReportDecision.REMOVED, Why(Grounds.SPAM), takes_name=True)
        moderation.decide(message_id=said.pk, decision=decision, by=a_member_of_staff("support"))
        return said.player

    @cached_property
    def muted_in_chat(self) -> Player:
        """A player who may write nothing at one table."""
        assert self.live_talk
        player, here = a_talker(), LiveTable.objects.get(table__slug="live-talk", mode=Mode.REAL)
        moderation.ban(
            player=player,
            length=Length.LIFTED,
            why=Why(Grounds.CHEATING),
            by=a_member_of_staff("support"),
            live_table=here,
        )
        return player

    @cached_property
    def decided_in_chat(self) -> Player:
        """A player with a message that was reported and kept."""
        assert self.live_talk
        said = ChatReport.objects.filter(decision="").latest("pk").message
        moderation.keep(message_id=said.pk, by=a_member_of_staff("support"))
        return said.player

    @cached_property
    def banned_from_chat(self) -> Player:
        """A player who may read what is said there, and write nothing."""
        assert self.live_talk
        player = a_talker()
        selling = Why(Grounds.ADVERTISING, "Selling")
        moderation.ban(player=player, length=Length.DAY, why=selling, by=a_member_of_staff("support"))
        return player

    @cached_property
    def live_stopped(self) -> Player:
        """A player with bets on a table that is stopped."""
        player, live_table = self._live("stopped", Phase.CLOSED)
        malfunction.report(round_id=round_at(live_table).pk, cause="A card lay face up.", by="staff:test")
        return player

    @cached_property
    def live_paused(self) -> Player:
        """A player at a table where the round is paid, and the next one waits for the table to resume."""
        player, live_table = self._live("paused", Phase.SETTLED)
        pause_table(table_id=live_table.table_id, reason="A card is bent.", by="staff:test")
        return player

    @cached_property
    def at_a_paused_table(self) -> Player:
        """A player who has bets on a table of solo play that pauses."""
        player, table = a_player(real=MONEY), a_table("paused")
        a_seat(player, table, player=1000)
        pause_table(table_id=table.pk, reason="A card is bent.", by="staff:test")
        return player

    def _players(self, moment: str, count: int = 5, **options: Any) -> tuple[LiveTable, list[Player]]:
        """Return a separate Chemin de Fer table, with so many players, with two known by name."""
        live_table = a_chemin_table(slug=f"chemin-{moment}", **options)
        seated = seated_players(live_table, count, MONEY)
        for player, name in zip(seated[1:], (f"Ștefan-Țiriac {moment[:3]}", f"Bo {moment[:3]}"), strict=False):
            chat.choose_name(player=player, name=name)
        return live_table, seated

    @cached_property
    def chemin_watching(self) -> Player:
        """A player who watches a coup that waits for its cards."""
        a_staked_coup(self._players("watching", 9)[0], 50_000, 12_300)
        return a_player(real=MONEY)

    @cached_property
    def chemin_choosing(self) -> Player:
        """A player who looks for a seat."""
        self._players("choosing", 2, seat_count=7)
        return a_player(real=MONEY)

    @cached_property
    def chemin_offered(self) -> Player:
        """A player who is offered the bank."""
        return asked_at(self._players("offered", 3, seat_count=4)[0])

    @cached_property
    def chemin_paused(self) -> Player:
        """A player who holds a bank and would be asked whether to keep it, if the table did not pause."""
        live_table, _session = self._players("paused", 4)
        banker = asked_at(a_bank_to_keep(live_table))
        pause_table(table_id=live_table.table_id, reason="A card is bent.", by="staff:test")
        return banker

    @cached_property
    def chemin_calling(self) -> Player:
        """A player who is asked to call banco, at a full table."""
        live_table, _session = self._players("calling", 9)
        a_bank(live_table, 50_000)
        return asked_at(live_table)

    @cached_property
    def chemin_staking(self) -> Player:
        """A player who is asked to join another's call."""
        live_table, _session = self._players("staking")
        a_bank(live_table, 50_000)
        answer(asked_at(live_table), live_table, "make_call", call=Call.BANCO)
        return asked_at(live_table)

    @cached_property
    def chemin_punter(self) -> Player:
        """A player who holds the punters’ cards, and is asked whether to draw."""
        return a_coup_without_a_natural(self._players("punter", 8, seat_count=8)[0])

    @cached_property
    def chemin_banker(self) -> Player:
        """A player who is asked whether to draw for the bank."""
        live_table, _session = self._players("banker", 6, seat_count=6)
        while state_of(live_table).phase is not Phases.BANKER:
            a_coup_without_a_natural(live_table)
            answer_by_the_rule(live_table)
        return asked_at(live_table)

    @cached_property
    def chemin_winner(self) -> Player:
        """A player who has won as banker: keeps the bank, or passes it on."""
        return asked_at(a_bank_to_keep(self._players("winner")[0]))

    @cached_property
    def chemin_bidding(self) -> Player:
        """A player who may bid for a bank that nobody has taken over."""
        live_table = a_bank_to_keep(self._players("bidding", 3, seat_count=3)[0])
        answer(asked_at(live_table), live_table, "give_suite")
        while state_of(live_table).phase is Phases.SUITE:
            let_pass(live_table)
        return asked_at(live_table)

    @cached_property
    def chemin_away(self) -> Player:
        """A player who has stepped away."""
        live_table, seated = self._players("away", 3)
        play.step_away(player=seated[2], live_table_id=live_table.pk)
        return seated[2]

    @cached_property
    def chemin_practice(self) -> Player:
        """A player who sits at a practice table, with players of the house."""
        return a_seated_player(a_practice_table(slug="chemin-practice", seat_count=5), 4, MONEY)

    @cached_property
    def chemin_friends(self) -> tuple[LiveTable, list[Player]]:
        """A table and its players, where the first gave money to the second at another one all day yesterday."""
        yesterday = a_chemin_live_table(slug="chemin-yesterday", maximum=1_000_000)
        elsewhere = LiveTable.objects.select_related("table__version").get(table=yesterday, mode=Mode.REAL)
        live_table, seated = self._players("friends", 4)
        Evening(elsewhere, seated, {1: gives_to(2)}, Random(1), now() - timedelta(days=1)).play(80)
        return live_table, seated

    @cached_property
    def chemin_reporter(self) -> Player:
        """A player who sits with the two, has reported one of them, and is about to report the other."""
        live_table, (_giver, _taker, reporter, *_) = self.chemin_friends
        text = "Stood on nothing, three times, and always against seat 2."
        giver = live_table.chemin_seats.get(number=1, left_at=None)
        report(
            player=reporter, live_table_id=live_table.pk, seat_id=giver.pk, reason=PlayReason.CHIP_DUMPING, text=text
        )
        return reporter

    @cached_property
    def voided_incident(self) -> Incident:
        """A round that several had bet on was reported and voided, and a letter written about it."""
        live_table = a_live_table("pairs", slug="reported")
        for jurisdiction, stake in (("SE", 5_000), ("RO", 2_500), ("DE", 7_500)):
            lay(a_player(jurisdiction, real=90_000), live_table, {"player": stake})
        coup = advance_to(live_table, Phase.SETTLED)
        incident = malfunction.report(round_id=coup.pk, cause="A card lay face up.", by="staff:test")
        asker, decider = (a_member_of_staff("supervisor", name=name) for name in ("Ada Bergs", "Bo Ceder"))
        asked = malfunction.ask_void(incident_id=incident.pk, reason="The camera shows it.", by=asker)
        approvals.decide(
            approval_id=asked.pk, yes=True, by=str(decider), person=decider.person, reason="It does.", may=bool
        )
        case = incidents.case_of(incident.pk)
        assert case
        letters.send(case=case, kind=LetterKind.APOLOGY, sentences={}, staff=asker)
        letters.write_due()
        return incident

    @cached_property
    def chemin_trouble(self) -> Incident:
        """A coup whose cards are drawn was reported."""
        live_table, _session = self._players("trouble")
        a_coup_without_a_natural(live_table)
        coup = LiveRound.objects.get(live_table=live_table, phase=Phase.DEALT)
        return malfunction.report(round_id=coup.pk, cause="A player looked at another’s cards.", by="staff:test")

    @cached_property
    def chemin_coup(self) -> str:
        """The code of a coup that the bank has won."""
        return LiveRound.objects.filter(live_table=a_bank_to_keep(self._players("coup")[0])).latest("opened_at").code

    @cached_property
    def credited(self) -> Payment:
        """A deposit that the bank has authorised."""
        return self._answered(Answer.APPROVE)

    @cached_property
    def declined(self) -> Payment:
        """A deposit that the bank has declined."""
        return self._answered(Answer.DECLINE)

    def _answered(self, said: Answer) -> Payment:
        payment = a_payment(a_player())
        at_the_bank(payment, said)
        return ask_about(payment.pk)

    @cached_property
    def from_an_operator(self) -> Player:
        """A player who plays with an operator's wallet, which no longer reports its balance."""
        with an_operator() as operator:
            visitor = operator.visit()
            refresh_operator_balance(visitor.player, Mode.REAL, visitor.session)
            return visitor.player

    @cached_property
    def night_owl(self) -> Player:
        """A player who has played for long: the session stays like that."""
        player = a_player(real=MONEY)
        a_round(player, self.table, player=1000)
        return player

    @cached_property
    def bettor(self) -> Player:
        """A player who has chips on the table."""
        player = a_player(real=MONEY, free=MONEY)
        a_seat(player, self.table, player=10_000, tie=1000)
        a_seat(player, self.table, Mode.FREE, banker=1000)
        return player

    @cached_property
    def pauper(self) -> Player:
        """A player who has less than a chip."""
        return a_player(real=100)

    @cached_property
    def golden_bettor(self) -> Player:
        """A player who has a purse and chips at Golden Baccarat."""
        player = a_player(real=MONEY)
        a_purse(player, 100_000)
        a_seat(player, self.golden, player=1000)
        return player

    @cached_property
    def wronged(self) -> Player:
        """A player who played a round that is voided; see `go_wrong`."""
        return a_player(real=MONEY)

    @cached_property
    def complainant(self) -> Player:
        """A player who complained, see `decided_id`."""
        return a_player("DE")

    @cached_property
    def decided_id(self) -> int:
        """A complaint that was taken, handed over and decided."""
        text = "My bet on the banker was not paid."
        begun = conversations.begin(player=self.complainant, topic=Topic.COMPLAINT, text=text)
        one, other = a_member_of_staff("operator"), a_member_of_staff("support")
        for owner in (one, other):
            cases.act(case=complaints.case_of(begun), action=CaseAction.ASSIGNED, by=one, to=str(owner))
        reasons = "The player’s hand won the round: the banker’s bet lost. We dealt it again to make sure."
        seen = begun.messages.latest("pk").pk
        return complaints.decide(
            by=other, conversation_id=begun.pk, verdict=CaseOutcome.REJECTED, reasons=reasons, seen=seen
        ).pk

    @cached_property
    def impatient(self) -> Player:
        """A player who complained, see `overdue_id`."""
        return a_player("DK")

    @cached_property
    def overdue_id(self) -> int:
        """A complaint that somebody looks into, and was to be decided by yesterday."""
        begun = an_overdue_complaint(self.impatient, "Where is my money?")
        staff = a_member_of_staff("support")
        cases.enter_overdue()
        cases.act(case=complaints.case_of(begun), action=CaseAction.ASSIGNED, by=staff, to=str(staff))
        return begun.pk

    @cached_property
    def answered_id(self) -> int:
        """A complaint of the regular's about a round, answered once."""
        part = self.regular.participation_set.filter(mode=Mode.REAL).select_related("round")[0]
        about = conversations.RoundNamed(part.round_id, part.round.code)
        text = "The banker drew a third card.\nPlease look."
        begun = conversations.begin(player=self.regular, topic=Topic.COMPLAINT, text=text, about=about)
        staff = a_member_of_staff("support")
        words, seen = "We looked: the rule says so.", begun.messages.latest("pk").pk
        return conversations.answer(staff=staff, conversation_id=begun.pk, text=words, seen=seen).pk

    @cached_property
    def voided_id(self) -> UUID:
        """The round that is voided."""
        return a_round(self.wronged, self.table, player=1000, banker=1000).round_id

    @cached_property
    def summed_up(self) -> Table:
        """The table of golden, with impossible payouts; hours of it are summed up."""
        for hours in range(8):
            summed_up(
                self.golden, HOUR + timedelta(hours=hours), paid=49_000_000 + hours * 100_000, other=int(hours == 7)
            )
        monitor.check_returns()
        return self.golden

    @cached_property
    def withdrawer(self) -> Player:
        """A player who asked for two withdrawals; the larger sum has been approved by one of two people."""
        player = a_verified_player(real=10 * MONEY)
        a_withdrawal(player)
        approve(a_withdrawal(player, 5 * MONEY), self.first_approver)
        return player

    @cached_property
    def first_approver(self) -> Staff:
        """The first approver."""
        return a_member_of_staff("finance")

    @cached_property
    def second_approver(self) -> Staff:
        """The next approver."""
        return a_member_of_staff("finance")

    @cached_property
    def partnering(self) -> Staff:
        """A staff member whose studio was approved and who has not seen its secret; another studio is switched off,
        and a third has a key that was ended.
        """
        finance = a_member_of_staff("finance")
        a_partner(by=finance, code="nordlicht", name="Nordlicht Spiele")
        gone = a_partner(code="old-oak", name="Old Oak Interactive")
        switch_off(partner=gone, reason="The contract has ended.", by=finance)
        replaced = signing_key(self.studio)
        another_key(self.studio)
        end_key(key=replaced, reason="Replaced once a year.", by=finance)
        return finance

    @cached_property
    def counted(self) -> Table:
        """A table whose cards are counted, with shuffles of as many decks in which no card has moved."""
        table = Table.objects.get(pk=self.table_id)
        keep(HOUR, table.version_id, dealt())
        keep_unshuffled(HOUR, 1, 300)  # enough for a chart
        return table

    @cached_property
    def figures_id(self) -> int:
        """A report with amounts and sums."""
        return made_here(asked("liability")).pk

    @cached_property
    def revenue_id(self) -> int:
        """A report of a day's play, with amounts in more columns than any other that is set as a table."""
        assert self.regular  # who plays
        now = clock()
        return made_here(asked("revenue", interval=Interval(now - timedelta(days=1), now))).pk

    @cached_property
    def being_made_id(self) -> int:
        """A report that is being made."""
        report = asked("liability")
        Report.objects.filter(pk=report.pk).update(state=ReportState.MAKING, done=1200, of=30_000)
        return report.pk

    @cached_property
    def not_made_id(self) -> int:
        """A report that could not be made."""
        report = asked("liability")
        with registered(a_broken_kind("liability")):
            return made_here(report).pk

    @cached_property
    def viewed_player(self) -> Player:
        """A player that staff have viewed, and a request to keep some data for longer; expired data is deleted."""
        expiry.expire()
        by = a_member_of_staff("compliance")
        retention.ask(what=RetainedData.MAIL, days=400, by=str(by), person=by.person, reason="complaints come late")
        request = RequestFactory().get(reverse("staff_player", kwargs={"player_id": self.regular.pk}))
        request.user, request.resolver_match = a_member_of_staff("support").user, resolve(request.path)
        access_log.note(request, self.regular, what="account, money, play")
        access_log.note_list(request, Player.objects.values_list("pk", flat=True)[:9], what="markers")
        return self.regular

    @cached_property
    def clerk(self) -> Staff:
        """A staff member at the second step of a log-in."""
        user = with_password(User.objects.create_user(CLERK, verified=True))
        second_factor.give(user)
        return employed(user, name="A clerk")

    @cached_property
    def careful(self) -> Player:
        """A player who is about to change how they log in."""
        player = a_player()
        with_password(player.user)
        return player

    @cached_property
    def traveller(self) -> Player:
        """A player who is also logged in from a telephone."""
        player = a_player()
        browser = (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Safari/604.1"
        )
        Session.objects.create(id=uuid4(), user=player.user, ip="2001:db8:85a3::8a2e:370:7334", browser=browser)
        return player

    @cached_property
    def programmer(self) -> Player:
        """A player who has API tokens for two API clients, one of which plays."""
        player = a_player()
        with_password(player.user)
        tokens.make(user=player.user, name="Chart of results", scopes=[Scope.READ], days=365)
        used, _key = tokens.make(
            user=player.user, name="The program that plays while I cook", scopes=tokens.OF_PLAYERS, days=90
        )
        ApiToken.objects.filter(pk=used.pk).update(used_at=now(), used_from="2001:db8:85a3::8a2e:370:7334")
        return player

    @cached_property
    def mirrored(self) -> int:
        """A staff token that was used, and one whose owner may no longer use tokens; the number of the first."""
        member = a_member_of_staff("compliance", name="Ada Lovelace")
        former = a_member_of_staff("support", name="Bo Ek")
        token, _key = tokens.make(
            user=member.user, name="Mirror of the log", scopes=[Scope.EVENTS, Scope.CHECKPOINTS], days=365
        )
        ApiToken.objects.filter(pk=token.pk).update(used_at=now(), used_from="192.0.2.7")
        tokens.make(user=former.user, name="Figures of every month", scopes=[Scope.REPORTS], days=90)
        return token.pk

    @cached_property
    def submitted(self) -> Player:
        """A player who has sent documents that nobody has looked at."""
        player = a_player()
        a_submission(player)
        return player

    @cached_property
    def refused(self) -> Player:
        """A player who has sent documents that do not do."""
        player = a_player()
        staff, note = a_member_of_staff("support"), "The picture of the passport is too dark to read."
        sent = a_submission(player)
        verification.refuse(submission_id=sent.pk, reason=RefusalReason.UNREADABLE, note=note, by=staff)
        return player

    @cached_property
    def verified(self) -> Player:
        """A player with a confirmed identity."""
        return a_verified_player(real=MONEY)

    @cached_property
    def paid_out(self) -> Player:
        """A player who has withdrawals in every state."""
        player = a_verified_player(real=10 * MONEY)
        withdrawals.cancel(player=player, withdrawal_id=a_withdrawal(player, 20_000).pk)
        refused = a_withdrawal(player, 30_000)
        withdrawals.refuse(withdrawal_id=refused.pk, by="staff:test", code="holder", note="")
        with transaction.atomic():
            withdrawals.pay(self._sent(a_withdrawal(player, 40_000)), provider="sandbox", number="SP0123456789")
        with transaction.atomic():
            withdrawals.take_back(self._sent(a_withdrawal(player)), provider="sandbox", code="account_closed")
        self._sent(a_withdrawal(player, 60_000))
        approve(a_withdrawal(player, 5 * MONEY))
        a_withdrawal(player, 70_000)
        return player

    def _sent(self, withdrawal: Withdrawal) -> Withdrawal:
        approve(withdrawal)
        withdrawals.send(withdrawal.pk, provider="sandbox")
        return Withdrawal.objects.select_related("player").get(pk=withdrawal.pk)

    @cached_property
    def limited(self) -> Player:
        """A player who has limits, and one that is to be raised."""
        player = a_player(real=MONEY)
        for amount in (10_000, 500_000):
            self._limit(player, LimitKind.STAKE, Period.DAY, amount)
        self._limit(player, LimitKind.LOSS, Period.MONTH, 250_000)
        self._limit(player, LimitKind.TIME, Period.WEEK, 36_000)
        return player

    def _limit(self, player: Player, kind: LimitKind, period: Period, amount: int) -> None:
        limits.set_limit(player=player, kind=kind, period=period, amount=amount, by=str(player))

    @cached_property
    def asked(self) -> Player:
        """A player who has to set limits before playing."""
        return a_newcomer("SE")

    @cached_property
    def offered(self) -> Player:
        """A player who is offered limits before playing."""
        return a_newcomer("GB")

    @cached_property
    def behind(self) -> Player:
        """A player who has not agreed to the terms in force."""
        return a_newcomer("DK", agrees=False)

    @cached_property
    def paused(self) -> Player:
        """A player who takes a pause, and excludes themselves beyond it."""
        player = a_player(real=MONEY)
        exclusions.pause(player=player, by=str(player))
        exclusions.exclude_self(player=player, months=6, by=str(player))
        return player

    @cached_property
    def pens(self) -> Pens:
        """The keys of the signer; the server of the scene trusts them."""
        return Pens()

    @cached_property
    def refused_log(self) -> Checkpoint:
        """The signer has signed once, and refuses what came then."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT audit_seal(5)")
        reason = "a tree of 5 leaves does not extend one of 6"
        log.record("log.refused", by="system", on="log", data={"reason": reason, "size": 5, "signed": 3})
        return Checkpoint.objects.create(size=3, root=bytes(32), at=now(), note=self.pens.note(3, bytes(32)))

    @cached_property
    def leaver(self) -> Player:
        """A player who closes the account, which waits for its money to be paid."""
        player = a_verified_player(real=MONEY)
        closing.close(player=player, account=an_account(player, IBAN), key=uuid4(), ip="127.0.0.1")
        return player

    def go_wrong(self, owner: psycopg.Connection) -> None:
        """Damage a stored round, let the house find it, and open the table again."""
        corrupt(owner, self.voided_id)
        verification_task.verify_finished_rounds()
        open_table(table_id=self.table_id, reason="looked into", by="staff:test")
