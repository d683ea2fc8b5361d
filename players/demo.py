"""Demo accounts: a player in every jurisdiction and staff in every role that has pages.

All have the same published password.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from django import forms
from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX, get_hasher, make_password
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from players.account import registration
from players.identity import confirmation, sandbox
from players.identity.verification import is_verified
from players.login import second_factor
from players.models import Jurisdiction, LimitKind, Mail, Period, Player, User
from players.protection import limits
from players.staff import create_first

PASSWORD = "cards-on-the-table"  # noqa: S105  (published; an installation with these accounts does not start in production)
HASHED = (
    "argon2$argon2id$v=19$m=102400,t=2,p=8$N2FTRkd5eHU3R0NmVUdzd045ZXA1UQ$s8JU1hDdJbcvQx2GxfoMT0nBmuL5yZRYshxT7oEwGus"
)
"""Hash of `PASSWORD`, which is published: hashing it takes a third of a second of the first start."""
DOMAIN = "demo.example"
BORN = date(1990, 1, 1)


class NotADemo(Exception):
    """Demo accounts were requested in production."""


@dataclass(frozen=True)
class DemoLogin:
    """A demo account: a player if *currency* is set, otherwise staff."""

    name: str
    role: str
    code: str  # of a jurisdiction, or the role
    currency: str = ""

    @property
    def email(self) -> str:
        """Return the e-mail address to log in with."""
        return f"{self.code.lower()}@{DOMAIN}"

    @property
    def who(self) -> str:
        """Return a description for the printed table."""
        return f"{self.role}, {self.code}, {self.currency}" if self.currency else self.role


DEMO_LOGINS = (
    DemoLogin("Astrid", "player", "SE", "SEK"),
    DemoLogin("Mikkel", "player", "DK", "DKK"),
    DemoLogin("Ioana", "player", "RO", "RON"),
    DemoLogin("Jonas", "player", "DE", "EUR"),
    DemoLogin("Emily", "player", "GB", "GBP"),
    DemoLogin("Olga", "operator", "operator"),
    DemoLogin("Samuel", "supervisor", "supervisor"),
    DemoLogin("Sofia", "supervisor", "supervisor2"),  # voiding a dealt round takes two people
    DemoLogin("Farah", "finance", "finance"),
    DemoLogin("Filip", "finance", "finance2"),  # a large withdrawal takes two people
    DemoLogin("Carl", "compliance", "compliance"),
    DemoLogin("Clara", "compliance", "compliance2"),  # closing a match with a sanctions list takes two people
    DemoLogin("Sara", "support", "support"),
    DemoLogin("Ada", "administrator", "administrator"),
    DemoLogin("Adam", "administrator", "administrator2"),  # an account of staff takes two people
)


# For jurisdictions that require deposit limits: minor units of the jurisdiction's currency.
DEPOSIT_LIMITS: Mapping[str, Mapping[Period, int]] = {
    "SE": {Period.DAY: 3_000_00, Period.WEEK: 6_000_00, Period.MONTH: 10_000_00},
    "DE": {Period.MONTH: 500_00},
}


# Name and address under which the sandbox register confirms a demo player.
ADDRESSES: Mapping[str, confirmation.Stated] = {
    "SE": confirmation.Stated("Astrid", "Lindqvist", "Storgatan 1", "211 34", "Malmö"),
    "DK": confirmation.Stated("Mikkel", "Sørensen", "Nørregade 2", "1165", "København"),
    "RO": confirmation.Stated("Ioana", "Țăranu", "Strada Lungă 3", "500035", "Brașov"),
    "DE": confirmation.Stated("Jonas", "Groß", "Hauptstraße 4", "20095", "Hamburg"),
    "GB": confirmation.Stated("Emily", "Carter", "5 High Street", "LS1 4AP", "Leeds"),
}


def create_demo_people() -> None:
    """Create the missing demo accounts, and give staff a second factor with a random secret.

    Raises NotADemo in production.
    """
    if not settings.DEMO:
        raise NotADemo
    there = set(User.objects.filter(is_demo=True).values_list("email", flat=True))
    for login in DEMO_LOGINS:
        if login.email not in there:
            _create(login)
    _give_passwords()
    for player in Player.objects.filter(user__is_demo=True).select_related("jurisdiction", "user"):
        _limit(player, DEPOSIT_LIMITS.get(player.jurisdiction.code, {}))
        if player.jurisdiction_id in ADDRESSES and not is_verified(player):
            _confirm(player)
    for user in User.objects.filter(is_demo=True, staff__isnull=False):
        if not second_factor.is_set_up(user):
            second_factor.give(user)


def _create(login: DemoLogin) -> None:
    if not login.currency:
        create_first(email=login.email, name=login.name, roles=(login.role,), is_demo=True)
        return
    jurisdiction = Jurisdiction.objects.get(pk=login.code)
    registration.register(
        email=login.email,
        password=None,
        jurisdiction=jurisdiction,
        currency=login.currency,
        birth_date=BORN,
        language=jurisdiction.language,
        ip=None,
        is_demo=True,
    )


def _give_passwords() -> None:
    """Set the shared password for demo accounts without one.

    Equal hashes reveal nothing, since the password is published. It is hashed again if the settings ask for another
    hash than the one kept here.
    """
    without = User.objects.filter(is_demo=True, password__startswith=UNUSABLE_PASSWORD_PREFIX)
    hashed = make_password(PASSWORD) if get_hasher().must_update(HASHED) else HASHED
    for user in without:
        user.password = hashed
        user.save(update_fields=["password"])


def _limit(player: Player, deposits: Mapping[Period, int]) -> None:
    """Decline the offered deposit limits, and set those that are required before play."""
    if limits.should_offer(player):
        limits.decline_offer(player=player)
    if not limits.must_set_limits(player):
        return
    for period, amount in deposits.items():
        limits.set_limit(player=player, kind=LimitKind.DEPOSIT, period=period, amount=amount, by=str(player))


def _confirm(player: Player) -> None:
    """Have the register of the demo confirm who the player is."""
    code = player.jurisdiction_id
    confirmation.confirm(player=player, stated=ADDRESSES[code], number=sandbox.number_of(code, player.birth_date))


PAGE = 20


class AddressFilter(forms.Form):
    """Filter by e-mail address; empty for all mail."""

    address = forms.CharField(required=False, strip=True, max_length=254, label=_("E-mail address"))


@require_safe
def outbox(request: HttpRequest) -> HttpResponse:
    """Show all mail, newest first. Raises Http404 outside the demo."""
    if not settings.DEMO:
        raise Http404
    form = AddressFilter(request.GET)
    address = form.cleaned_data["address"].lower() if form.is_valid() else ""
    mails = Mail.objects.order_by("-id")
    if address:
        mails = mails.filter(address__icontains=address)
    page = Paginator(mails, PAGE).get_page(request.GET.get("page"))
    return render(request, "demo/outbox.html", {"form": form, "address": address, "page": page})
