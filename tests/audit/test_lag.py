"""The time until an event has a signed checkpoint is always known, and staff are alarmed once."""

import json

import pytest

from audit import log
from audit.models import Event
from audit.sealing import alarms, sealer
from players.models import Mail
from tests.harness.signer import signing
from tests.people import a_member_of_staff


def happen() -> None:
    log.record("test.happened", by="system", on="test:1", data={})


def raised() -> list[str]:
    return list(Event.objects.filter(kind__startswith="log.").order_by("pk").values_list("kind", flat=True))


@pytest.fixture
def away(settings, tmp_path):
    """A signer that is not running until the test starts it."""
    with signing(tmp_path / "signer") as at:
        settings.AUDIT_SIGNER, settings.AUDIT_KEYS = str(at), (tmp_path / "signer" / "keys").read_text()
    return tmp_path / "signer"


@pytest.mark.django_db
class TestTheLag:
    def test_is_zero_where_a_checkpoint_covers_everything(self, signed):
        assert alarms.lag() == alarms.Lag(None, 0)
        happen()
        sealer.seal()
        assert alarms.lag() == alarms.Lag(None, 0)

    def test_is_the_age_of_the_oldest_event_without_one(self, away):
        happen()
        oldest = Event.objects.order_by("pk")[0].at
        happen()
        assert alarms.lag().since == oldest
        sealer.seal()  # leaves without signature
        happen()
        assert alarms.lag().since == oldest
        with signing(away):
            sealer.seal()
        assert alarms.lag().since is None
        happen()
        assert alarms.lag().since == Event.objects.order_by("-pk")[0].at

    def test_is_said_once_when_it_is_long_and_once_when_it_is_over(self, away, settings):
        compliance = a_member_of_staff("compliance")
        a_member_of_staff("support")
        settings.AUDIT_LAG_SECONDS = -1
        happen()
        for _ in range(2):
            alarms.check_seal()
        assert raised() == ["log.lags"]
        said = json.loads(bytes(Event.objects.get(kind="log.lags").body))["data"]
        assert said == {"seconds": 0, "since": Event.objects.order_by("pk")[0].at.isoformat()}
        settings.AUDIT_LAG_SECONDS = 60
        for _ in range(2):
            alarms.check_seal()
        assert raised() == ["log.lags", "log.caught_up"]
        assert [(mail.user_id, mail.subject) for mail in Mail.objects.order_by("pk")] == [
            (compliance.user_id, "Audit log is not being signed"),
            (compliance.user_id, "Audit log is signed again"),
        ]

    def test_of_a_minute_is_not_long_and_more_is(self, settings):
        assert settings.AUDIT_LAG_SECONDS == 60
        assert not alarms.Lag(None, 60).is_long
        assert alarms.Lag(None, 61).is_long


@pytest.mark.sweep
@pytest.mark.django_db
def test_a_refusal_is_mailed_with_its_reason_to_readers_of_the_log(signed, settings, tmp_path):
    compliance = a_member_of_staff("compliance")
    happen()
    with signing(tmp_path / "other"):
        settings.AUDIT_KEYS = (tmp_path / "other" / "keys").read_text()
    for _ in range(2):
        sealer.seal()
    (mail,) = Mail.objects.all()
    assert (mail.user_id, mail.subject) == (compliance.user_id, "Signer refuses the audit log")
    assert "has signed the tree of" in mail.body
    assert "/staff/log/" in mail.body
