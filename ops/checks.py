"""Production checks: a system that is configured insecurely does not start. Each fault has an ID,
``sabot.E…``, and says what to set.

``manage.py`` commands run these checks automatically; web, worker and beat run them through
`refuse_unsafe_start`.
"""

import base64
import binascii
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register, run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections

from audit.sealing import checkpoint_delivery, checkpoints, witnesses
from audit.verification.verify import LOG, TIME, Unproven
from games.dealer import client
from games.deals import trusted_keys
from games.engine.commitments import epoch_text
from ops.backup import activation, copies
from ops.backup.pg_tools import BackupError
from ops.postgresql.roles import LONGEST_TRANSACTION
from players import key_rotation
from players.login import credentials
from players.models import User
from wallet.models import Currency
from wallet.seamless_wallet import reach

SHORTEST_SECRET = 50  # characters, as in Django's own deployment check
FEWEST_DIFFERENT = 5
TOYS = ("wallet.payments.sandbox.", "payments.dummy.")  # test providers
TOY_BANK = "wallet.sandbox_bank."
TOY_REGISTER = "players.identity.sandbox."
TOY_LIST = "players.protection.screening."
KEYS = {
    "SECOND_FACTOR_KEY": "sabot.E002",
    "DOCUMENT_KEY": "sabot.E010",
    "PARTNER_KEY": "sabot.E018",
    "CREDENTIALS_KEY": "sabot.E025",
}
LONGEST_WAIT = 30  # seconds for the round of a beacon: games_begin_cut has the same
INSECURE = "django-insecure-"
DEFAULT_PASSWORDS = {"", "admin", "changeme", "default", "guest", "password", "postgres", "sabot", "secret"}


def refuse_unsafe_start(**sent: object) -> None:
    """Exit with a message if a production system is not safe to start. Can be connected to Celery's signals."""
    if settings.DEMO:
        return
    _stop_at(run_checks())
    try:
        _stop_at(run_checks(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS]))
    except DatabaseError as error:
        sys.exit(f"Sabot does not start: the database query for demo users failed.\n  {error}")
    finally:
        # a server that forks its workers must not share this connection with them
        connections[DEFAULT_DB_ALIAS].close()


@register(Tags.security)
def check_production(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Find unsafe settings; a demo may have them."""
    if settings.DEMO:
        return []
    return [
        *_keys(),
        *_backups(),
        *_web(),
        *_databases(),
        *_broker(),
        *_payments(),
        *_partners(),
        *_dealer(),
        *_beacon(),
        *_event_log(),
        *_witnesses(),
        *_reporting_currency(),
    ]


@register(Tags.database)
def check_demo_people(
    app_configs: Sequence[AppConfig] | None, databases: Iterable[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Find demo users, whose password is published, in a production database."""
    if settings.DEMO:
        return []
    return [
        Error(
            "The database contains demo users, whose password is public.",
            hint="Use another database, or set SABOT_DEMO=1 for a demo.",
            id="sabot.E009",
        )
        for alias in databases or ()
        if _has_demo_people(alias)
    ]


@register(Tags.database)
def check_transactions_end(
    app_configs: Sequence[AppConfig] | None, databases: Iterable[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Find a login role of web and workers without a limit on transactions. Events of a long
    transaction would be dated long before others that are signed already, as if they had been
    backdated.
    """
    if settings.DEMO or DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT setting::integer FROM pg_settings WHERE name = 'transaction_timeout'")
        (found,) = cursor.fetchone() or (0,)
    if 0 < found <= LONGEST_TRANSACTION * 1000:
        return []
    return [
        Error(
            "The database role of web and workers needs a transaction_timeout "
            f"of at most {LONGEST_TRANSACTION} seconds.",
            hint="Run manage.py create_roles. PostgreSQL 17 or newer is required.",
            id="sabot.E016",
        )
    ]


@register(Tags.database)
def check_credentials_key(
    app_configs: Sequence[AppConfig] | None, databases: Iterable[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Find a database that does not have our CREDENTIALS_KEY: it would refuse every new password and
    second factor.
    """
    if (
        settings.DEMO
        or DEFAULT_DB_ALIAS not in (databases or ())
        or not key_rotation.keys_of(settings.CREDENTIALS_KEY)
        or credentials.is_key_known(DEFAULT_DB_ALIAS)
    ):
        return []
    return [
        Error(
            "The database does not have the first key of CREDENTIALS_KEY.",
            hint="Run manage.py migrate with the same setting.",
            id="sabot.E026",
        )
    ]


@register(Tags.database)
def check_dealer(
    app_configs: Sequence[AppConfig] | None, databases: Iterable[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Find a dealer whose signatures would not count, or whose proofs the database would refuse. A dealer
    that does not answer is no fault of the settings.
    """
    if settings.DEMO or DEFAULT_DB_ALIAS not in (databases or ()) or not settings.DEALER:
        return []
    try:
        state = client.status(settings.DEALER)
    except (client.DealerAway, client.InvalidAnswer):
        return []
    return list(_dealer_differs(state))


def _dealer_differs(state: client.Status) -> Iterator[CheckMessage]:
    if state.key not in trusted_keys():
        yield Error(
            f"The dealer signs with the key {state.key}, which DEALER_KEYS does not have.",
            hint="Add the content of the dealer's file dealer.pub. The tables would be closed.",
            id="sabot.E029",
        )
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT games_is_of_dealer(%s, %s)", [epoch_text(state.key, state.epoch), state.proof])
        (is_known,) = cursor.fetchone() or (False,)
    if not is_known:
        yield Error(
            "The database does not have the key of the dealer's proofs. It would take no round.",
            hint="Run manage.py migrate with DEALER_PROOF_KEY, the content of the dealer's file proof.key.",
            id="sabot.E030",
        )


@register(Tags.database)
def check_at_home(
    app_configs: Sequence[AppConfig] | None, databases: Iterable[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Find a copy of the database that was not activated: the cards that it would deal may be known."""
    if settings.DEMO or DEFAULT_DB_ALIAS not in (databases or ()) or activation.is_home(connections[DEFAULT_DB_ALIAS]):
        return []
    return [
        Error(
            "This database is a restored copy that was not activated. Its next cards may be known.",
            hint="Run manage.py after_restore; see docs/operating.md.",
            id="sabot.E017",
        )
    ]


def _stop_at(found: Iterable[CheckMessage]) -> None:
    faults = [f"  {fault.id}: {fault.msg}" for fault in found if fault.is_serious()]
    if faults:
        sys.exit("\n".join(["Sabot does not start:", *faults]))


def _keys() -> Iterator[CheckMessage]:
    try:
        key = settings.SECRET_KEY
    except ImproperlyConfigured:  # Django raises it for an empty key
        key = ""
    named = [("SECRET_KEY", key), *(("SECRET_KEY_FALLBACKS", each) for each in settings.SECRET_KEY_FALLBACKS)]
    for setting, secret in named:
        if len(secret) < SHORTEST_SECRET or len(set(secret)) < FEWEST_DIFFERENT or secret.startswith(INSECURE):
            message = f"{setting} is missing or weak. It needs at least {SHORTEST_SECRET} random characters."
            yield Error(message, id="sabot.E001")
    for setting, fault in KEYS.items():
        keys = key_rotation.keys_of(getattr(settings, setting))
        named += [(setting, each) for each in keys]
        if not keys or any(_key_bytes(each) != key_rotation.KEY_BYTES for each in keys):
            message = (
                f"{setting} is missing, or one of its keys is not {key_rotation.KEY_BYTES} bytes in URL-safe base64."
            )
            yield Error(message, id=fault)
    yield from _keys_named_twice(named)


def _keys_named_twice(named: Sequence[tuple[str, str]]) -> Iterator[CheckMessage]:
    """Find keys listed twice. One key for two purposes would expose both; one listed twice hides
    which one is retired.
    """
    where: dict[str, list[str]] = {}
    for setting, key in named:
        if key:
            where.setdefault(key.rstrip("="), []).append(setting)
    for settings_of_it in where.values():
        if len(settings_of_it) > 1:
            yield Error(f"The same key is listed twice, in {' and '.join(settings_of_it)}.", id="sabot.E022")


def _backups() -> Iterator[CheckMessage]:
    try:
        copies.recipients()
    except BackupError as error:
        yield Error(str(error), id="sabot.E023")


def _web() -> Iterator[CheckMessage]:
    if settings.DEBUG:
        yield Error("DEBUG is on. It exposes settings and code to visitors.", id="sabot.E003")
    if not settings.ALLOWED_HOSTS or "*" in settings.ALLOWED_HOSTS:
        yield Error("ALLOWED_HOSTS is empty or allows any host. List the host names.", id="sabot.E004")
    if not settings.HTTPS:
        yield Error(
            "HTTPS is off, so log-ins are not encrypted. Behind a proxy that terminates HTTPS, set TRUST_PROXY=1.",
            id="sabot.E024",
        )


def _databases() -> Iterator[CheckMessage]:
    if settings.EMBEDDED:
        yield Error("DATABASE_URL is missing. Only a demo can use the embedded database.", id="sabot.E005")
        return
    login, owner = settings.DATABASES["default"], settings.DATABASES["owner"]
    replica = settings.DATABASES.get("replica", {"NAME": ""})
    for variable, database in (("DATABASE_URL", login), ("DATABASE_OWNER_URL", owner), ("REPLICA_URL", replica)):
        if database["NAME"] and not _on_unix_socket(database) and database["PASSWORD"] in DEFAULT_PASSWORDS:
            yield Error(f"{variable} has no password or a default one.", id="sabot.E006")
    if owner["NAME"] and owner["USER"] == login["USER"]:
        yield Error(
            "DATABASE_URL and DATABASE_OWNER_URL use the same role. Web and workers could change the ledger.",
            id="sabot.E007",
        )


def _broker() -> Iterator[CheckMessage]:
    for variable in ("BROKER_URL", "CACHE_URL"):
        address = getattr(settings, variable)
        if not address:
            yield Error(f"{variable} is missing.", id="sabot.E008")
        elif urlsplit(address).password in DEFAULT_PASSWORDS:
            yield Error(f"{variable} has a default password.", id="sabot.E006")
        elif address.startswith(("redis://", "rediss://")) and not urlsplit(address).password:
            # Cached values are unpickled, so anyone who can write to the cache can run code here.
            yield Error(f"{variable} has no password. Set one, or use a Unix socket.", id="sabot.E006")


def _payments() -> Iterator[CheckMessage]:
    for name, (provider, _configuration) in settings.PAYMENT_VARIANTS.items():
        if provider.startswith(TOYS):
            yield Error(
                f"PAYMENT_VARIANTS: {name} is a sandbox provider. It credits deposits without payment.", id="sabot.E011"
            )
    if settings.PAYOUT_PROVIDER.startswith(TOY_BANK):
        yield Error("PAYOUT_PROVIDER is the sandbox bank. It confirms payouts without paying.", id="sabot.E011")
    for variable, configured in (
        ("SABOT_IDENTITY_REGISTERS", settings.IDENTITY_REGISTERS),
        ("SABOT_EIDS", settings.EIDS),
    ):
        for code, path in configured.items():
            if path.startswith(TOY_REGISTER):
                yield Error(f"{variable}: {code} has a sandbox. It confirms everybody.", id="sabot.E011")
    if any(path.startswith(TOY_LIST) for path in settings.SCREENING_LISTS):
        yield Error("SABOT_SCREENING_LISTS has the sandbox list. It names nobody real.", id="sabot.E011")
    if settings.PAYMENT_VARIANTS and not settings.PAYOUT_PROVIDER:
        yield Error(
            "PAYMENT_VARIANTS accepts deposits, but PAYOUT_PROVIDER is missing, so withdrawals cannot be paid.",
            id="sabot.E012",
        )


def _partners() -> Iterator[CheckMessage]:
    try:
        found = reach.networks()
    except ValueError as error:
        yield Error(f"PARTNER_NETWORKS: {error}.", id="sabot.E019")
        return
    for network in found:
        if any(network.version == never.version and network.overlaps(never) for never in reach.NEVER):
            yield Error(
                f"PARTNER_NETWORKS: {network} contains loopback, link-local or cloud metadata addresses. Do not"
                " allow requests to these addresses.",
                id="sabot.E019",
            )


def _dealer() -> Iterator[CheckMessage]:
    if not settings.DEALER:
        yield Error("DEALER is missing. Nobody deals the cards.", id="sabot.E027")
    if not settings.DEALER_KEYS:
        yield Error(
            "DEALER_KEYS is missing. Set the content of the dealer's file dealer.pub, so that what it dealt can be"
            " verified.",
            id="sabot.E028",
        )
    for key in settings.DEALER_KEYS:
        if not re.fullmatch("[0-9a-fA-F]{64}", key):
            yield Error(f"DEALER_KEYS: {key!r} does not have 64 hex digits.", id="sabot.E028")


def _beacon() -> Iterator[CheckMessage]:
    if not settings.BEACON_URL:
        return
    if not settings.BEACON_URL.startswith("https://"):
        yield Error("BEACON_URL does not begin with https://.", id="sabot.E031")
    for name, digits in (("BEACON_CHAIN", 64), ("BEACON_PUBLIC_KEY", 192)):
        if not re.fullmatch(f"[0-9a-fA-F]{{{digits}}}", getattr(settings, name)):
            yield Error(f"{name} does not have {digits} hex digits.", id="sabot.E031")
    if not (1 <= settings.BEACON_PERIOD < settings.BEACON_SECONDS <= LONGEST_WAIT):
        yield Error(
            f"BEACON_SECONDS is not between BEACON_PERIOD and {LONGEST_WAIT}. Each round would come too late.",
            id="sabot.E031",
        )


def _event_log() -> Iterator[CheckMessage]:
    if not settings.AUDIT_SIGNER:
        yield Error("AUDIT_SIGNER is missing. The audit log is not signed.", id="sabot.E013")
    try:
        kinds = {key.kind for key in checkpoints.trusted_keys()}
    except Unproven as error:
        yield Error(f"AUDIT_KEYS: {error}.", id="sabot.E014")
    else:
        if kinds != {LOG, TIME}:
            yield Error("AUDIT_KEYS is incomplete. Set both public keys that the signer printed.", id="sabot.E014")
    for place in settings.AUDIT_CHECKPOINTS_TO:
        try:
            checkpoint_delivery.destination_for(place)
        except checkpoint_delivery.NoDestination as error:
            yield Error(f"AUDIT_CHECKPOINTS_TO: {error}.", id="sabot.E015")
    called = [checkpoint_delivery.shown(place) for place in settings.AUDIT_CHECKPOINTS_TO]
    if len(set(called)) < len(called):
        yield Error("AUDIT_CHECKPOINTS_TO: two destinations differ only in their secrets.", id="sabot.E015")


def _witnesses() -> Iterator[CheckMessage]:
    try:
        named = witnesses.configured()
    except witnesses.InvalidWitness as error:
        yield Error(f"AUDIT_WITNESSES: {error}.", id="sabot.E031")
    else:
        if not 0 <= settings.AUDIT_WITNESS_QUORUM <= len(named) or (named and not settings.AUDIT_WITNESS_QUORUM):
            yield Error("AUDIT_WITNESS_QUORUM must be from 1 to the number of AUDIT_WITNESSES.", id="sabot.E031")


def _reporting_currency() -> Iterator[CheckMessage]:
    if settings.REPORTING_CURRENCY not in Currency.values:
        yield Error(f"REPORTING_CURRENCY must be one of {', '.join(Currency.values)}.", id="sabot.E032")


def _key_bytes(key: str) -> int:
    """Return the length of a key in bytes, 0 where it is not base64."""
    try:
        return len(base64.b64decode(key, altchars=b"-_", validate=True))
    except binascii.Error:
        return 0


def _on_unix_socket(database: Mapping[str, Any]) -> bool:
    """Return whether the connection uses a Unix socket, where the server can authenticate by
    account, without a password.
    """
    return not database["HOST"] or database["HOST"].startswith("/")


def _has_demo_people(alias: str) -> bool:
    """Return whether there are demo users; before the first migration there is no table."""
    with connections[alias].cursor() as cursor:
        if User._meta.db_table not in connections[alias].introspection.table_names(cursor):
            return False
    return User.objects.using(alias).filter(is_demo=True).exists()
