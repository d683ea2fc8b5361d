"""Restrictions set by staff are reported to the player by mail and on every page, in their
language, as the house's.
"""

import pytest
from django.test import Client
from django.urls import reverse

from players.models import LimitKind, LimitSource, Mail, Period, Player
from players.protection import eligibility, exclusions, limits
from tests.builders import a_player, a_table
from tests.harness.owner import as_owner
from tests.harness.sweeps import sweep_languages
from tests.people import a_member_of_staff, a_visitor, last_mail

pytestmark = pytest.mark.django_db

# The starts of the mails about a pause, an exclusion and a limit, and the text of a pause.
SAID = {
    "en": ("Your play is paused", "You are excluded from play", "We have set limits for you", "We have paused your"),
    "sv": ("Ditt spel är pausat", "Du är avstängd från spel", "Vi har satt gränser", "Vi har pausat"),
    "da": ("Dit spil er sat på pause", "Du er udelukket", "Vi har sat grænser", "Vi har sat dit spil"),
    "ro": ("Jocul dumneavoastră este", "Sunteți exclus de la joc", "Am stabilit limite", "V-am pus jocul"),
    "de": ("Ihr Spiel ist", "Sie sind vom Spiel", "Wir haben Limits", "Wir haben Ihr Spiel"),
}


def a_reader(language: str) -> Player:
    player = a_player("SE", real=100_000)
    player.user.language = language
    player.user.save(update_fields=["language"])
    return player


def at(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def pause(player: Player, reason: str = "asked by telephone") -> None:
    exclusions.pause_for_the_house(player=player, reason=reason, by=a_member_of_staff("support"))


@pytest.mark.parametrize("language", sweep_languages(SAID))
def test_a_pause_by_the_house_is_mailed_and_shown_at_every_table(language: str) -> None:
    player, table = a_reader(language), a_table()
    subject, _, _, message = SAID[language]
    at("support").post(reverse("staff_player_pause", args=[player.pk]), {"reason": "asked by telephone"})
    mail = last_mail(player.user.email, "stopped_by_house")
    assert mail.subject.startswith(subject)
    assert message in mail.body
    assert "telephone" not in mail.body
    visitor = a_visitor()
    visitor.force_login(player.user)
    for page in (f"/{language}/", f"/{language}/table/{table.slug}/real/", f"/{language}/protection/"):
        assert message in visitor.get(page).content.decode(), page


def test_a_pause_that_players_take_is_their_own() -> None:
    player = a_player("SE")
    exclusions.pause(player=player, by=str(player))
    ineligibility = eligibility.check_play(player, real=False)
    assert ineligibility
    assert ineligibility.message.startswith("Your play is paused until")
    assert not Mail.objects.filter(template="stopped_by_house").exists()


@pytest.mark.parametrize("language", sweep_languages(SAID))
@pytest.mark.parametrize("days", [30, None])
def test_an_exclusion_is_mailed_with_its_end_where_it_has_one(language: str, days: int | None) -> None:
    player = a_reader(language)
    exclusions.exclude(player=player, days=days, reason="a court", by=a_member_of_staff("compliance"))
    mail = last_mail(player.user.email, "stopped_by_house")
    assert mail.subject.startswith(SAID[language][1])
    assert any(character.isdigit() for character in mail.body) is (days is not None)
    assert "court" not in mail.body


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_pause_by_staff_takes_a_reason(reason: str) -> None:
    player = a_player("SE")
    with pytest.raises(exclusions.ReasonMissing):
        pause(player, reason)
    shown = at("support").post(reverse("staff_player_pause", args=[player.pk]), {"reason": reason}).content.decode()
    assert "Enter a reason" in shown
    assert exclusions.in_force(player) is None


def test_nobody_writes_to_an_account_that_was_erased() -> None:
    player = a_player("SE")
    as_owner("INSERT INTO players_closure (player_id, state, by) VALUES (%s, 'erased', 'system')", [player.pk])
    exclusions.exclude(player=player, days=None, reason="a court", by=a_member_of_staff("compliance"))
    assert not Mail.objects.filter(template="stopped_by_house").exists()


def set_at_the_desk(player: Player, **typed: str) -> str:
    asked = {"stake-kind": "stake", "stake-day": "", "stake-week": "", "stake-month": "", "stake-reason": "agreed"}
    asked |= {f"stake-{name}": value for name, value in typed.items()}
    page = reverse("staff_player_limits", args=[player.pk])
    return at("compliance").post(page, asked, follow=True).content.decode()


@pytest.mark.parametrize("language", sweep_languages(SAID))
def test_a_limit_by_the_house_is_mailed_with_the_current_values(language: str) -> None:
    player = a_reader(language)
    set_at_the_desk(player, week="400", month="1000")
    mail = last_mail(player.user.email, "limits_by_house")
    assert mail.subject.startswith(SAID[language][2])
    assert "400" in mail.body
    assert mail.body.replace(".", "").replace(",", "").replace("\xa0", "").count("1000") >= 1
    assert "agreed" not in mail.body
    visitor = a_visitor()
    visitor.force_login(player.user)
    assert "400" in visitor.get(f"/{language}/protection/limits/").content.decode()


@pytest.mark.sweep
def test_what_changes_nothing_is_not_mailed() -> None:
    player = a_player("SE")
    set_at_the_desk(player, week="400")
    mailed = Mail.objects.filter(template="limits_by_house")
    assert mailed.count() == 1
    set_at_the_desk(player, week="400")
    assert mailed.count() == 1


def test_gli19_a_3_7_a_limit_that_the_house_lifts_at_once_loosens_none_of_the_player_s_own() -> None:
    """A player's own limit keeps its legal waiting time, regardless of who removes the limit above it."""
    player = a_player("SE")
    own = (LimitKind.STAKE, Period.WEEK)
    limits.set_limit(player=player, kind=own[0], period=own[1], amount=50_000, by=str(player))
    set_at_the_desk(player, week="100")
    assert (limits.limits_of(player)[own].amount, limits.limits_of(player)[own].source) == (10_000, "house")
    limits.set_limit(player=player, kind=own[0], period=own[1], amount=90_000, by=str(player))
    set_at_the_desk(player, week="")
    held = limits.limits_of(player)[own]
    assert (held.amount, held.source) == (50_000, "player")
    assert limits.pending(player)[own].amount == 90_000
    assert limits.own_limits(player, LimitSource.HOUSE) == {}
    assert "our limit has been removed" in last_mail(player.user.email, "limits_by_house").body
