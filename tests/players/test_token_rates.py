"""Rate limit of API clients; without a counter calls are allowed, since play continues."""

from datetime import UTC, datetime
from typing import ClassVar

import pytest
import time_machine
from django.test import Client
from rest_framework.request import Request
from rest_framework.response import Response

from players.api import tokens, views
from players.api.views import PlayerApiView
from players.models import Scope
from tests.builders import a_player
from tests.people import a_visitor
from tests.players.test_tokens import SELF

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 12, 0, 20, tzinfo=UTC)
LEFT = "40"  # seconds of the minute


class Nowhere(PlayerApiView):
    """An API view for another scope."""

    scopes: ClassVar = {"GET": Scope.LIMITS}

    def get(self, request: Request) -> Response:

        return Response()


def a_key(*scopes: Scope) -> str:
    """Return the key of a token with three calls a minute."""
    return tokens.make(user=a_player().user, name="Chart", scopes=scopes, days=1, per_minute=3)[1]


def an_api_client() -> Client:
    """An API client with such a key."""
    return a_visitor(headers={"Authorization": f"Bearer {a_key(Scope.PLAY)}"})


def test_what_is_over_the_rate_is_refused_until_the_next_minute():
    api_client = an_api_client()
    with time_machine.travel(NOW, tick=False) as clock:
        answers = [api_client.get(SELF) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert answers[-1].json()["code"] == "too-often"
        assert answers[-1]["Retry-After"] == LEFT
        clock.shift(int(LEFT))
        assert api_client.get(SELF).status_code == 200


def test_what_the_token_is_not_for_counts_as_well(rf):
    key = a_key(Scope.PLAY)
    call = rf.get("/", headers={"Authorization": f"Bearer {key}"})
    with time_machine.travel(NOW, tick=False):
        answers = [Nowhere.as_view()(call).status_code for _ in range(4)]
    assert answers == [403, 403, 403, 429]


@pytest.mark.sweep
def test_one_api_clients_haste_slows_no_other():
    hasty, calm = an_api_client(), an_api_client()
    with time_machine.travel(NOW, tick=False):
        while hasty.get(SELF).status_code != 429:
            pass
        assert calm.get(SELF).status_code == 200


def test_all_api_clients_of_one_person_share_their_minute():
    user = a_player().user
    first, second = (
        tokens.make(user=user, name="Chart", scopes=[Scope.READ], days=1, per_minute=3)[1] for _ in range(2)
    )
    with time_machine.travel(NOW, tick=False):
        answers = [
            Client(headers={"Authorization": f"Bearer {key}"}).get(SELF).status_code
            for key in (first, second, first, second)
        ]
    assert answers == [200, 200, 200, 429]


def test_tokens_that_do_not_hold_are_tried_so_often_from_one_address():
    stranger = a_visitor(headers={"Authorization": "Bearer sabot_nonsense"})
    with time_machine.travel(NOW, tick=False):
        answers = [stranger.get(SELF).status_code for _ in range(views.STRANGERS + 1)]
    assert answers == [401] * views.STRANGERS + [429]


def test_with_the_cache_away_every_call_is_let_in(settings):
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",  # nothing listens there
        }
    }
    api_client = an_api_client()
    assert [api_client.get(SELF).status_code for _ in range(5)] == [200] * 5
