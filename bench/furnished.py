"""A table with a history and with people who talk: eighty rounds of its shoe are settled, the last of them another one
each time there is news, so that the board is drawn anew; and every second somebody says something.

Only a bench's database is treated like this: what guards rounds against being rewritten is switched off.
"""

from collections.abc import Iterator, Sequence
from itertools import cycle
from random import Random
from typing import Final
from uuid import uuid4

from django.conf import settings
from django.db import connections
from psycopg import AsyncConnection

from games.engine.cards import Card
from games.engine.coup import deal
from games.models import ChatName, LiveRound, LiveTable, Phase
from games.tables.notify import CHANNEL, CHAT
from players.models import Player

ROUNDS: Final = 80
TALKERS: Final = 10  # nobody may say more than six things in half a minute
DECK: Final = [f"{rank}{suit}" for rank in "A23456789TJQK" for suit in "CDHS"]
NOTIFY: Final = "SELECT pg_notify(%s::text, %s::text)"
REWRITE: Final = "UPDATE games_liveround SET cards = %s WHERE id = %s"
SAY: Final = """
INSERT INTO games_chatmessage (live_table_id, player_id, name, language, text, removed_by)
VALUES (%s, %s, '', 'en', %s, '')
"""
WORDS: Final = "Good luck to everybody at the table!"


def furnish(live_table: LiveTable, players: Sequence[Player]) -> None:
    """Give the table its history, and some of the players names to talk under."""
    results = coups()
    now = LiveRound.objects.get(live_table=live_table, phase=Phase.BETTING)
    with connections["owner"].cursor() as cursor:
        cursor.execute("ALTER TABLE games_liveround DISABLE TRIGGER USER")
    LiveRound.objects.bulk_create(
        LiveRound(
            id=uuid4(),
            live_table=live_table,
            version=now.version,
            shoe=now.shoe,
            number=now.number + number,
            is_last=False,
            code=f"B{number}",
            phase=Phase.SETTLED,
            deadline=now.deadline,
            cards=next(results),
        )
        for number in range(1, ROUNDS + 1)
    )
    ChatName.objects.bulk_create(
        ChatName(player=player, name=f"Player {number}") for number, player in enumerate(players[:TALKERS])
    )


def coups() -> Iterator[str]:
    """Yield coup after coup, always the same ones."""
    chance = Random(1)
    while True:
        yield " ".join(str(card) for card in deal([Card.parse(code) for code in chance.sample(DECK, 6)]).cards)


class News:
    """Makes news of the table, and of its chat."""

    def __init__(self, live_table: LiveTable) -> None:
        self._live_table, self._results = live_table.pk, coups()
        self._last = LiveRound.objects.filter(live_table=live_table, phase=Phase.SETTLED).latest("number").pk
        self._talkers = cycle(ChatName.objects.order_by("-chosen_at").values_list("player", flat=True)[:TALKERS])

    async def connect(self) -> None:
        """Connect to the house's database."""
        self._line = await AsyncConnection.connect(settings.DATABASE_URL, autocommit=True)
        self._owner = await AsyncConnection.connect(settings.DATABASE_OWNER_URL, autocommit=True)

    async def prepare(self) -> None:
        """Have the last result be another one."""
        await self._owner.execute(REWRITE, [next(self._results), self._last])

    async def tell(self) -> None:
        """Have everybody told."""
        await self._line.execute(NOTIFY, [CHANNEL, str(self._live_table)])

    async def talk(self) -> None:
        """Say something."""
        await self._owner.execute(SAY, [self._live_table, next(self._talkers), WORDS])
        await self._owner.execute(NOTIFY, [CHANNEL, f"{CHAT} {self._live_table}"])
