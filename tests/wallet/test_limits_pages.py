"""The limits page of players, and that of staff."""

from datetime import date
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from players.account import terms
from players.models import Jurisdiction, LimitChange, LimitKind, LimitSource, Period, Player, User
from players.protection.limits import own_limits, pending, set_limit, should_offer
from tests.builders import a_player, a_seat, a_table, confirm_identity
from tests.harness.owner import as_owner, without_guards
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, events
from tests.wallet.money_moves import a_round
from wallet.ledger import accounts
from wallet.models import Payment

pytestmark = pytest.mark.django_db

PAGE = "/en/protection/limits/"


@pytest.fixture
def player():
    return a_player("GB", real=100_000)


@pytest.fixture
def visitor(player):
    client = Client()
    client.force_login(player.user)
    return client


def limit(player, kind, period, amount, source=LimitSource.PLAYER):
    set_limit(player=player, kind=LimitKind(kind), period=Period(period), amount=amount, by="player:1", source=source)


def send(visitor, kind, **fields):
    data = {f"{kind}-{name}": value for name, value in fields.items()} | {f"{kind}-kind": kind}
    return visitor.post(PAGE, data, follow=True).content.decode()


@pytest.mark.sweep
def test_shows_what_holds_whose_it_is_what_is_used_and_left(visitor, player):
    limit(player, "loss", "week", 5000)
    limit(player, "loss", "month", 9000, LimitSource.HOUSE)
    a_round(player, staked=2000, paid=500)
    page = visitor.get(PAGE).content.decode()
    for text in ("£50.00", "£35.00", "£15.00", "£90.00", "£75.00", ">You<", "The casino"):
        assert text in page


@pytest.mark.sweep
def test_in_germany_the_law_s_limit_is_shown():
    visitor = Client()
    visitor.force_login(a_player("DE").user)
    page = visitor.get(PAGE).content.decode()
    assert ">Law<" in page
    assert "€1,000.00" in page


def test_saying_what_was_set_and_from_when(visitor, player):
    page = send(visitor, "stake", day="100", week="", month="1,000")
    assert "Stake limit · Day: your limit is £100.00 from now on." in page
    assert "Stake limit · Month: your limit is £1,000.00 from now on." in page
    page = send(visitor, "stake", day="150", week="", month="1,000")
    change = pending(player)[LimitKind.STAKE, Period.DAY]
    assert "The lower limit applies until you do." in page
    assert (change.amount, LimitChange.objects.filter(player=player).count()) == (15_000, 3)
    assert "£150.00, once you have confirmed it (possible from" in page
    assert "Confirm this change" not in page


def test_gb_a_raise_is_confirmed_with_a_button_once_its_wait_is_over(visitor, player):
    limit(player, "deposit", "week", 10_000)
    limit(player, "deposit", "week", 20_000)
    confirm, which = reverse("limits_confirm"), {"kind": "deposit", "period": "week"}
    assert "There is no change that you can confirm yet." in visitor.post(confirm, which, follow=True).text
    with without_guards("players_limitchange"):
        as_owner("UPDATE players_limitchange SET effective_at = clock_timestamp(), asked_at = clock_timestamp()")
    assert "Confirm this change" in visitor.get(PAGE).text
    page = visitor.post(confirm, which, follow=True).text
    assert "Deposit limit · Week: your limit is £200.00 from now on." in page
    assert own_limits(player) == {(LimitKind.DEPOSIT, Period.WEEK): 20_000}


@pytest.mark.sweep
def test_what_is_sent_again_unchanged_withdraws_nothing(visitor, player):
    limit(player, "stake", "day", 10_000)
    limit(player, "stake", "day", 20_000)
    assert "Nothing was changed." in send(visitor, "stake", day="100", week="", month="")
    assert pending(player)[LimitKind.STAKE, Period.DAY].amount == 20_000


@pytest.mark.sweep
def test_a_pending_change_is_withdrawn_with_a_button(visitor, player):
    limit(player, "stake", "day", 10_000)
    limit(player, "stake", "day", None)
    assert "once you have confirmed" in visitor.get(PAGE).content.decode()
    for said in (
        "Stake limit · Day: the change is cancelled and your limit stays the same.",
        "There is no pending change to cancel.",
    ):
        answer = visitor.post(PAGE + "withdraw/", {"kind": "stake", "period": "day"}, follow=True)
        assert said in answer.content.decode()
    assert pending(player) == {}


@pytest.mark.sweep
def test_hours_are_whole_and_no_more_than_a_period_has(visitor, player):
    assert "Time limit · Day: your limit is 3 hours from now on." in send(visitor, "time", day="3", week="", month="")
    assert own_limits(player)[LimitKind.TIME, Period.DAY] == 3 * 3600
    for wrong in ("25", "0", "-1", "1.5", "three", "٣", "9" * 30):
        assert "Enter whole hours, from 1 to 24." in send(visitor, "time", day=wrong, week="", month="")


@pytest.mark.sweep
@pytest.mark.parametrize("wrong", sample(["0", "-1", "0.001", "1e9", "NaN", "10" * 20], 3))
def test_what_is_no_amount_is_refused_with_a_sentence_and_nothing_is_set(visitor, player, wrong):
    page = send(visitor, "deposit", day=wrong, week="50", month="")
    assert 'role="alert"' in page
    assert own_limits(player) == {}


def test_a_required_limit_is_not_removed():
    player, visitor = a_player("SE"), Client()
    visitor.force_login(player.user)
    page = send(visitor, "deposit", day="", week="", month="")
    assert "This limit is required in your country." in page
    assert len(own_limits(player)) == 3


@pytest.mark.sweep
def test_a_longer_limit_that_makes_a_shorter_one_moot_is_reported(visitor, player):
    limit(player, "stake", "day", 10_000)
    limit(player, "stake", "week", 10_000)
    assert "The weekly limit is not higher, so this limit has no effect." in visitor.get(PAGE).content.decode()


def a_newcomer(code: str) -> tuple[Player, Client]:
    """A newly registered player and their browser."""
    where = Jurisdiction.objects.get(pk=code)
    user = User.objects.create_user(f"newcomer.{code.lower()}@example.com", None)
    player = Player.objects.create(
        user=user, jurisdiction=where, currency=where.currencies[0], birth_date=date(1990, 1, 1)
    )
    accounts.open_accounts(player)
    confirm_identity(player)
    visitor = Client()
    visitor.force_login(user)
    return player, visitor


@pytest.mark.sweep
def test_a_player_who_must_set_limits_is_informed_and_cannot_skip():
    _player, visitor = a_newcomer("SE")
    page = visitor.get(PAGE).content.decode()
    assert "Set your deposit limits before you play." in page
    assert "Not now" not in page


@pytest.mark.sweep
@pytest.mark.parametrize("code", sample(["DK", "RO", "GB"], 1))
def test_a_player_who_is_offered_some_can_decline_and_is_not_asked_again(code):
    player, visitor = a_newcomer(code)
    assert "Not now" in visitor.get(PAGE).content.decode()
    visitor.post(PAGE + "not-now/")
    assert not should_offer(player)
    assert "Not now" not in visitor.get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("code", "answers"),
    [
        ("GB", ("not-now/", {})),
        ("SE", ("", {"deposit-kind": "deposit", "deposit-day": 50, "deposit-week": 100, "deposit-month": 200})),
    ],
)
def test_both_answers_lead_back_to_the_table_that_asked(code, answers, settings):
    settings.PAYMENT_VARIANTS = {}  # else the first deposit asks, which is the next step of a player without money
    player, visitor = a_newcomer(code)
    terms.agree(player=player, version=terms.VERSION, ip="")
    at_table = f"/en/table/{a_table().slug}/real/"
    assert visitor.get(at_table)["Location"] == f"{PAGE}?{urlencode({'next': at_table})}"
    assert f'name="next" value="{at_table}"' in visitor.get(PAGE, {"next": at_table}).text
    address, fields = answers
    answer = visitor.post(PAGE + address, fields | {"next": at_table})
    assert (answer.status_code, answer["Location"]) == (302, at_table)
    assert "data-ineligibility" not in visitor.get(at_table).text
    elsewhere = visitor.post(PAGE + address, fields | {"next": "https://elsewhere.example/"})
    assert "elsewhere" not in elsewhere.get("Location", "")


def first_deposit(visitor, **fields):
    """Send the cashier's form with limits, as the first deposit has them."""
    return visitor.post("/en/cashier/deposit/", {"amount": "20.00", "key": uuid4()} | fields)


@pytest.mark.parametrize(
    ("code", "sent", "kept"),
    [
        ("GB", {"first-month": "100"}, {Period.MONTH: 10_000}),
        ("GB", {"first-day": "", "first-month": ""}, {}),
        (
            "SE",
            {"first-day": "100", "first-week": "200", "first-month": "300", "amount": "100.00"},
            {Period.DAY: 10_000, Period.WEEK: 20_000, Period.MONTH: 30_000},
        ),
    ],
    ids=["offered and set", "offered and declined", "required"],
)
def test_a_table_leads_to_the_first_deposit_which_has_the_limits_on_its_form(code, sent, kept):
    player, visitor = a_newcomer(code)
    terms.agree(player=player, version=terms.VERSION, ip="")
    at_table = f"/en/table/{a_table().slug}/real/"
    assert visitor.get(at_table)["Location"] == f"/en/cashier/?{urlencode({'next': at_table})}"
    assert 'id="first-month"' in visitor.get("/en/cashier/").text
    first_deposit(visitor, **sent)
    assert {period: amount for (_kind, period), amount in own_limits(player).items()} == kept
    assert Payment.objects.get(player=player).amount > 0
    assert 'id="first-month"' not in visitor.get("/en/cashier/").text
    assert visitor.get(at_table).status_code == 200


@pytest.mark.parametrize("sent", [{"first-month": "300"}, {"first-day": "x", "first-week": "1", "first-month": "1"}])
def test_a_first_deposit_without_all_required_limits_sets_none_and_begins_nothing(sent):
    player, visitor = a_newcomer("SE")
    terms.agree(player=player, version=terms.VERSION, ip="")
    page = first_deposit(visitor, **sent, amount="100.00").text
    assert 'aria-invalid="true"' in page
    assert (dict(own_limits(player)), Payment.objects.filter(player=player).exists()) == ({}, False)


def test_a_page_that_did_not_show_the_offer_of_limits_does_not_decline_it():
    """It was opened before the player confirmed who they are, in another tab."""
    player, visitor = a_newcomer("GB")
    terms.agree(player=player, version=terms.VERSION, ip="")
    assert 'id="first-month"' in first_deposit(visitor).text
    assert not events("limits.declined", on=str(player))
    assert not Payment.objects.filter(player=player).exists()


def test_a_first_deposit_beyond_a_limit_that_it_sets_is_refused_and_the_limit_holds():
    player, visitor = a_newcomer("GB")
    terms.agree(player=player, version=terms.VERSION, ip="")
    assert "Limits that you set apply even if the deposit is not made." in visitor.get("/en/cashier/").text
    page = first_deposit(visitor, **{"first-day": "15"}).text
    assert "Your daily deposit limit is £15.00." in page
    assert "Your deposit limits are set. They apply even though this deposit was not made." in page
    assert own_limits(player)[LimitKind.DEPOSIT, Period.DAY] == 1_500
    assert not Payment.objects.filter(player=player).exists()


@pytest.mark.sweep
def test_a_deal_beyond_a_limit_says_which_and_leads_to_the_limits(visitor, player):
    table = a_table()
    limit(player, "stake", "day", 1500)
    seat = a_seat(player, table, player=1000, tie=1000)
    answer = visitor.post(
        "/en/table/baccarat/real/play/",
        {"action": "deal", "round_id": seat.round_id, "slip_version": seat.slip_version, "table_version": 1},
        follow=True,
    ).content.decode()
    assert "Your daily stake limit is £15.00. You can stake £15.00 more today." in answer
    assert f'href="{PAGE}"' in answer


class TestStaff:
    @pytest.fixture
    def desk(self):
        client = Client()
        client.force_login(a_member_of_staff("compliance").user)
        return client

    def test_sets_a_limit_of_the_house_with_a_reason_that_is_kept(self, desk, player):
        address = f"/staff/players/{player.pk}/limits/"
        data = {"loss-kind": "loss", "loss-day": "", "loss-week": "20", "loss-month": ""}
        assert "This field is required." in desk.post(address, data).content.decode()
        page = desk.post(address, data | {"loss-reason": "as agreed on the telephone"}, follow=True).content.decode()
        assert "Loss limit · Week: £20.00 with immediate effect." in page
        assert "as agreed on the telephone" in page
        assert own_limits(player, LimitSource.HOUSE) == {(LimitKind.LOSS, Period.WEEK): 2000}
        (event,) = events("limits.changed", on=str(player))
        assert event["by"].startswith("staff:")
        assert event["data"]["reason"] == "as agreed on the telephone"


def test_a_wait_of_whole_days_is_said_in_days(visitor):
    assert "applies only after 24 hours." in visitor.get(PAGE).content.decode()
    as_owner("UPDATE players_jurisdiction SET raise_after_hours = 168")
    assert "applies only after 7 days." in visitor.get(PAGE).content.decode()
