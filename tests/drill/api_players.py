"""API clients that play during the drill.

A call without an answer is sent again under its idempotency key until it has one. So each client
knows which of its bets were accepted, and compares the house with that.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from uuid import UUID

import requests
from django.conf import settings

from games.engine.commitments import Binding, Purpose
from tests.drill.bettors import REFUSED
from tests.drill.records import Record
from tests.drill.simulated_players import Caller, Stopwatch

Json = dict[str, Any]

PACE = 0.6  # seconds between two looks at a table
MOST = 100  # rounds on a page of a list
STAKES = ("make_call", "lay_stake")
BANKS = ("take_bank", "make_bid")  # a bid that is not the highest opens none
REPEATED = "was done, and the answer lost"
NOT_YET = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT)


class ApiPlayer(Caller):
    """Calls the API of the house at *url* with a token."""

    CONFIRMED = "taken"

    def __init__(self, record: Record, seed: str, url: str, token: str) -> None:
        super().__init__(record, seed, url)
        self._session.headers["Authorization"] = f"Bearer {token}"

    def get(self, path: str, **query: object) -> Any:
        """Ask until it is answered."""
        answer = self._ask("GET", path, params={name: str(value) for name, value in query.items()})
        if answer.status_code != HTTPStatus.OK:
            raise AssertionError(f"GET {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def write(self, path: str, body: Json) -> Json | None:
        """Send a call until it is answered, so that it takes effect once; return the answer, None if refused."""
        key = str(UUID(int=self.chance.getrandbits(128)))
        answer = self._ask("POST", path, json=body, headers={"Idempotency-Key": key})
        shown: Json = answer.json()
        if "Idempotency-Replayed" in answer.headers:
            self.done[REPEATED] += 1
        if answer.status_code == HTTPStatus.OK:
            self.done["taken"] += 1
            return shown
        self.done[str(shown["code"])] += 1
        return None

    def rounds(self) -> list[Json]:
        """Return all rounds that the house has of the player's, the newest first."""
        found: list[Json] = []
        cursor: dict[str, object] = {}
        while True:
            page = self.get("rounds/", limit=MOST, **cursor)
            found += page["items"]
            if page["next"] is None:
                return found
            cursor = {"cursor": page["next"]}

    def has(self) -> int:
        """Return all money of the player that the house reports: balance, purse, stakes and banks."""
        balances = self.get("balances/")["real"]
        return int(balances["cash"] + balances["purse"] + balances["bank"] + balances["pending"])

    def _ask(self, method: str, path: str, **options: Any) -> requests.Response:
        return self.ask(method, f"/api/v1/{path}", not_yet=NOT_YET, **options)


class Soloist(ApiPlayer):
    """Plays rounds at a solo table, and checks each against the seed that the house had committed to."""

    def __init__(self, record: Record, seed: str, url: str, token: str, slug: str) -> None:
        super().__init__(record, seed, url, token)
        self._at = f"tables/{slug}/real/"
        self._seat: Json | None = None

    def play(self) -> None:
        """Play a round."""
        seat = self._seat = self._seat or self.write(f"{self._at}solo-seat/", {})
        if seat is None:
            self.pause(PACE)
            return
        bets = self._bets(seat)
        shown = self.write(
            f"{self._at}rounds/",
            {"round_id": seat["round_id"], "table_version": seat["table_version"], "bets": bets},
        )
        self._seat = shown and shown["solo_seat"]
        if shown:
            self._keep(shown["round"], bets, seat["commitment"], repeated=shown["repeated"])
        self.pause(PACE)

    def _bets(self, seat: Json) -> dict[str, int]:
        """Choose what to bet: the smallest stakes, or some chips more."""
        chosen = self.chance.sample(sorted({"player", "banker", "tie"} & seat["minimum"].keys()), 2)
        return {bet: seat["minimum"][bet] + self.chance.randrange(5) * seat["step"] for bet in chosen}

    def _keep(self, played: Json, bets: Mapping[str, int], commitment: str, *, repeated: bool) -> None:
        name, round_id = self.name, played["id"]
        if repeated or round_id in self.record.bets:
            self.faults.append(f"{name}: {round_id} had been played before")
        binding = Binding(Purpose.SOLO, round_id, played["table_id"], played["decks"], played["rules_digest"])
        if binding.commitment(bytes.fromhex(played["seed"])) != commitment:
            self.faults.append(f"{name}: the seed of {round_id} is not the one that the house had committed to")
        self.record.lay(round_id, bets)
        self.record.paid[round_id] = played["paid"]


class Sharer(ApiPlayer):
    """Bets at a shared table, a few times in a round."""

    def __init__(self, record: Record, seed: str, url: str, token: str, slug: str) -> None:
        super().__init__(record, seed, url, token)
        self._at = f"tables/{slug}/real/"
        self._laid: dict[str, dict[str, int]] = {}

    def play(self) -> None:
        """Place a bet on the round that takes bets, if there is one."""
        read = self.get(f"{self._at}state/")
        state, own = read["state"], read["own"]
        if state["takes_bets"] and own is None:
            self.write(f"{self._at}seat/", {})
        elif state["takes_bets"]:
            round_id, chips = state["round"]["id"], own["chips"]
            bets = {self.chance.choice(("player", "banker", "tie")): self.chance.choice(chips[:3])}
            asked = {"round_id": round_id, "table_version": state["table_version"], "bets": bets}
            if shown := self.write(f"{self._at}bets/slip/", asked):
                self._keep(round_id, bets, shown["bets"])
        self.pause(PACE)

    def _keep(self, round_id: str, bets: Mapping[str, int], shown: Mapping[str, int]) -> None:
        stored = self._laid.setdefault(round_id, {})
        for bet, stake in bets.items():
            stored[bet] = stored.get(bet, 0) + stake
        if stored != shown:
            self.faults.append(f"{self.name}: on {round_id} lies {shown}, and {stored} was taken")
        self.record.lay(round_id, stored)


class Rival(ApiPlayer):
    """Sits at a Chemin de Fer table: takes the bank, calls, stakes, draws, any way it likes.

    Reads the table with a token, and presses the buttons of its page, with the *cookies* of a session: API clients do
    not play there.
    """

    def __init__(self, record: Record, seed: str, url: str, token: str, slug: str, cookies: Mapping[str, str]) -> None:
        super().__init__(record, seed, url, token)
        self._at, self._page = f"tables/{slug}/real/", f"/en/table/{slug}/real/"
        for name, value in cookies.items():
            self._session.cookies.set(name, value)

    def play(self) -> None:
        """Sit down, or answer the question at the table."""
        read = self.get(f"{self._at}state/")
        state, own = read["state"], read["own"]
        self.record.largest_bank = state["rules"]["maximum"]
        if own["presence"] == "away":
            self._press("seat/", action="come_back")
        elif own["seat"] is None:
            self._press("seat/", action="join")
        elif own["options"]:
            self._decide(state, own)
        self.pause(PACE / 2)

    def leave(self) -> None:
        """Get up, and wait until the player has no stake on the table."""
        watch = Stopwatch(self)
        self._press("seat/", action="leave")
        while (own := self.get(f"{self._at}state/")["own"])["seat"] is not None or own["on_table"]:
            watch.demand_patience(f"a place at the table: {own}")
            self.again()

    def _decide(self, state: Json, own: Json) -> None:
        does = [each for each in own["options"] if each["action"] not in ("pass", "ask_croupier")]
        option = self.chance.choice(does) if does and self.chance.random() < 0.8 else self.chance.choice(own["options"])
        action = f"{option['action']}:{option['call']}" if option["call"] else option["action"]
        amount = option["amount"]
        if option["lowest"] is not None:
            amount = min(option["highest"], option["lowest"] + self.chance.randrange(20) * 100)
        said = {"question": own["question"], "action": action}
        if amount is not None:
            said["amount"] = f"{amount // 100}.{amount % 100:02d}"
        if self._press("act/", **said):
            self._keep(option["action"], state, amount)

    def _press(self, path: str, **form: object) -> bool:
        """Send a form of the page until it is answered, for one effect; return whether it was accepted."""
        if settings.CSRF_COOKIE_NAME not in self._session.cookies:
            self.ask("GET", self._page, not_yet=NOT_YET)
        headers = {"HX-Request": "true", "X-CSRFToken": self._session.cookies.get(settings.CSRF_COOKIE_NAME, "")}
        form["idempotency_key"] = str(UUID(int=self.chance.getrandbits(128), version=4))
        answer = self.ask("POST", self._page + path, not_yet=NOT_YET, data=form, headers=headers)
        refused = REFUSED.search(answer.text)
        is_taken = answer.status_code == HTTPStatus.OK and 'id="live-own"' in answer.text and not refused
        self.done["taken" if is_taken else f"refused: {refused[1] if refused else answer.status_code}"] += 1
        return is_taken

    def _keep(self, action: str, state: Json, amount: int | None) -> None:
        """Remember what was decided, once the house has taken it."""
        if action in STAKES:
            self.record.against.add(state["round"]["id"])
            if amount is None:  # for the whole bank
                self.record.calls[state["round"]["id"]] = state["bank"]["amount"]
            else:
                self.record.lay(state["round"]["id"], {"punter": amount})
        elif action in BANKS and amount is not None:
            self.record.banks.append(amount)
        elif action == "keep_bank":
            self.record.kept += 1
