"""`manage.py migrate` gives the database the keys of the dealer's proofs, once."""

import base64
from hmac import digest
from typing import Any

import pytest
from django.db import connection, connections

from games.dealer.keys import Keys
from games.rounds import reference_data
from games.rounds.reference_data import WrongKey
from ops.checks import check_dealer

SAID = "a statement"


def is_accepted(key: bytes) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT games_is_of_dealer(%s, %s)", [SAID, digest(key, SAID.encode(), "sha256")])
        (is_of_dealer,) = cursor.fetchone()
    return bool(is_of_dealer)


def stored() -> int:
    with connections["owner"].cursor() as cursor:
        return reference_data.store_dealer_keys(cursor)


def text_of(*keys: bytes) -> str:
    return ",".join(base64.urlsafe_b64encode(key).decode() for key in keys)


OLD, NEW = b"o" * 32, b"n" * 32


def test_several_are_accepted_while_one_is_replaced(cloned_db: Any, settings: Any) -> None:
    accepted = []
    for keys in ((OLD,), (OLD, NEW), (NEW,)):
        settings.DEALER_PROOF_KEY = text_of(*keys)
        assert stored() == len(keys)
        accepted.append((is_accepted(OLD), is_accepted(NEW)))
    assert accepted == [(True, False), (True, True), (False, True)]


def test_without_the_setting_a_production_house_keeps_those_that_it_has(cloned_db: Any, settings: Any) -> None:
    settings.DEALER_PROOF_KEY = text_of(OLD)
    stored()
    settings.DEALER_PROOF_KEY = ""
    assert stored() == 1
    assert is_accepted(OLD)


def test_a_demo_stores_that_of_its_own_dealer(cloned_db: Any, settings: Any, tmp_path: Any) -> None:
    settings.DEALER_PROOF_KEY, settings.DEALER_DIR = "", tmp_path / "dealer"
    assert stored() == 1
    assert is_accepted(Keys.opened(tmp_path / "dealer").proof)


class TestBeforeAHouseOpens:
    @pytest.fixture
    def production(self, cloned_db: Any, settings: Any) -> Any:
        settings.DEMO = False
        return settings

    def faults(self) -> list[str | None]:
        return [fault.id for fault in check_dealer(None, databases=["default"])]

    def test_its_dealer_is_known(self, production: Any) -> None:
        assert self.faults() == []

    def test_a_dealer_with_another_signing_key_is_found(self, production: Any) -> None:
        production.DEALER_KEYS = ["00" * 32]
        assert self.faults() == ["sabot.E029"]

    def test_a_dealer_whose_proofs_the_database_cannot_check_is_found(self, production: Any) -> None:
        production.DEALER_PROOF_KEY = text_of(OLD)
        stored()
        assert self.faults() == ["sabot.E030"]

    def test_a_dealer_that_does_not_answer_keeps_no_house_shut(self, production: Any, tmp_path: Any) -> None:
        production.DEALER = str(tmp_path / "nobody")
        assert self.faults() == []


@pytest.mark.parametrize("key", ["no key", "AAAA", f"{text_of(OLD)},AAAA"])
def test_what_is_no_key_is_refused(cloned_db: Any, settings: Any, key: str) -> None:
    settings.DEALER_PROOF_KEY = key
    with pytest.raises(WrongKey, match="DEALER_PROOF_KEY: "):
        stored()
    assert not is_accepted(OLD)
