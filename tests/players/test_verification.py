"""Who has shown who they are."""

import pytest

from players import verification
from tests.builders import a_player

pytestmark = pytest.mark.django_db


def test_nobody_is_verified_who_has_sent_nothing():
    assert not verification.is_verified(a_player())
