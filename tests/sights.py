"""The sights of the house: every page of the matrix, and the states a page can be in.

The tests of every page and `make screenshots` look at the same list.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse
from django.utils.translation import override
from playwright.sync_api import Page

from games.history import in_progress
from games.models import ChatMessage, Participation
from players.models import Conversation, Player, User
from players.support import complaints
from tests import actions
from tests.matrix import LINES, PAGE, ROLES, STAFF, Line
from tests.scene import Scene
from tests.wallet.statement_builders import drafted
from tests.wallet.studios import a_partner
from wallet.models import Mode, Withdrawal
from wallet.payments.sandbox import request_for
from wallet.sandbox_bank.orders import seal

SIZES = {"wide": (1280, 800), "tablet": (768, 1024), "phone": (390, 844), "lying": (844, 390)}  # CSS pixels


@dataclass(frozen=True)
class Sight:
    """A page in one state: who looks at it, where it is, what is done there first, and at which sizes it can be."""

    name: str
    who: Callable[[Scene], User | None]
    path: Callable[[Scene], str]
    show: Callable[[Page], None] = lambda page: None
    sizes: tuple[str, ...] = tuple(SIZES)

    def url(self, scene: Scene, language: str = "en") -> str:
        """Return its address in *language*."""
        with override(language):
            return self.path(scene)


def sights() -> tuple[Sight, ...]:
    """Return all there is to see, in the order of the matrix, then the states."""
    return (*_pages(), *STATES)


def _pages() -> Iterator[Sight]:
    seen: Counter[str] = Counter()
    for line in (line for line in LINES if line.is_page):
        seen[line.name] += 1
        number = f" {seen[line.name]}" if seen[line.name] > 1 else ""
        for role in _eyes(line):
            yield Sight(f"{line.name}{number} as {role}", _as(role), _at(line))


def _eyes(line: Line) -> list[str]:
    """Return the roles with a different view: the other player has no data yet, staff pages differ only at home."""
    roles = [role for role in ROLES if line.answers[role] is PAGE]
    if line.name == "staff_home":
        return roles
    kinds = {role: "staff" if role in STAFF else role for role in roles}
    if "anonymous" in roles:
        kinds.pop("other_player", None)
    return [role for role in kinds if list(kinds.values()).index(kinds[role]) == list(kinds).index(role)]


def _as(role: str) -> Callable[[Scene], User | None]:
    return lambda scene: scene.user(role)


def _at(line: Line) -> Callable[[Scene], str]:
    return lambda scene: reverse(line.name, kwargs=dict(line.arguments(scene)))


def _named(name: str, query: str = "", /, **arguments: object) -> Callable[[Scene], str]:
    return lambda scene: reverse(name, kwargs=arguments) + query


REAL_TABLE = _named("table", slug="baccarat", mode=Mode.REAL)
FREE_TABLE = _named("table", slug="baccarat", mode=Mode.FREE)
GOLDEN = _named("table", slug="golden", mode=Mode.REAL)
nobody = _as("anonymous")
player = _as("player")


def _round(scene: Scene) -> str:
    return reverse("round", kwargs={"round_id": scene.voided_id})


def _own_coup(scene: Scene) -> str:
    return reverse("round", kwargs={"round_id": scene.chemin_winner.participation_set.latest("at").round_id})


def _round_in_progress(scene: Scene) -> str:
    return reverse("round", kwargs={"round_id": in_progress(scene.at_a_live_table).get().pk})


def _credited(scene: Scene) -> str:
    return reverse("cashier_payment", kwargs={"payment_id": scene.credited.pk})


def _declined(scene: Scene) -> str:
    return reverse("cashier_payment", kwargs={"payment_id": scene.declined.pk})


def _golden_door(scene: Scene) -> str:
    return reverse("demo_table", kwargs={"slug": scene.golden.slug})


def _visited(scene: Scene) -> str:
    return reverse("staff_player", kwargs={"player_id": scene.viewed_player.pk})


def _change_of_a_table(scene: Scene) -> str:
    return reverse("staff_table_change", kwargs={"table_id": scene.table_id})


def _row_of_a_list(scene: Scene) -> str:
    part = Participation.objects.filter(round_id=scene.voided_id).latest("at")
    return reverse("staff_list_games_participation_row", kwargs={"key": part.pk})


def _staff_round(scene: Scene) -> str:
    return reverse("staff_round", kwargs={"round_id": scene.voided_id})


def _staff_coup(scene: Scene) -> str:
    return f"{reverse('staff_rounds')}?round={scene.chemin_coup}"


def _new_partner(scene: Scene) -> str:
    """Return the page of partners, with one whose secret nobody has seen."""
    a_partner(by=scene.partnering, name="A new studio")
    return reverse("staff_partners")


def _staff_round_in_progress(scene: Scene) -> str:
    return reverse("staff_round", kwargs={"round_id": in_progress(scene.at_a_live_table).get().pk})


def _friends(scene: Scene) -> str:
    _table, (giver, taker, *_) = scene.chemin_friends
    first, second = sorted((giver.pk, taker.pk))
    return reverse("staff_play_pair", kwargs={"first_id": first, "second_id": second})


def _return(scene: Scene) -> str:
    return reverse("staff_returns_game", kwargs={"variant": scene.summed_up.variant})


def _reported(scene: Scene) -> str:
    live_table, (_giver, taker, *_) = scene.chemin_friends
    seat = live_table.chemin_seats.get(player=taker)
    return _named("chemin_report", f"?seat={seat.pk}", slug=live_table.table.slug, mode=Mode.REAL)(scene)


def _fair(scene: Scene) -> str:
    played = scene.player.participation_set.get(round_id=scene.round_id).round
    return f"{reverse('fair')}?commitment={played.commitment}&seed={bytes(played.seed or b'').hex()}&decks=8"


def _players(moment: str) -> Callable[[Scene], str]:
    """Return a Chemin de Fer table at one moment of an evening."""
    return _named("table", slug=f"chemin-{moment}", mode=Mode.REAL)


def _live(moment: str) -> Callable[[Scene], str]:
    """Return a shared table at one moment of a round."""
    return _named("table", slug=f"live-{moment}", mode=Mode.REAL)


def _conversation(name: str) -> Callable[[Scene], str]:
    return lambda scene: reverse(name, kwargs={"conversation_id": scene.answered_id})


def _decided(name: str) -> Callable[[Scene], str]:
    return lambda scene: reverse(name, kwargs={"conversation_id": scene.decided_id})


def _complaint_case(name: str) -> Callable[[Scene], str]:
    """Return the page on which staff work on a complaint."""

    def address(scene: Scene) -> str:
        conversation = Conversation.objects.get(pk=getattr(scene, name))
        return reverse("staff_case", args=[complaints.case_of(conversation).pk])

    return address


def _overdue(name: str) -> Callable[[Scene], str]:
    return lambda scene: reverse(name, kwargs={"conversation_id": scene.overdue_id})


def _of(name: str) -> Callable[[Scene], User | None]:
    """One of the players of the scene."""

    def user(scene: Scene) -> User:
        found: Player = getattr(scene, name)
        return found.user

    return user


def _with(name: str, page: str, query: str = "") -> Callable[[Scene], str]:
    """Return a page of the back office that shows an object of the scene."""
    return lambda scene: f"{reverse(page)}{query}" if getattr(scene, name) else ""


def _a_live_table(scene: Scene) -> str:
    """A shared table, which is there for every first viewer."""
    return _live("settled")(scene) if scene.live_settled else ""


def _doubt(scene: Scene) -> str:
    """Return the page of a message that an operator refuses to book."""
    return reverse("staff_operator_message", kwargs={"message_id": scene.operator_doubt.pk})


def _letter(scene: Scene) -> str:
    """The house's letter to the person who lost their name in the chat."""
    said = Conversation.objects.get(player=scene.nameless_in_chat)
    return reverse("service_thread", kwargs={"conversation_id": said.pk})


def _new_letter(scene: Scene) -> str:
    """Return the page on which staff write to somebody first."""
    return reverse("staff_service_new", kwargs={"player_id": scene.banned_from_chat.pk})


def _a_nameless_message(scene: Scene) -> str:
    """The staff page of a message whose author's name was removed."""
    said = ChatMessage.objects.get(player=scene.nameless_in_chat)
    return reverse("staff_chat_message", kwargs={"message_id": said.pk})


def _incident(name: str, page: str = "staff_incident") -> Callable[[Scene], str]:
    """Return a page of an incident of the scene."""
    return lambda scene: reverse(page, args=[getattr(scene, name).pk])


def _found(scene: Scene) -> str:
    """Players of one name."""
    return f"{reverse('staff_players')}?who=bergstrom" if scene.pair else ""


def _report(name: str, query: str = "") -> Callable[[Scene], str]:
    return lambda scene: reverse("staff_report", kwargs={"report_id": getattr(scene, name)}) + query


def _faulty_statement(scene: Scene) -> str:
    draft = drafted([{"reference": "x", "amount": "1.234,50"}], staff=scene.finance)
    return reverse("staff_statement_draft", kwargs={"draft_id": draft.pk})


def _counted(scene: Scene) -> str:
    return f"{reverse('staff_randomness')}?version={scene.counted.version_id}"


def _again(page: str) -> Callable[[Scene], str]:
    """Return a page that asks for the password first."""
    return lambda scene: f"{reverse('account_reauthenticate')}?next={reverse(page)}"


def _complaint(scene: Scene) -> str:
    played = scene.player.participation_set.get(round_id=scene.round_id).round
    return f"{reverse('service_new')}?round={played.code}"


def _colleague(scene: Scene) -> str:
    """Return the page of a staff member."""
    colleague = scene.user("support")
    assert colleague
    return reverse("staff_person", kwargs={"staff_id": colleague.staff.pk})


def _limited(scene: Scene) -> str:
    return reverse("staff_player_limits", kwargs={"player_id": scene.limited.pk})


def _withdrawal(scene: Scene) -> str:
    asked = Withdrawal.objects.filter(player=scene.withdrawer).earliest("pk")
    return reverse("staff_withdrawal", kwargs={"withdrawal_id": asked.pk})


def _at_the_bank(scene: Scene) -> str:
    order = seal(request_for(scene.credited), settings.SANDBOX_BANK_KEY)
    return reverse("sandbox_bank", kwargs={"order": order})


STATES = (
    Sight("withdraw with requests", _of("withdrawer"), _named("cashier_withdraw")),
    Sight("staff_withdrawals with requests", _of("second_approver"), _with("withdrawer", "staff_withdrawals")),
    Sight("staff: a withdrawal", _of("second_approver"), _withdrawal),
    Sight("staff_approvals to decide", _of("second_approver"), _with("withdrawer", "staff_approvals")),
    Sight("staff_approvals of one's own", _of("first_approver"), _with("withdrawer", "staff_approvals")),
    Sight(
        "a way in that is used up",
        lambda scene: None,
        _named("operator_enter", code="nobody-s"),
        sizes=("wide", "phone"),
    ),
    Sight("table of an operator's player", _of("from_an_operator"), REAL_TABLE, sizes=("wide", "phone")),
    Sight("cashier of an operator's player", _of("from_an_operator"), _named("cashier"), sizes=("wide", "phone")),
    Sight(
        "live table that is not for operators' players",
        _of("from_an_operator"),
        _a_live_table,
        sizes=("phone",),
    ),
    Sight("staff_operators with a doubt", _as("finance"), _with("operator_doubt", "staff_operators")),
    Sight("staff_operator_message that finance settles", _as("finance"), _doubt),
    Sight("table with bets", _of("bettor"), REAL_TABLE),
    Sight("table with bets in free play", _of("bettor"), FREE_TABLE),
    Sight("table after a round", _of("regular"), REAL_TABLE, actions.play_a_round),
    Sight("table after a round in free play", _of("regular"), FREE_TABLE, actions.play_a_round),
    Sight("table with an error", _of("pauper"), REAL_TABLE, actions.bet_too_much),
    Sight("table that pauses", _of("at_a_paused_table"), _named("table", slug="paused", mode=Mode.REAL)),
    Sight("lobby with a table that pauses", player, _with("live_paused", "lobby"), sizes=("wide", "phone")),
    Sight("staff_floor with a table that pauses", _as("operator"), _with("live_paused", "staff_floor")),
    Sight("golden with bets", _of("golden_bettor"), GOLDEN),
    Sight("golden with the re-buy dialog", _of("golden_bettor"), GOLDEN, actions.open_rebuy),
    *(
        Sight(f"live table, {each}", _of(f"live_{each}"), _live(each), sizes=("wide", "phone"))
        for each in ("closed", "settled", "voided", "stopped", "paused")
    ),
    Sight(
        "own bets at a live table",
        _of("live_settled"),
        _named("live_statistics", slug="live-settled", mode=Mode.REAL),
        sizes=("wide", "phone"),
    ),
    *(
        Sight(
            f"live table, {each} next to it", _of("live_settled"), _live("settled"), actions.open_panel(each), ("wide",)
        )
        for each in ("chat", "favourites", "limits", "history", "cashier", "rules", "settings")
    ),
    *(
        Sight(
            f"live table, {each} above it", _of("live_settled"), _live("settled"), actions.open_panel(each), ("phone",)
        )
        for each in ("statistics", "limits", "cashier", "rules", "settings")
    ),
    Sight("live table, a round above it", _of("live_settled"), _live("settled"), actions.open_past_round, ("phone",)),
    *(
        Sight(f"Chemin de Fer table, {each}", _of(f"chemin_{each}"), _players(each))
        for each in ("watching", "calling", "staking", "punter", "winner")
    ),
    *(
        Sight(f"Chemin de Fer table, {each}", _of(f"chemin_{each}"), _players(each), sizes=("wide", "phone"))
        for each in ("choosing", "offered", "banker", "bidding", "away", "paused")
    ),
    Sight("Chemin practice table", _of("chemin_practice"), _named("table", slug="chemin-practice", mode=Mode.FREE)),
    *(
        Sight(
            f"Chemin de Fer table, {each} above it",
            _of("chemin_winner"),
            _players("winner"),
            actions.open_panel(each),
            ("phone",),
        )
        for each in ("log", "rules", "settings")
    ),
    Sight("chat", _of("live_talk"), _live("talk"), actions.open_chat, sizes=("wide", "phone")),
    Sight("chat with a message in question", _of("live_talk"), _live("talk"), actions.open_chat_choices),
    Sight("chat refused", _of("live_talk"), _live("talk"), actions.say_an_address, sizes=("wide", "phone")),
    Sight("chat of a banned player", _of("banned_from_chat"), _live("talk"), actions.open_chat, sizes=("phone",)),
    Sight("chat of a muted player", _of("muted_in_chat"), _live("talk"), actions.open_chat, sizes=("phone",)),
    Sight("chat of a player without a name", _of("nameless_in_chat"), _live("talk"), actions.open_chat),
    Sight("a letter about the chat", _of("nameless_in_chat"), _letter),
    Sight("chat on its page", _of("live_talk"), _named("live_chat", "?page", slug="live-talk", mode=Mode.REAL)),
    Sight("staff: a reported message", _as("support"), _with("live_talk", "staff_chat")),
    Sight("staff: a message under a name that was taken", _as("support"), _a_nameless_message),
    Sight("staff: decided in the chat", _as("support"), _with("decided_in_chat", "staff_chat", "?state=decided")),
    Sight("staff: a letter that needs more", _as("support"), _new_letter, actions.begin_from_a_template),
    Sight("staff: nothing in the chat fits", _as("support"), _with("live_talk", "staff_chat", "?reason=private")),
    Sight("staff: what was said", _as("support"), _with("banned_from_chat", "staff_chat_log")),
    Sight("live table with an error", _of("live_bets"), _live("bets"), actions.bet_beyond_the_maximum),
    Sight("lobby of play money, by company", player, _named("lobby", "?money=free&company=others")),
    Sight("lobby where nothing fits", player, _named("lobby", "?favourites=1"), sizes=("wide", "phone")),
    Sight("history with rounds", _of("regular"), _named("history")),
    Sight("history with a round in progress", _of("at_a_live_table"), _named("history")),
    Sight("a round in progress", _of("at_a_live_table"), _round_in_progress, sizes=("wide", "phone")),
    Sight("history with a coup", _of("chemin_winner"), _named("history"), actions.open_details),
    Sight("history with a coup in progress", _of("chemin_banker"), _named("history"), sizes=("wide", "phone")),
    Sight("replay of a coup", _of("chemin_winner"), _own_coup),
    Sight("history with a voided round", _of("wronged"), _named("history")),
    Sight("history with a wrong filter", _of("regular"), _named("history", "?since=x&until=x")),
    Sight("a voided round", _of("wronged"), _round),
    Sight("cashier with movements", _of("regular"), _named("cashier")),
    Sight("cashier with a deposit in progress", player, _with("payment", "cashier")),
    Sight("a deposit that was credited", lambda scene: scene.credited.player.user, _credited),
    Sight("a deposit that was declined", lambda scene: scene.declined.player.user, _declined),
    Sight("cashier with an error", player, _named("cashier"), actions.deposit_nonsense),
    Sight("statement with movements", _of("regular"), _named("statement")),
    Sight("statement with a wrong period", player, _named("statement", "?since=2026-02-02&until=2026-02-01")),
    Sight("a complaint with its answer", _of("regular"), _conversation("service_thread")),
    Sight("a complaint that is decided", _of("complainant"), _decided("service_thread")),
    Sight("a complaint that is overdue", _of("impatient"), _overdue("service_thread")),
    Sight("staff: a complaint that is decided", _as("support"), _complaint_case("decided_id")),
    Sight("staff: a complaint that is overdue", _as("compliance"), _complaint_case("overdue_id")),
    Sight(
        "staff: a decision before it is taken",
        _as("compliance"),
        _complaint_case("overdue_id"),
        actions.show_a_decision,
    ),
    Sight("staff: complaints", _as("compliance"), _with("overdue_id", "staff_cases", "?kind=complaint")),
    Sight(
        "staff: complaints that ended",
        _as("compliance"),
        _with("decided_id", "staff_cases", "?kind=complaint&state=closed"),
    ),
    Sight("a message without words", player, _named("service_new"), actions.send_nothing),
    Sight("staff: a complaint with its answer", _as("support"), _complaint_case("answered_id")),
    Sight("log-in with an error", nobody, _named("account_login"), actions.log_in_wrongly),
    Sight("registration with errors", nobody, _named("account_signup"), actions.register_with_nothing),
    Sight("a round that checks out", _of("player"), _fair, actions.check_a_round),
    Sight("the menu of a player", player, _named("lobby"), actions.open_the_menu, sizes=("phone",)),
    Sight("the menu of a visitor", nobody, _named("lobby"), actions.open_the_menu, sizes=("phone",)),
    Sight("the session about to end", player, REAL_TABLE, actions.warn_of_the_end),
    Sight("the session timed out", player, REAL_TABLE, actions.time_out),
    Sight("the preferences", player, REAL_TABLE, actions.open_preferences),
    Sight("the shortcuts", _of("bettor"), REAL_TABLE, actions.open_shortcuts),
    Sight("a visitor at a table", nobody, _named("demo_table", slug="baccarat"), actions.sit_down_as_a_visitor),
    Sight("a visitor who watches", nobody, _golden_door, actions.watch_as_a_visitor),
    Sight("refused", player, _named("staff_home")),
    Sight("nothing there", nobody, lambda scene: reverse("lobby") + "nowhere/"),
    Sight("an old form", nobody, _named("account_login"), actions.send_an_old_token),
    Sight("too often", nobody, _named("account_login"), actions.log_in_too_often),
    Sight("our fault", nobody, lambda scene: reverse("lobby") + "broken/"),
    Sight(
        "the second step with a wrong code", nobody, _with("clerk", "account_login"), actions.show_staff_who_they_are
    ),
    Sight("a locked log-in", nobody, _named("account_login"), actions.be_locked_out),
    Sight("a wrong code by mail", nobody, _named("account_reset_password"), actions.give_a_wrong_code),
    Sight("changing the address with an error", _of("careful"), _named("account_email"), actions.refuse_form),
    Sight(
        "changing the address, confirmed by a code", _of("careful"), _named("account_email"), actions.change_the_address
    ),
    Sight("changing the password with errors", player, _named("account_change_password"), actions.refuse_form),
    Sight("setting up an app", _of("careful"), _named("mfa_activate_totp"), actions.set_up_wrongly),
    Sight("adding a passkey", _of("careful"), _named("mfa_add_webauthn"), actions.confirm_password),
    Sight("removing the app", _as("operator"), _again("mfa_deactivate_totp"), actions.confirm_password),
    Sight("recovery codes", _as("operator"), _again("mfa_generate_recovery_codes"), actions.make_codes),
    Sight("programs", _of("programmer"), _named("account_api_tokens")),
    Sight("a new token", _of("programmer"), _again("account_api_token_new"), actions.confirm_password),
    Sight("a new token with errors", _of("programmer"), _again("account_api_token_new"), actions.ask_for_no_token),
    Sight("a token that is shown once", _of("programmer"), _again("account_api_token_new"), actions.make_a_token),
    Sight("staff: partners", _of("partnering"), _with("partnering", "staff_partners"), actions.unfold_an_action),
    Sight("staff: a new partner with errors", _of("partnering"), _named("staff_partner_new"), actions.refuse_form),
    Sight("staff: a secret that is shown once", _of("partnering"), _new_partner, actions.show_a_secret),
    Sight("staff: programs", _as("compliance"), _with("mirrored", "staff_api_tokens")),
    Sight("staff: a new token with errors", _as("compliance"), _again("staff_api_token_new"), actions.ask_for_no_token),
    Sight("staff: a token that is shown once", _as("compliance"), _again("staff_api_token_new"), actions.make_a_token),
    Sight("all that is held about a player", _of("programmer"), _again("account_data"), actions.confirm_password),
    Sight("two sessions", _of("traveller"), _named("account_sessions")),
    Sight("new terms", _of("behind"), _named("terms_agree")),
    Sight("closing with errors", _of("verified"), _named("account_close"), actions.refuse_form),
    Sight("closing", _of("leaver"), _named("account_close")),
    Sight("identity with errors", player, _named("identity"), actions.refuse_identity),
    Sight("identity sent", _of("submitted"), _named("identity")),
    Sight("identity refused", _of("refused"), _named("identity")),
    Sight("identity verified", _of("verified"), _named("identity")),
    Sight("withdraw with errors", _of("verified"), _named("cashier_withdraw"), actions.withdraw_nonsense),
    Sight("withdrawals in every state", _of("paid_out"), _named("cashier_withdraw")),
    Sight("the bank, answered", nobody, _at_the_bank),
    Sight("limits of one's own", _of("limited"), _named("limits")),
    Sight("limits with errors", _of("limited"), _named("limits"), actions.limit_nonsense),
    Sight("limits to set", _of("asked"), _named("limits")),
    Sight("limits on offer", _of("offered"), _named("limits")),
    Sight("the question before a pause", player, _named("lobby"), actions.ask_to_pause),
    Sight("safer play while excluded", _of("paused"), _named("protection")),
    Sight("the reality check", _of("night_owl"), REAL_TABLE, actions.wait_for_the_check),
    Sight("no table while excluded", _of("paused"), REAL_TABLE),
    Sight("no table before limits", _of("asked"), REAL_TABLE),
    Sight("no table before an answer", _of("offered"), REAL_TABLE),
    Sight("no table before the terms", _of("behind"), REAL_TABLE),
    Sight("no table while closing", _of("leaver"), REAL_TABLE),
    Sight("complaining about a round", player, _complaint),
    Sight("statement without movements", _of("careful"), _named("statement")),
    Sight("staff: identity to look at", _as("compliance"), _with("submission", "staff_identity")),
    Sight("staff: who may be one person", _as("compliance"), _with("pair", "staff_duplicates")),
    Sight("staff: templates of replies", _as("compliance"), _named("staff_replies")),
    Sight("staff: a template of replies", _as("compliance"), _named("staff_reply", name="deposit")),
    Sight("staff: a new template with errors", _as("compliance"), _named("staff_reply_new"), actions.refuse_form),
    Sight(
        "staff: notices", _as("operator"), _with("withdrawn_notice_id", "staff_notices"), actions.unfold_the_withdrawal
    ),
    Sight("staff: a new notice with errors", _as("operator"), _named("staff_notice_new"), actions.write_no_notice),
    Sight("staff: a notice as it will be read", _as("operator"), _named("staff_notice_new"), actions.see_the_notice),
    Sight("staff: messages", _as("support"), _with("answered_id", "staff_service", "?state=answered")),
    Sight("staff: exclusions", _as("support"), _with("exclusion_id", "staff_exclusions")),
    Sight("staff: limits of a player", _as("support"), _limited),
    Sight("staff: a row of a list", _as("compliance"), _row_of_a_list),
    Sight(
        "staff: a list narrowed wrongly",
        _as("compliance"),
        _named("staff_list_wallet_payment", "?q=x&state=waiting&since=x"),
    ),
    Sight("staff: a list of deposits", _as("compliance"), _with("credited", "staff_list_wallet_payment")),
    Sight(
        "staff: what will be done to rows", _as("supervisor"), _named("staff_list_games_table"), actions.choose_all_rows
    ),
    Sight("staff: a round", _as("compliance"), _staff_round),
    Sight("staff: no such player", _as("support"), _named("staff_players", "?who=x")),
    Sight("staff: players found", _as("compliance"), _found),
    Sight("staff: a round in progress", _as("compliance"), _staff_round_in_progress),
    Sight("staff: no such round", _as("compliance"), _named("staff_rounds", "?round=x")),
    Sight("staff: an incident", _as("compliance"), _incident("voided_incident")),
    Sight("staff: an event", _as("compliance"), _named("staff_events"), actions.open_details),
    Sight("staff: who looked at a player", _as("compliance"), _visited),
    Sight("staff: figures", _as("finance"), _report("figures_id", "?check"), actions.open_details),
    Sight("staff: gross gaming revenue", _as("finance"), _report("revenue_id")),
    Sight("staff: a report that is being made", _as("finance"), _report("being_made_id")),
    Sight("staff: a report that failed", _as("finance"), _report("not_made_id")),
    Sight("staff: access log", _as("compliance"), _with("viewed_player", "staff_access_log")),
    Sight(
        "staff: another period asked for",
        _as("compliance"),
        _with("viewed_player", "staff_retention"),
        actions.open_details,
    ),
    Sight("staff: other roles that lack everything", _as("administrator"), _colleague, actions.ask_for_no_roles),
    Sight("staff: a page of other roles", _as("support"), _named("staff_ledger")),
    Sight("staff: another period to agree to", _as("compliance"), _with("viewed_player", "staff_approvals")),
    Sight(
        "staff: significant events",
        _as("compliance"),
        _with("significant_id", "staff_significant"),
        actions.open_details,
    ),
    Sight("staff: thresholds", _as("compliance"), _named("staff_thresholds"), actions.open_details),
    Sight("staff: nothing significant", _as("compliance"), _named("staff_significant", "?about=x")),
    Sight("staff: no such event", _as("compliance"), _named("staff_events", "?on=x&kind=x")),
    Sight("staff: a log that is refused", _as("compliance"), _with("refused_log", "staff_log"), actions.open_details),
    Sight("staff: a statement that cannot be read", _as("finance"), _faulty_statement),
    Sight("staff: no such journal", _as("finance"), _named("staff_ledger", "?round=x")),
    Sight("staff: the floor with a stopped table", _as("supervisor"), _with("incident", "staff_floor")),
    Sight(
        "staff: what can be done at a table", _as("supervisor"), _with("incident", "staff_floor"), actions.unfold_row
    ),
    Sight("staff: only tables that want somebody", _as("operator"), _named("staff_floor", "?needs=1&state=paused")),
    Sight("staff: a new table", _as("supervisor"), _named("staff_table_new", "?like=pairs:shared")),
    Sight(
        "staff: a table that cannot be",
        _as("supervisor"),
        _named("staff_table_new", "?like=baccarat:solo"),
        actions.ask_for_no_table,
    ),
    Sight("staff: what a table comes to", _as("supervisor"), _change_of_a_table, actions.see_what_it_comes_to),
    Sight("staff: an incident to rule on", _as("supervisor"), _incident("incident"), actions.open_details),
    Sight(
        "staff: an alarm about returns", _as("supervisor"), _with("summed_up", "staff_returns"), actions.open_details
    ),
    Sight("staff: shuffles that are not chance", _as("compliance"), _counted, actions.open_details),
    Sight("staff: how a return went", _as("compliance"), _return, actions.open_details),
    Sight("staff: Chemin de Fer tables", _as("supervisor"), _with("chemin_trouble", "staff_floor")),
    Sight(
        "staff: a letter as it will be read",
        _as("supervisor"),
        _incident("voided_incident", "staff_incident_letter"),
        actions.show_the_letter,
    ),
    Sight("staff: no incident like it", _as("compliance"), _named("staff_incidents", "?kind=overdue")),
    Sight("staff: an incident between players", _as("supervisor"), _incident("chemin_trouble")),
    Sight("staff: a coup between players", _as("compliance"), _staff_coup),
    Sight("staff: players who stand out", _as("compliance"), _with("chemin_friends", "staff_play")),
    Sight("staff: how two players play", _as("compliance"), _friends),
    Sight("staff: what players reported", _as("supervisor"), _with("chemin_reporter", "staff_play_reports")),
    Sight(
        "reporting how a player plays",
        _of("chemin_reporter"),
        _reported,
    ),
)
