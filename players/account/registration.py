"""Registration, and events of accounts: failed log-ins, changed credentials, language."""

from collections.abc import Mapping
from datetime import date
from uuid import uuid4

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils.translation import gettext_lazy as _

from audit import log
from players import mail
from players.account import terms
from players.login.current_user import ANONYMOUS, actor_of
from players.models import Agreement, ApiToken, Jurisdiction, Player, User

CHANGES = {
    "password.changed": _("The password of your account was changed."),
    "password.reset": _("The password for your account was reset with a code sent to this address."),
    "address.changed": _(
        "The e-mail address of your account was changed. This address no longer belongs to the account."
    ),
    "authenticator.added": _("An authenticator app was set up for your account."),
    "authenticator.removed": _("The authenticator app of your account was removed."),
    "passkey.added": _("A passkey was added to your account."),
    "passkey.removed": _("A passkey was removed from your account."),
    "token.made": _("An API token was created. An API client can use your account with it."),
    "staff.token_made": _("An API token was created. An API client can read everything you can read with it."),
    "recovery_codes.made": _("New recovery codes were created for your account. The old codes no longer work."),
}
LOG_IN = "log-in"  # object of events if the e-mail address has no account


class RegistrationError(Exception):
    """The registration is refused."""


class EmailTaken(RegistrationError):
    """The e-mail address is in use."""


class TooYoung(RegistrationError):
    """The person is below the jurisdiction's minimum age."""


class CurrencyNotOffered(RegistrationError):
    """The jurisdiction does not offer this currency."""


def today() -> date:
    """Return today's date by the database's clock (UTC)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT CURRENT_DATE")
        (now,) = cursor.fetchone()
    return now


def age(born: date, on: date) -> int:
    """Return the age in whole years.

    Someone born on 29 February has their birthday on 1 March in other years.
    """
    return on.year - born.year - ((on.month, on.day) < (born.month, born.day))


def old_enough(born: date, jurisdiction: Jurisdiction) -> bool:
    """Return whether someone born on that date may play today in *jurisdiction*."""
    return age(born, today()) >= jurisdiction.minimum_age


def highest_minimum_age() -> int:
    """Return the highest minimum age of all jurisdictions, in whole years, for people of unknown country."""
    ages = Jurisdiction.objects.values_list("minimum_age", flat=True)
    return max(ages)


def currency_of(language: str) -> str | None:
    """Return the default currency of the first jurisdiction with *language*, or None."""
    where = Jurisdiction.objects.filter(language=language).order_by("code").first()
    return where.currencies[0] if where else None


@transaction.atomic
def register(
    *,
    email: str,
    password: str | None,
    jurisdiction: Jurisdiction,
    currency: str,
    birth_date: date,
    language: str,
    ip: str | None,
    is_demo: bool = False,
) -> Player:
    """Register a player who has agreed to the terms in force. Without *password* they cannot log in.

    *ip* is the address of the request, None without a request. Raises TooYoung, CurrencyNotOffered,
    EmailTaken.
    """
    if not old_enough(birth_date, jurisdiction):
        raise TooYoung
    if currency not in jurisdiction.currencies:
        raise CurrencyNotOffered
    user = _new_user(email, password, language=language, verified=is_demo, is_demo=is_demo)
    player = Player.objects.create(user=user, jurisdiction=jurisdiction, currency=currency, birth_date=birth_date)
    Agreement.objects.create(player=player, terms_version=terms.VERSION)
    log.record(
        "player.registered",
        by=str(player),
        on=str(player),
        data={"jurisdiction": jurisdiction.code, "currency": currency, "terms": terms.VERSION, "demo": is_demo},
        personal={"email": user.email, "birth_date": birth_date.isoformat()} | _address(ip),
    )
    return player


@transaction.atomic
def register_operator_player(
    *, jurisdiction: Jurisdiction, currency: str, birth_date: date, language: str, operator: str
) -> Player:
    """Register a player of an *operator*, who plays with the operator wallet.

    The player has no password and an invented e-mail address, and has agreed to the terms through
    the operator. Raises TooYoung, CurrencyNotOffered.
    """
    if not old_enough(birth_date, jurisdiction):
        raise TooYoung
    if currency not in jurisdiction.currencies:
        raise CurrencyNotOffered
    user = _new_user(f"{uuid4().hex}@{mail.NOBODY}", None, language=language, verified=True, is_demo=False)
    player = Player.objects.create(
        user=user, jurisdiction=jurisdiction, currency=currency, birth_date=birth_date, uses_operator_wallet=True
    )
    Agreement.objects.create(player=player, terms_version=terms.VERSION)
    log.record(
        "player.registered",
        by=str(player),
        on=str(player),
        data={
            "jurisdiction": jurisdiction.code,
            "currency": currency,
            "terms": terms.VERSION,
            "demo": False,
            "operator": operator,
        },
        personal={"birth_date": birth_date.isoformat()},
    )
    return player


def agree_through_operator(player: Player) -> None:
    """Record that a player of an operator has agreed to the terms in force, as the operator's contract says."""
    _, is_new = Agreement.objects.get_or_create(player=player, terms_version=terms.VERSION)
    if is_new:
        log.record("terms.agreed", by=str(player), on=str(player), data={"terms": terms.VERSION})


def record_failed_login(*, email: str, ip: str) -> None:
    """Record a wrong e-mail address or password, outside the request's transaction."""
    log.record_refusal("login.failed", by=ANONYMOUS, on=_owner_of(email), data={}, personal={"tried": email, "ip": ip})


@transaction.atomic
def record_change(
    kind: str,
    *,
    user: User,
    ip: str,
    old_email: str | None = None,
    data: Mapping[str, log.Json] | None = None,
    token: ApiToken | None = None,
) -> None:
    """Record a change of credentials and mail the user. *kind* is one of `CHANGES`.

    A change of e-mail address is mailed to *old_email*. The mail names the *token* that it is
    about.
    """
    actor = actor_of(user)
    addresses = {"old_email": old_email, "email": user.email} if old_email else {}
    log.record(kind, by=actor, on=actor, data=data or {}, personal=addresses | _address(ip))
    context = {"change": CHANGES[kind], "token": token, "support": settings.SUPPORT_EMAIL}
    address = old_email or user.email
    mail.write_to(address=address, language=user.language, template="account_changed", context=context)


def choose_language(*, user: User, language: str) -> None:
    """Store the user's language for the next log-in."""
    User.objects.filter(pk=user.pk).update(language=language)


def _new_user(email: str, password: str | None, *, language: str, verified: bool, is_demo: bool) -> User:
    try:
        with transaction.atomic():
            return User.objects.create_user(email, password, verified=verified, language=language, is_demo=is_demo)
    except IntegrityError as error:
        raise EmailTaken from error


def _owner_of(email: str) -> str:
    user = User.objects.select_related("player", "staff").filter(email=email.strip().lower()).first()
    return actor_of(user) if user else LOG_IN


def _address(ip: str | None) -> dict[str, str]:
    return {"ip": ip} if ip else {}
