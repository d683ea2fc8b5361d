"""A production house refuses to start insecurely: each fault alone is reported and stops web,
worker and beat.
"""

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.db import connection

from audit.verification.verify import LOG, TIME, Key
from casino import settings as house
from ops.checks import check_demo_people, check_production, check_transactions_end
from players.models import User
from tests.harness.databases import Database
from tests.harness.sweeps import sample

PROJECT = Path(__file__).resolve().parents[2]
GOOD_KEY, ANOTHER_KEY, THIRD_KEY, NEW_KEY, FOURTH_KEY = (
    base64.urlsafe_b64encode(bytes(range(begin, begin + 32))).decode() for begin in (0, 32, 64, 96, 128)
)
SECRET = "a-secret-of-many-characters-0123456789-abcdefghijklmnop"
KEYS = "\n".join(Key("sabot.example/log", kind, bytes(32)).vkey for kind in (LOG, TIME))
PRODUCTION = {
    "SABOT_DEMO": "0",
    "SECRET_KEY": SECRET,
    "SECOND_FACTOR_KEY": GOOD_KEY,
    "DOCUMENT_KEY": ANOTHER_KEY,
    "PARTNER_KEY": THIRD_KEY,
    "CREDENTIALS_KEY": FOURTH_KEY,
    "ALLOWED_HOSTS": "sabot.example",
    "DATABASE_URL": "postgresql://web:kept-to-itself@127.0.0.1:1/sabot",
    "DATABASE_OWNER_URL": "postgresql://owner:kept-elsewhere@127.0.0.1:1/sabot",
    "BROKER_URL": "redis://:kept-as-well@127.0.0.1:1/0",
    "AUDIT_SIGNER": "/run/sabot-signer/socket",
    "AUDIT_KEYS": KEYS.replace("\n", ","),
    "DEALER": "/run/sabot-dealer/socket",
    "DEALER_KEYS": "00" * 32,
}
START_WEB = [sys.executable, "-c", "import casino.asgi"]
START_WORKER = [sys.executable, "-m", "casino.worker", "--concurrency=1"]
START_BEAT = [sys.executable, "manage.py", "beat"]


@pytest.fixture
def production(settings, monkeypatch):
    """Valid settings of a production house, in this process.

    The databases are read but not connected to, so each is replaced and Django's connection handler
    stays.
    """
    web = {"NAME": "sabot", "USER": "web", "PASSWORD": "kept-to-itself", "HOST": "db.example"}
    settings.DEMO = settings.EMBEDDED = settings.DEBUG = False
    settings.SECRET_KEY, settings.SECOND_FACTOR_KEY = SECRET, GOOD_KEY
    settings.DOCUMENT_KEY, settings.PARTNER_KEY = ANOTHER_KEY, THIRD_KEY
    settings.ALLOWED_HOSTS, settings.HTTPS = ["sabot.example"], True
    settings.AUDIT_SIGNER, settings.AUDIT_KEYS, settings.SIGNER_DIR = "/run/sabot-signer/socket", KEYS, None
    settings.DEALER, settings.DEALER_KEYS = "/run/sabot-dealer/socket", ["00" * 32]
    settings.PAYMENT_VARIANTS, settings.PAYOUT_PROVIDER = {"bank": ("bank.Provider", {})}, "bank.Payouts"
    settings.PARTNER_NETWORKS, settings.IDENTITY_REGISTERS, settings.EIDS = [], {}, {}
    settings.SCREENING_LISTS = []
    monkeypatch.setitem(settings.DATABASES, "default", web)
    monkeypatch.setitem(settings.DATABASES, "owner", web | {"USER": "owner", "PASSWORD": "kept-elsewhere"})
    settings.BROKER_URL = settings.CACHE_URL = "redis://:kept-by-both@broker.example:6379/0"
    return settings


def found() -> list[str | None]:
    return [fault.id for fault in check_production(None)]


def test_good_settings_have_no_fault(production):
    assert found() == []


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("SECRET_KEY", "", "sabot.E001"),
        ("SECRET_KEY", "short", "sabot.E001"),
        ("SECRET_KEY", "ab" * 40, "sabot.E001"),
        ("SECRET_KEY", "django-insecure-" + SECRET, "sabot.E001"),
        ("SECOND_FACTOR_KEY", "", "sabot.E002"),
        ("SECOND_FACTOR_KEY", "not base64 at all", "sabot.E002"),
        ("SECOND_FACTOR_KEY", base64.urlsafe_b64encode(bytes(16)).decode(), "sabot.E002"),
        ("DOCUMENT_KEY", "", "sabot.E010"),
        ("DOCUMENT_KEY", base64.urlsafe_b64encode(bytes(31)).decode(), "sabot.E010"),
        ("DOCUMENT_KEY", "not base64 at all", "sabot.E010"),
        ("PARTNER_KEY", "", "sabot.E018"),
        ("PARTNER_KEY", base64.urlsafe_b64encode(bytes(31)).decode(), "sabot.E018"),
        ("SECOND_FACTOR_KEY", f"{NEW_KEY},{GOOD_KEY[:-8]}", "sabot.E002"),
        ("DOCUMENT_KEY", f"{NEW_KEY},none", "sabot.E010"),
        ("PARTNER_KEY", ",", "sabot.E018"),
        ("CREDENTIALS_KEY", "", "sabot.E025"),
        ("CREDENTIALS_KEY", base64.urlsafe_b64encode(bytes(31)).decode(), "sabot.E025"),
        ("CREDENTIALS_KEY", GOOD_KEY, "sabot.E022"),
        ("SECRET_KEY_FALLBACKS", ["short"], "sabot.E001"),
        ("SECRET_KEY_FALLBACKS", [SECRET], "sabot.E022"),
        ("SECOND_FACTOR_KEY", f"{GOOD_KEY},{GOOD_KEY}", "sabot.E022"),
        ("SECOND_FACTOR_KEY", ANOTHER_KEY, "sabot.E022"),
        ("PARTNER_KEY", f"{THIRD_KEY},{GOOD_KEY}", "sabot.E022"),
        ("BACKUP_RECIPIENTS", ["age1nobody"], "sabot.E023"),
        ("PAYMENT_VARIANTS", {"sandbox": ("wallet.payments.sandbox.SandboxBank", {})}, "sabot.E011"),
        ("PAYMENT_VARIANTS", {"dummy": ("payments.dummy.DummyProvider", {})}, "sabot.E011"),
        ("PAYOUT_PROVIDER", "wallet.sandbox_bank.payouts.SandboxPayouts", "sabot.E011"),
        ("IDENTITY_REGISTERS", {"SE": "players.identity.sandbox.SandboxRegister"}, "sabot.E011"),
        ("EIDS", {"SE": "players.identity.sandbox.SandboxEid"}, "sabot.E011"),
        ("SCREENING_LISTS", ["players.protection.screening.SandboxList"], "sabot.E011"),
        ("PAYOUT_PROVIDER", "", "sabot.E012"),
        ("PARTNER_NETWORKS", ["127.0.0.0/8"], "sabot.E019"),
        ("PARTNER_NETWORKS", ["nowhere"], "sabot.E019"),
        ("DEBUG", True, "sabot.E003"),
        ("ALLOWED_HOSTS", [], "sabot.E004"),
        ("ALLOWED_HOSTS", ["sabot.example", "*"], "sabot.E004"),
        ("HTTPS", False, "sabot.E024"),
        ("EMBEDDED", True, "sabot.E005"),
        ("BROKER_URL", "", "sabot.E008"),
        ("BROKER_URL", "amqp://guest:guest@broker.example//", "sabot.E006"),
        ("BROKER_URL", "redis://broker.example:6379/0", "sabot.E006"),
        ("CACHE_URL", "redis://broker.example:6379/1", "sabot.E006"),
        ("CACHE_URL", "", "sabot.E008"),
        ("DEALER", "", "sabot.E027"),
        ("DEALER_KEYS", [], "sabot.E028"),
        ("DEALER_KEYS", ["00" * 31], "sabot.E028"),
        ("AUDIT_SIGNER", "", "sabot.E013"),
        ("AUDIT_KEYS", "", "sabot.E014"),
        ("AUDIT_KEYS", "no key", "sabot.E014"),
        ("AUDIT_KEYS", KEYS.split("\n")[0], "sabot.E014"),
        ("AUDIT_WITNESSES", ["friend.example/w https://friend.example/"], "sabot.E031"),
        ("AUDIT_WITNESS_QUORUM", 1, "sabot.E031"),
        ("REPORTING_CURRENCY", "USD", "sabot.E032"),
        ("AUDIT_CHECKPOINTS_TO", ["https://keeper.example/", "http://keeper.example/"], "sabot.E015"),
    ],
)
def test_each_fault_is_named(production, name, value, fault):
    setattr(production, name, value)
    assert found() == [fault]


@pytest.mark.parametrize("alias", ["default", "owner"])
@pytest.mark.parametrize("password", ["", "postgres", "password", "sabot", "admin"])
def test_a_default_password_of_the_database_is_a_fault(production, alias, password):
    production.DATABASES[alias]["PASSWORD"] = password
    assert found() == ["sabot.E006"]


@pytest.mark.parametrize("host", ["", "/run/postgresql"])
def test_a_unix_socket_needs_no_password(production, host):
    production.DATABASES["default"] |= {"PASSWORD": "", "HOST": host}
    assert found() == []


def test_old_keys_may_be_named_behind_the_new_one(production):
    production.SECRET_KEY_FALLBACKS = [f"{SECRET}-before"]
    production.SECOND_FACTOR_KEY = f"{NEW_KEY},{GOOD_KEY}"
    assert found() == []


def test_gli19_b_6_2_two_keys_that_are_one_are_named_by_their_settings_and_not_shown(production):
    production.PARTNER_KEY = production.SECOND_FACTOR_KEY
    (fault,) = check_production(None)
    assert fault.msg == "The same key is listed twice, in SECOND_FACTOR_KEY and PARTNER_KEY."


def test_a_house_without_deposits_needs_no_bank_to_pay_out(production):
    production.PAYMENT_VARIANTS, production.PAYOUT_PROVIDER = {}, ""
    assert found() == []


def test_one_role_for_both_is_a_fault(production):
    production.DATABASES["owner"]["USER"] = "web"
    assert found() == ["sabot.E007"]


def test_web_and_worker_need_not_know_the_owner(production):
    production.DATABASES["owner"] = {"NAME": ""}
    assert found() == []


def test_gli19_b_2_3_passwords_are_kept_as_dear_as_django_keeps_them():
    """The tests use a cheaper hasher."""
    assert house.PASSWORD_HASHERS == ["django.contrib.auth.hashers.Argon2PasswordHasher"]


def test_a_demo_may_be_all_of_that(production):
    production.DEMO = True
    production.SECRET_KEY, production.ALLOWED_HOSTS = "x", ["*"]
    assert found() == []


@pytest.mark.django_db
def test_demo_people_are_a_fault_of_a_production_database_only(settings):
    User.objects.create_user("se@demo.example", is_demo=True)
    assert check_demo_people(None, databases=["default"]) == []
    settings.DEMO = False
    assert [fault.id for fault in check_demo_people(None, databases=["default"])] == ["sabot.E009"]
    assert check_demo_people(None, databases=None) == []


@pytest.mark.django_db
def test_an_empty_production_database_has_no_fault(production):
    assert [fault for fault in run_checks(databases=["default"]) if fault.is_serious()] == []


@pytest.mark.django_db
@pytest.mark.parametrize(("longest", "faults"), [("0", ["sabot.E016"]), ("301s", ["sabot.E016"]), ("1s", [])])
def test_transactions_that_may_last_for_ever_are_a_fault(production, longest, faults):
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('transaction_timeout', %s, true)", [longest])
    assert [fault.id for fault in check_transactions_end(None, databases=["default"])] == faults
    assert check_transactions_end(None, databases=["owner"]) == []


def start(command: list[str], **changes: str) -> subprocess.CompletedProcess[str]:
    """Run *command* in production with some settings changed ("" omits one)."""
    bare = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "SABOT_VAR") if name in os.environ}
    given = {name: value for name, value in (PRODUCTION | changes).items() if value}
    return subprocess.run(command, cwd=PROJECT, env=bare | given, capture_output=True, text=True, timeout=120)


@pytest.mark.sweep
def test_commands_refuse_too():
    done = start([sys.executable, "manage.py", "check"], SECRET_KEY="")
    assert done.returncode == 1
    assert "sabot.E001" in done.stderr


@pytest.mark.parametrize("command", sample([START_WEB, START_WORKER, START_BEAT], 1))
def test_gli19_b_6_4_no_process_starts_insecurely(command):
    done = start(command, SECRET_KEY="", ALLOWED_HOSTS="*")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for fault in ("sabot.E001", "sabot.E004"):
        assert fault in done.stdout + done.stderr


@pytest.mark.sweep
@pytest.mark.parametrize("command", sample([START_WEB, START_WORKER], 1))
def test_gli19_b_8_3_no_process_starts_where_demo_people_could_log_in(cloned_db: Database, command):
    User.objects.create_user("se@demo.example", is_demo=True)
    done = start(command, DATABASE_URL=cloned_db.web_url, DATABASE_OWNER_URL="")
    assert done.returncode == 1
    assert "sabot.E009" in done.stdout + done.stderr


@pytest.mark.sweep
def test_a_database_that_does_not_answer_is_said_in_one_sentence():
    done = start(START_WEB)
    assert done.returncode == 1
    assert "Sabot does not start: the database query for demo users failed." in done.stderr
    assert "Traceback" not in done.stderr
