"""Ledger, rounds and audit are read-only: no list page, form or privilege of the login role changes
their rows.

This holds for every user, even one with all permissions. Every table is in a list or is listed here
with the reason.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest
from django import forms
from django.apps import apps
from django.db.models import Model
from django.forms.models import BaseModelForm, BaseModelFormSet
from django.test import Client
from django.urls import reverse
from rest_framework.generics import GenericAPIView
from rest_framework.serializers import ModelSerializer

from audit.models import Event
from backoffice.lists.index import LISTS, urlpatterns
from backoffice.lists.view import StaffListView
from games.models import Incident, Participation, Round, RulesVersion, VoidPart, Wager
from ops.privileges import ORDINARY, RIGHTS
from players.models import User
from tests.builders import a_player, a_round, a_table
from tests.harness.product import APPS
from tests.harness.sweeps import sample
from tests.matrix import LISTS as READERS
from tests.matrix import STAFF
from tests.people import a_member_of_staff, a_visitor
from wallet.models import Account, Entry, Journal

pytestmark = pytest.mark.django_db

OF_MONEY_AND_PLAY = ("audit", "wallet", "games")
PAGES = re.compile(r"staff_lists|staff_list_[a-z]+_[a-z]+(?:_row|_file)?")
WAYS = ("post", "put", "patch", "delete")

# Every model without a list -> the reason.
ON_ITS_OWNERS_ROW = "stands below the row it belongs to"
PAGE_OF_ITS_OWN = "has a page of its own, where what is to be done with it is done"
MACHINERY = "is how the house works, and says nothing that staff look for"
PRIVATE = "holds what is personal, sealed or spoken: never in a list"
TAKEN_TOGETHER = "is summed up in a report, or on the page of what it is of"
NOT_LISTED = {
    "audit.Cursor": MACHINERY,
    "audit.Decision": ON_ITS_OWNERS_ROW,
    "audit.Delivery": PAGE_OF_ITS_OWN,
    "audit.Leaf": MACHINERY,
    "audit.Watermark": MACHINERY,
    "audit.Muted": MACHINERY,
    "audit.Pending": MACHINERY,
    "audit.Personal": PRIVATE,
    "audit.Cosignature": PAGE_OF_ITS_OWN,
    "audit.Pulse": MACHINERY,
    "audit.Report": PAGE_OF_ITS_OWN,
    "players.BorrowedMoney": PAGE_OF_ITS_OWN,
    "audit.ReportPage": MACHINERY,
    "audit.ReportPart": MACHINERY,
    "audit.Retention": PAGE_OF_ITS_OWN,
    "audit.Significant": PAGE_OF_ITS_OWN,
    "wallet.Withdrawal": PAGE_OF_ITS_OWN,
    "audit.Rolled": MACHINERY,
    "audit.Threshold": PAGE_OF_ITS_OWN,
    "audit.Tile": MACHINERY,
    "audit.VerificationFinding": PAGE_OF_ITS_OWN,
    "audit.VerificationRun": PAGE_OF_ITS_OWN,
    "players.ApiCall": MACHINERY,
    "players.BrowserSession": MACHINERY,
    "players.ApprovalNotification": MACHINERY,
    "players.Contact": PRIVATE,
    "players.Conversation": PRIVATE,
    "players.Document": PRIVATE,
    "players.ChosenColumns": MACHINERY,
    "players.SavedFilter": MACHINERY,
    "players.ReportSchedule": PAGE_OF_ITS_OWN,
    "players.ScheduledReport": PAGE_OF_ITS_OWN,
    "players.DocumentContent": PRIVATE,
    "players.Duplicate": PRIVATE,
    "players.ExclusionLift": PAGE_OF_ITS_OWN,
    "players.Case": PAGE_OF_ITS_OWN,
    "players.CaseEntry": PRIVATE,
    "players.RequestedDocument": PRIVATE,
    "players.Identity": PRIVATE,
    "players.Jurisdiction": PAGE_OF_ITS_OWN,
    "players.NationalRuleChange": PAGE_OF_ITS_OWN,
    "players.LimitOffer": TAKEN_TOGETHER,
    "players.LimitReminder": TAKEN_TOGETHER,
    "players.LogInLock": TAKEN_TOGETHER,
    "players.HarmMarkerScan": PAGE_OF_ITS_OWN,
    "players.Note": PRIVATE,
    "players.PlayTime": TAKEN_TOGETHER,
    "players.RealityCheck": TAKEN_TOGETHER,
    "players.Notice": PAGE_OF_ITS_OWN,
    "players.ReplyTemplate": PAGE_OF_ITS_OWN,
    "players.ReplyWithdrawal": PAGE_OF_ITS_OWN,
    "players.SearchWord": PRIVATE,
    "players.ServiceMessage": PRIVATE,
    "players.Sighting": PRIVATE,
    "players.PlaySession": TAKEN_TOGETHER,
    "players.Staff": PAGE_OF_ITS_OWN,
    "players.Tag": PAGE_OF_ITS_OWN,
    "players.PlayerTag": PAGE_OF_ITS_OWN,
    "players.StaffChange": PAGE_OF_ITS_OWN,
    "players.Trait": PRIVATE,
    "players.User": PRIVATE,
    "wallet.OperatorBet": PAGE_OF_ITS_OWN,
    "wallet.OperatorLaunch": PRIVATE,
    "wallet.OperatorMessage": PAGE_OF_ITS_OWN,
    "wallet.OperatorPlayer": PAGE_OF_ITS_OWN,
    "wallet.GameSession": PRIVATE,
    "wallet.Partner": PAGE_OF_ITS_OWN,
    "wallet.PartnerKey": PAGE_OF_ITS_OWN,
    "wallet.Reversal": MACHINERY,
    "wallet.Checkpoint": MACHINERY,
    "wallet.Verification": MACHINERY,
    "wallet.StudioPlayer": PRIVATE,
    "wallet.Webhook": PAGE_OF_ITS_OWN,
    "wallet.WebhookDelivery": PAGE_OF_ITS_OWN,
    "wallet.WebhookTry": PAGE_OF_ITS_OWN,
    "wallet.BankNotice": MACHINERY,
    "wallet.BankOrder": MACHINERY,
    "wallet.BankPayout": MACHINERY,
    "wallet.BankPayoutNotice": MACHINERY,
    "wallet.Day": TAKEN_TOGETHER,
    "wallet.DepositNote": PRIVATE,
    "wallet.Difference": PAGE_OF_ITS_OWN,
    "wallet.DifferenceStep": PRIVATE,
    "wallet.Entry": ON_ITS_OWNERS_ROW,
    "wallet.Hold": TAKEN_TOGETHER,
    "wallet.HouseStop": PAGE_OF_ITS_OWN,
    "wallet.LedgerHourlyTotal": TAKEN_TOGETHER,
    "wallet.PaymentNotice": ON_ITS_OWNERS_ROW,
    "wallet.PayoutAccount": PRIVATE,
    "wallet.PostingKey": ON_ITS_OWNERS_ROW,
    "wallet.ProviderStatement": PAGE_OF_ITS_OWN,
    "wallet.Reserved": TAKEN_TOGETHER,
    "wallet.ExchangeRate": PAGE_OF_ITS_OWN,
    "wallet.PastHold": TAKEN_TOGETHER,
    "wallet.StatementDraft": PRIVATE,
    "wallet.WithdrawalStep": ON_ITS_OWNERS_ROW,
    "games.BetHourlyTotal": TAKEN_TOGETHER,
    "games.CardHourlyTotal": TAKEN_TOGETHER,
    "games.ChatBan": PAGE_OF_ITS_OWN,
    "games.ChatBlock": PRIVATE,
    "games.ChatMessage": PRIVATE,
    "games.ChatName": PRIVATE,
    "games.ChatNameTaken": PAGE_OF_ITS_OWN,
    "games.ChatReport": PAGE_OF_ITS_OWN,
    "games.CheminMove": PAGE_OF_ITS_OWN,
    "games.CheminSeat": PAGE_OF_ITS_OWN,
    "games.CheminStake": ON_ITS_OWNERS_ROW,
    "games.CheminTable": PAGE_OF_ITS_OWN,
    "games.CheminTenure": PAGE_OF_ITS_OWN,
    "games.ChipSet": PRIVATE,
    "games.Evidence": TAKEN_TOGETHER,
    "games.FavouriteBet": PRIVATE,
    "games.FavouriteTable": PRIVATE,
    "games.IncidentLetter": PAGE_OF_ITS_OWN,
    "games.IncidentNote": PAGE_OF_ITS_OWN,
    "games.IncidentRuling": PAGE_OF_ITS_OWN,
    "games.LetterCopy": PAGE_OF_ITS_OWN,
    "games.LetterEnd": PAGE_OF_ITS_OWN,
    "games.LiveSeat": TAKEN_TOGETHER,
    "games.LiveTable": PAGE_OF_ITS_OWN,
    "games.LiveTotal": TAKEN_TOGETHER,
    "games.SoloSeat": PRIVATE,
    "games.OpenTable": MACHINERY,
    "games.LastGame": MACHINERY,
    "games.PlayReport": PAGE_OF_ITS_OWN,
    "games.BetCombinations": MACHINERY,
    "games.DealerEpoch": MACHINERY,
    "games.DealtCards": PRIVATE,
    "games.ShoeBeacon": MACHINERY,
    "games.ShoeChance": PRIVATE,
    "games.ShoeCut": MACHINERY,
    "games.Squeeze": MACHINERY,
    "games.HighestOdds": MACHINERY,
    "games.VerificationDue": MACHINERY,
    "games.Round": "is listed once for each player in it, and at shared tables from its opening on",
    "games.ScheduleEnding": PAGE_OF_ITS_OWN,
    "games.ScheduledVersion": PAGE_OF_ITS_OWN,
    "games.Shoe": PRIVATE,
    "games.ShoeLeaves": MACHINERY,
    "games.ShuffleHourlyTotal": TAKEN_TOGETHER,
    "games.StopPolicy": PAGE_OF_ITS_OWN,
    "games.GameHourlyTotal": TAKEN_TOGETHER,
    "games.PlayerHourlyTotal": TAKEN_TOGETHER,
    "games.Void": ON_ITS_OWNERS_ROW,
    "games.VoidNotice": MACHINERY,
    "games.Wager": ON_ITS_OWNERS_ROW,
}


def models() -> set[type[Model]]:
    return {model for name in APPS for model in apps.get_app_config(name).get_models()}


def kept() -> set[type[Model]]:
    """Return the models whose rows the login role may neither change nor delete, except single
    columns.
    """
    return {
        model
        for model in models()
        if "DELETE" not in (right := RIGHTS.get(model._meta.db_table, ORDINARY))
        and not re.search("UPDATE(?! [(])", right)
    }


def test_every_model_is_in_a_list_or_named_with_the_reason_why_not():
    listed = {listing.model._meta.label for listing in LISTS}
    assert listed & set(NOT_LISTED) == set()
    assert listed | set(NOT_LISTED) == {model._meta.label for model in models()}


def test_what_happened_is_kept_from_the_login_role():
    """The attacks on privileges (tests/attacks) compare the database with `RIGHTS`."""
    assert kept() >= {Account, Journal, Entry, Round, Participation, Wager, VoidPart, Incident, RulesVersion, Event}


def subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def load_everything() -> None:
    """Import every module, so that no form is missed."""
    for name in APPS:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not re.search(r"\.(?:migrations|__main__|asgi|wsgi)\b", module.name):
                importlib.import_module(module.name)


def test_no_form_and_no_formset_is_of_money_play_or_the_log():
    load_everything()
    bound = {
        form: form._meta.model if issubclass(form, BaseModelForm) else form.model
        for form in chain(subclasses(BaseModelForm), subclasses(BaseModelFormSet))
        if getattr(form, "model", None) or getattr(getattr(form, "_meta", None), "model", None)
    }
    found = {form for form, model in bound.items() if model._meta.app_label in OF_MONEY_AND_PLAY or model in kept()}
    assert found == set()


def test_no_api_writes_rows():
    """The API uses the services of the pages: no view or parser of the API is bound to a model."""
    load_everything()
    ours = APPS
    bound = {each for kind in (GenericAPIView, ModelSerializer) for each in subclasses(kind)}
    assert [each for each in bound if each.__module__.startswith(ours)] == []
    assert not [name for name in apps.app_configs if name in ("graphene_django", "ninja")]


def test_the_lists_have_pages_to_read_and_none_to_write():
    found = [pattern.name or "" for pattern in urlpatterns]
    assert len(found) == 3 * len(LISTS) + 1
    assert [name for name in found if not PAGES.fullmatch(name)] == []


@pytest.fixture
def all_powerful(monkeypatch: pytest.MonkeyPatch) -> Client:
    """The browser of a user with every permission, like Django's superusers."""
    monkeypatch.setattr(User, "has_perm", lambda user, permission, obj=None: True)
    monkeypatch.setattr(User, "is_superuser", True)
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("operator").user)
    return visitor


@pytest.mark.parametrize("listing", sample(LISTS, 8), ids=lambda listing: listing.label())
def test_nobody_may_add_change_or_remove_a_row_of_a_list(listing: type[StaffListView], all_powerful: Client):
    base = reverse(listing.url_name())
    for address in ("add/", "1/change/", "1/delete/", "1/history/"):
        assert all_powerful.get(base + address).status_code == 404
    for way in WAYS:
        for address in ("1/", "export/", *(() if listing.actions and way == "post" else ("",))):
            assert getattr(all_powerful, way)(base + address).status_code == 405, (way, address)


@pytest.mark.sweep
@pytest.mark.parametrize("role", sample(STAFF, 1))
def test_no_role_writes_to_a_list(role: str):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    for label in READERS:
        address = f"/staff/lists/{label.replace('.', '/')}/"
        for way in WAYS:
            assert getattr(visitor, way)(f"{address}1/", {"balance": "1"}).status_code in (403, 405)
        assert all(getattr(visitor, way)(address).status_code in (403, 405) for way in WAYS[1:])


def test_a_row_has_no_field_to_type_in(all_powerful: Client):
    player, table = a_player(real=100_000), a_table()
    a_round(player, table, player=1000)
    for model in (Account, Journal, Participation, Event):
        row = model._default_manager.latest("pk")
        page = all_powerful.get(f"/staff/lists/{model._meta.label_lower.replace('.', '/')}/{row.pk}/")
        assert page.status_code == 200
        main = page.text.partition("<main")[2]
        assert main
        assert re.findall(r"<(?:form|input|select|textarea|button)\b[^>]*>", main.partition("</main>")[0]) == []


def test_no_form_field_of_staff_is_named_after_what_a_round_or_an_entry_came_to():
    """No form has a field for a balance, a card or an outcome."""
    load_everything()
    outcomes = {"balance", "held", "balance_before", "balance_after", "cards", "outcome", "seed", "paid", "payout"}
    found = {
        (form.__module__, form.__name__, name)
        for form in subclasses(forms.BaseForm)
        for name in getattr(form, "base_fields", {})
        if name in outcomes and form.__module__.startswith(APPS)
    }
    assert found == set()
