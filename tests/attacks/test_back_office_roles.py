"""Ways for staff to do more than their role allows, or to log in without all factors."""

import pytest

from tests.builders import a_player
from tests.people import PASSWORD, a_member_of_staff
from tests.players.test_security import logged_in, set_up_app

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("who", ["staff", "player"])
def test_a_password_alone_does_not_get_in_by_the_factor_that_its_owner_sets_up_afterwards(who):
    user = a_player(password=PASSWORD).user if who == "player" else None
    user = user or a_member_of_staff("operator", password=PASSWORD, factor=False).user
    thief = logged_in(user)
    owner = set_up_app(user)
    page = "/en/account/security/" if who == "player" else "/staff/"
    assert owner.get(page).status_code == 200
    answer = thief.get(page)
    assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/en/account/login/")
