"""The event log as compliance reads it."""

import json
import re
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from audit import log
from audit.models import Event
from backoffice.audit.event_log import kinds
from backoffice.lists.paging import PAGE
from players.models import Topic
from players.support import conversations
from tests.builders import a_player, a_verified_player
from tests.harness.owner import as_owner
from tests.live.at_table import a_live_table
from tests.live.talk import say
from tests.people import a_member_of_staff, a_visitor
from tests.wallet.at_the_bank import a_payment
from tests.wallet.payout_builders import a_withdrawal

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader():
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff("compliance").user)
    return visitor


def happen(kind: str = "test.happened", by: str = "player:1", on: str = "table:1", **personal: str) -> int:
    return log.record(kind, by=by, on=on, data={"n": 1}, personal=personal)


def shown(answer) -> list[int]:
    return [event.id for event in answer.context["page"].rows]


def test_is_newest_first_and_set_out_to_be_read(reader):
    first, second = happen(), happen()
    answer = reader.get("/staff/events/")
    assert [each for each in shown(answer) if each in (first, second)] == [second, first]  # the session began, too
    assert "&quot;n&quot;: 1" in answer.text


@pytest.mark.sweep
@pytest.mark.parametrize(("field", "value"), [("kind", "test.other"), ("by", "staff:999999"), ("on", "round:7")])
def test_is_filtered(reader, field, value):
    happen()
    wanted = happen(**{field: value})
    padded = value if field == "kind" else f" {value} "
    assert shown(reader.get("/staff/events/", {field: padded})) == [wanted]


def test_a_bare_id_means_the_round_and_whatever_else_is_named_so(reader):
    name = str(uuid4())
    wanted = [happen(on=f"round:{name}"), happen(on=name)]
    happen(on=f"round:{uuid4()}")
    assert shown(reader.get("/staff/events/", {"on": name})) == wanted[::-1]


def test_offers_the_kinds_there_are_once_each_in_order(reader):
    for kind in ("test.b", "test.a", "test.b"):
        happen(kind)
    offered = re.findall(r'<option value="(test[^"]*)"', reader.get("/staff/events/").text)
    assert offered == ["test.a", "test.b"]
    assert kinds() == sorted(set(Event.objects.values_list("kind", flat=True)))


@pytest.mark.sweep
def test_is_paged_without_gaps_or_repeats_and_keeps_its_filter(reader):
    made = [happen("test.paged") for _ in range(2 * PAGE + 1)]
    happen("test.other")
    address, seen = "?kind=test.paged", []
    while address:
        answer = reader.get(f"/staff/events/{address}")
        seen += shown(answer)
        older = re.search(r'href="(\?[^"]*before=[^"]*)"', answer.text)
        address = older[1].replace("&amp;", "&") if older else ""
    assert seen == made[::-1]


def test_leads_back_to_the_newest_from_further_down_only(reader):
    newest = happen("test.paged")
    assert ">Newest</a>" not in reader.get("/staff/events/?kind=test.paged").text
    assert ">Newest</a>" in reader.get(f"/staff/events/?kind=test.paged&before={newest}").text


def test_keeps_personal_data_behind_hashes(reader):
    happen(email="someone@example.com", ip="192.0.2.7")
    page = reader.get("/staff/events/").text
    assert "someone@example.com" not in page
    assert "192.0.2.7" not in page
    assert re.search(r"&quot;email&quot;: &quot;[0-9a-f]{64}&quot;", page)


def test_says_so_where_nothing_matches(reader):
    answer = reader.get("/staff/events/?kind=never").text
    assert "Unknown kind of event." in answer
    assert "No events match this filter." in reader.get("/staff/events/?by=nobody").text


@pytest.mark.sweep
@pytest.mark.parametrize("query", ["before=x", "before=-1", "before=99999999999999999999", "kind=%00"])
def test_takes_nonsense_calmly(reader, query):
    assert reader.get(f"/staff/events/?{query}").status_code == 200


def test_is_searched_by_the_name_of_a_person_by_dates_and_by_what_staff_wrote(reader):
    colleague = a_member_of_staff("support")
    by_name = happen(by=str(colleague))
    wrote = log.record("test.wrote", by=str(colleague), on="table:2", data={"reason": "The player was quarrelsome"})
    by_quiet = log.record("test.wrote", by="staff:999", on="table:2", data={"reason": "All is quiet"})
    found = [shown(reader.get("/staff/events/", {"by": name})) for name in (str(colleague), colleague.name[1:].upper())]
    assert found[0] == [wrote, by_name]
    assert {wrote, by_name} <= set(found[1])
    assert by_quiet not in found[1]
    assert shown(reader.get("/staff/events/", {"text": "quarrel PLAYER"})) == [wrote]
    assert shown(reader.get("/staff/events/", {"text": "quarrel", "by": "staff:999"})) == []
    soon, past = (datetime.now(UTC) + timedelta(days=days) for days in (1, -1))
    within = {"kind": "test.wrote", "since": f"{past:%Y-%m-%dT%H:%M}", "until": f"{soon:%Y-%m-%dT%H:%M}"}
    assert wrote in shown(reader.get("/staff/events/", within))
    assert shown(reader.get("/staff/events/", within | {"until": within["since"], "since": "2020-01-01T00:00"})) == []


def test_the_history_of_a_deposit_and_of_a_withdrawal_is_what_happened_to_it(reader):
    player = a_verified_player(real=100_000)
    first, second = (a_payment(player) for _ in range(2))
    page = reader.get(f"/staff/deposits/{first.pk}/").text
    (address,) = re.findall(r'href="(/staff/events/[^"]*)">History', page)
    events = reader.get(address.replace("&amp;", "&")).context["page"].rows
    assert [each.kind for each in events] == ["deposit.begun"]
    assert str(first.pk) in bytes(events[0].body).decode()
    assert str(second.pk) not in bytes(events[0].body).decode()
    withdrawal = a_withdrawal(player)
    page = reader.get(f"/staff/withdrawals/{withdrawal.pk}/").text
    (address,) = re.findall(r'href="(/staff/events/[^"]*)">History', page)
    assert {each.on for each in reader.get(address).context["page"].rows} == {str(withdrawal)}


@pytest.mark.parametrize("text", ["& | !", "a'b", "quarrel:*", "(", "…"])
def test_any_text_is_a_search(reader, text):
    assert reader.get("/staff/events/", {"text": text}).status_code == 200


class TestWhatPlayersWrote:
    """Their texts are not in the log: the search looks at messages and chat, and finds the events about them."""

    def test_finds_the_events_of_messages_complaints_and_chat(self, reader):
        player = a_player()
        message = conversations.begin(player=player, topic=Topic.MONEY, text="Where is my PIANO money?")
        other = conversations.begin(player=player, topic=Topic.MONEY, text="Something else")
        said = say(a_live_table(), "a piano!")
        reported = happen("chat.reported", on=f"chat_message:{said.pk}")
        happen("chat.reported", on="chat_message:1")
        answer = reader.get("/staff/events/", {"written": "piano"})
        found = {event.pk: json.loads(bytes(event.body)) for event in answer.context["page"].rows}
        assert reported in found
        conversations_found = {each["data"].get("conversation") for each in found.values()} - {None}
        assert conversations_found == {message.pk}
        assert other.pk not in conversations_found
        assert shown(reader.get("/staff/events/", {"written": "no such text"})) == []
        assert "Where is my" not in answer.text

    @pytest.mark.parametrize(
        ("taken", "finds"),
        [(["answer_service"], {"chat"}), (["read_chat"], {"service"}), (["answer_service", "read_chat"], None)],
    )
    def test_only_what_the_reader_s_role_may_read(self, reader, taken, finds):
        player = a_player()
        conversations.begin(player=player, topic=Topic.MONEY, text="piano")
        said = say(a_live_table(), "piano")
        happen("chat.reported", on=f"chat_message:{said.pk}")
        as_owner(
            "DELETE FROM auth_group_permissions WHERE permission_id IN (SELECT id FROM auth_permission WHERE codename ="
            " ANY (%s)) AND group_id = (SELECT id FROM auth_group WHERE name = 'compliance')",
            [taken],
        )
        answer = reader.get("/staff/events/", {"written": "piano"})
        assert ('name="written"' in answer.text) == (finds is not None)
        if finds is not None:
            assert {event.kind.partition(".")[0] for event in answer.context["page"].rows} == finds
