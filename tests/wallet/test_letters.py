"""Letters about a deposit or withdrawal start with its amount in the player's number format."""

import pytest
from django.utils.translation import override

from players.support.staff_replies import Given, given
from tests.builders import a_player
from tests.wallet.at_the_bank import a_payment

pytestmark = pytest.mark.django_db


def test_the_amount_of_a_deposit_is_given_and_of_nobody_else_s():
    player = a_player("SE")
    payment = a_payment(player, 123_450)
    with override("sv"):
        assert given(f"deposit:{payment.pk}", player) == Given("deposit", {"amount": "1\xa0234,50\xa0kr"})
        assert given(f"deposit:{payment.pk}", a_player("SE")) is None
