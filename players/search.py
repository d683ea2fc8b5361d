"""Player search for staff. Each finder handles one kind of search text, or returns None for other text.

A finder returns players in the order of an index and continues after the last player shown. So a
page costs the same for any number of players, and its URL holds only a number. Values stored as
keyed hashes are found only if they match exactly.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from string import ascii_lowercase
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from players.encryption import fingerprints
from players.identity import normalise
from players.models import Ground, Jurisdiction, Player, SearchWord, Session, Submission, WordField

SEE: Final = "players.view_player"
IDENTITY: Final = "players.review_identity"
# Staff who may read names: those who verify them, and those who pay withdrawals.
NAMES: Final = (IDENTITY, "wallet.approve_withdrawal", "wallet.see_withdrawals")
SESSIONS: Final = (IDENTITY, "audit.view_event")
NUMBER: Final = re.compile(r"(?:player:)?([0-9]{1,18})", re.ASCII)
ADDRESS: Final = re.compile(r"[^\s@]{2,}(?:@[^\s@]*)?")  # an e-mail address, or the beginning of one
LAST: Final = "\U0010ffff"  # sorts after every continuation of a word
MOST_WORDS: Final = 6
SHORTEST_MISTAKEN: Final = 4  # letters: shorter names are one letter from too many others


@dataclass(frozen=True)
class Hit:
    """A player who was found, and the matching value if it differs from the search text."""

    player_id: int
    said: str = ""


Find = Callable[[str, int, int], Sequence[Hit] | None]


@dataclass(frozen=True)
class Finder:
    """One kind of search, with its label in sentences, for staff with any of *permissions*.

    *find* gets the search text, the player to continue after (0: from the beginning) and the
    maximum number of results. It returns None if the text cannot be of this kind.
    """

    name: str
    label: str | Promise
    permissions: tuple[str, ...]
    find: Find


def keep_words(submission: Submission) -> None:
    """Store the words of a submission for the search."""
    postal_code = submission.postal_code
    said = {
        WordField.NAME: normalise.words(f"{submission.given_names} {submission.family_name}"),
        # A postal code is written in one part or in two.
        WordField.ADDRESS: [
            *normalise.words(f"{submission.street} {postal_code} {submission.city}"),
            normalise.text(postal_code),
        ],
    }
    rows = [
        SearchWord(player_id=submission.player_id, field=field, word=word)
        for field, found in said.items()
        for word in sorted(set(found) - {""})
    ]
    SearchWord.objects.bulk_create(rows, ignore_conflicts=True)


def keep_all_words() -> None:
    """Store the words of all submissions, with today's normalisation."""
    for submission in Submission.objects.exclude(family_name="").order_by("pk").iterator(1000):
        keep_words(submission)


def read_uuid(typed: str, *prefixes: str) -> UUID | None:
    """Return the UUID that was typed, with or without one of *prefixes* and a colon in front."""
    before, colon, after = typed.rpartition(":")
    if colon and before.lower() not in prefixes:
        return None
    try:
        return UUID(after)
    except ValueError:
        return None


def select(statement: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a search statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def _number(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    read = NUMBER.fullmatch(typed.lower())
    if not read:
        return None
    known = Player.objects.filter(pk=int(read[1]), pk__gt=after).values_list("pk", flat=True)
    return [Hit(number) for number in known]


# These operators compare byte by byte, like the index, whatever the database's locale.
BY_EMAIL: Final = """
SELECT player.id, found.email FROM players_user AS found JOIN players_player AS player ON player.user_id = found.id
WHERE found.email ~>=~ %(begins)s AND found.email ~<~ %(ends)s
  AND found.email ~>~ coalesce((SELECT email FROM players_user WHERE id = (
      SELECT user_id FROM players_player WHERE id = %(after)s)), '')
ORDER BY found.email USING ~<~ LIMIT %(limit)s
"""


def _email(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    begins = typed.lower()
    if not ADDRESS.fullmatch(begins) or begins.isdecimal() or ":" in begins:
        return None
    if exact := Player.objects.filter(user__email=begins, pk__gt=after).values_list("pk", flat=True):
        return [Hit(number, begins) for number in exact]
    asked = {"begins": begins, "ends": begins + LAST, "after": after, "limit": limit}
    return [Hit(*row) for row in select(BY_EMAIL, asked)]


ENOUGH: Final = 500  # players with such a word: more make it a common word
# Counts one word at a time, because PostgreSQL estimates a constant well and a parameter from a list badly.
KNOWN: Final = """
SELECT count(*) FROM (
    SELECT FROM players_searchword WHERE field = %(field)s AND word >= %(begins)s AND word < %(ends)s
    ORDER BY word LIMIT %(enough)s
) AS alike
"""
# The rarest word is searched by index. The other words are checked per player, as scalar subqueries, which
# PostgreSQL does not turn into joins of whole tables. A player with two matching words is found by the first one.
BY_WORDS: Final = """
SELECT found.player_id, found.word FROM players_searchword AS found
WHERE found.field = %(field)s AND found.word < %(ends)s
  AND (found.word, found.player_id) > (coalesce((
      SELECT min(word) FROM players_searchword
      WHERE player_id = %(after)s AND field = %(field)s AND word >= %(begins)s AND word < %(ends)s
  ), %(begins)s), %(after)s)
  AND found.word = (
      SELECT first.word FROM players_searchword AS first
      WHERE first.player_id = found.player_id AND first.field = %(field)s AND first.word >= %(begins)s
      ORDER BY first.word LIMIT 1)
  AND coalesce((
      SELECT bool_and((
          SELECT true FROM players_searchword AS search_word
          WHERE search_word.player_id = found.player_id AND search_word.field = %(field)s
          AND search_word.word >= other.word COLLATE "C" AND search_word.word < (other.word || %(last)s) COLLATE "C"
          LIMIT 1
      ) IS NOT NULL) FROM unnest(%(others)s::text[]) AS other (word)
  ), true)
ORDER BY found.word, found.player_id LIMIT %(limit)s
"""


def by_words(field: WordField, typed: str, after: int, limit: int) -> list[Hit]:
    """Return players who have words of *field* with the typed prefixes, in any order."""
    words = sorted(set(normalise.words(typed)), key=len, reverse=True)
    begins = min(words, key=partial(_known, field)) if len(words) > 1 else words[0]
    asked = {"field": field.value, "begins": begins, "ends": begins + LAST, "last": LAST}
    others = [word for word in words if word != begins]
    return [Hit(number) for number, _ in select(BY_WORDS, asked | {"others": others, "after": after, "limit": limit})]


# Words with a mistake are looked up one by one in the index, so that none of similar beginning is read.
BY_MISTAKE: Final = """
SELECT found.player_id, found.word FROM (
    SELECT player_id, word FROM players_searchword
    WHERE field = %(field)s AND word = ANY (%(words)s::text[] COLLATE "C")
    ORDER BY word, player_id LIMIT %(enough)s
) AS found
WHERE coalesce((
      SELECT bool_and((
          SELECT true FROM players_searchword AS search_word
          WHERE search_word.player_id = found.player_id AND search_word.field = %(field)s
          AND search_word.word >= other.word COLLATE "C" AND search_word.word < (other.word || %(last)s) COLLATE "C"
          LIMIT 1
      ) IS NOT NULL) FROM unnest(%(others)s::text[]) AS other (word)
  ), true)
LIMIT %(limit)s
"""
# Of players who have the other words.
MISTAKE_OF: Final = """
SELECT asked.player_id, (
    SELECT min(word) FROM players_searchword AS found
    WHERE found.player_id = asked.player_id AND found.field = %(field)s
      AND found.word = ANY (%(words)s::text[] COLLATE "C"))
FROM unnest(%(players)s::bigint[]) AS asked (player_id)
"""


def one_mistake_from(word: str) -> list[str]:
    """Return the words that differ from *word* by one letter: another, missing, added, or swapped with the next."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    return sorted(
        {
            *(before + rest[1:] for before, rest in cuts if rest),
            *(before + rest[1] + rest[0] + rest[2:] for before, rest in cuts if len(rest) > 1),
            *(before + letter + rest[1:] for before, rest in cuts if rest for letter in ascii_lowercase),
            *(before + letter + rest for before, rest in cuts for letter in ascii_lowercase),
        }
        - {word}
    )


def by_mistaken_words(field: WordField, typed: str, limit: int) -> list[Hit]:
    """Return players who have the typed words, one of which has a mistake of one letter.

    Of a common word, only the first `ENOUGH` players are examined.
    """
    words = sorted(set(normalise.words(typed)), key=len, reverse=True)
    found: dict[int, str] = {}
    for word in words:
        if len(word) < SHORTEST_MISTAKEN:
            continue
        others = [other for other in words if other != word]
        asked = {"field": field.value, "words": one_mistake_from(word)}
        if others:
            players = [hit.player_id for hit in by_words(field, " ".join(others), 0, ENOUGH)]
            found |= {number: said for number, said in select(MISTAKE_OF, asked | {"players": players}) if said}
        more = {"others": others, "last": LAST, "enough": ENOUGH, "limit": limit}
        found |= dict(select(BY_MISTAKE, asked | more))
    return [Hit(number, said) for number, said in found.items()][:limit]


def _known(field: WordField, word: str) -> int:
    """Return how many words have this prefix, at most `ENOUGH`."""
    asked = {"field": field.value, "begins": word, "ends": word + LAST, "enough": ENOUGH}
    ((number,),) = select(KNOWN, asked)
    return int(number)


def _name(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    if re.search(r"[\d@:]", typed):
        return None
    found = _by_words(WordField.NAME, typed, after, limit, shortest=2)
    return by_mistaken_words(WordField.NAME, typed, limit) if found == [] and not after else found


def _address(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    return _by_words(WordField.ADDRESS, typed, after, limit, shortest=3) if not re.search("[@:]", typed) else None


def _by_words(field: WordField, typed: str, after: int, limit: int, *, shortest: int) -> Sequence[Hit] | None:
    words = normalise.words(typed)
    if not 0 < len(words) <= MOST_WORDS or max(map(len, words)) < shortest:
        return None
    return by_words(field, typed, after, limit)


BY_TRAIT: Final = """
SELECT DISTINCT player_id FROM players_trait WHERE ground = %(ground)s AND fingerprint = ANY (%(fingerprints_of_value)s)
AND player_id > %(after)s ORDER BY player_id LIMIT %(limit)s
"""


def by_trait(ground: Ground, values: Iterable[str], after: int, limit: int) -> Sequence[Hit]:
    """Return players who have one of *values*, normalised as by `players.identity.normalise`."""
    fingerprints_of_value = [digest for value in values for digest in fingerprints(ground, value.encode())]
    asked = {"ground": ground.value, "fingerprints_of_value": fingerprints_of_value, "after": after, "limit": limit}
    return [Hit(*row) for row in select(BY_TRAIT, asked)]


def _phone(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    if not re.fullmatch(r"[+(]?[\d\s()/.-]{6,25}", typed):
        return None
    countries = Jurisdiction.objects.order_by("pk").values_list("pk", flat=True)
    read = {number for country in countries if (number := normalise.phone(typed, country))}
    return by_trait(Ground.PHONE, sorted(read), after, limit) if read else None


def _document(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    number = normalise.number(typed)
    if not 5 <= len(number) <= 40 or not re.search(r"\d", number) or "@" in typed or ":" in typed:
        return None
    return by_trait(Ground.NUMBER, [number], after, limit)


def _session(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    session_id = read_uuid(typed, "session")
    if session_id is None:
        return None
    known = Session.objects.filter(pk=session_id, user__player__pk__gt=after)
    return [
        Hit(number, (gettext("of %(at)s UTC") % {"at": f"{at:%Y-%m-%d %H:%M}"}))
        for number, at in known.values_list("user__player__pk", "began_at")
    ]


# Jumps in the index from one user to the next, however many sessions each has, and stops at the limit.
BY_SESSIONS: Final = """
WITH RECURSIVE found (user_id) AS (
    (SELECT user_id FROM players_session WHERE {which}
     AND user_id > coalesce((SELECT user_id FROM players_player WHERE id = %(after)s), 0) ORDER BY user_id LIMIT 1)
    UNION ALL
    SELECT (SELECT user_id FROM players_session WHERE {which} AND user_id > found.user_id ORDER BY user_id LIMIT 1)
    FROM found WHERE found.user_id IS NOT NULL
)
SELECT named.id FROM (
    SELECT (SELECT player.id FROM players_player AS player WHERE player.user_id = found.user_id) AS id
    FROM found OFFSET 0
) AS named WHERE named.id IS NOT NULL LIMIT %(limit)s
"""
BY_IP: Final = BY_SESSIONS.format(which="ip = %(value)s AND ip <> ''")
BY_BROWSER: Final = BY_SESSIONS.format(which="md5(browser) = md5(%(value)s) AND browser <> ''")


def _ip(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    try:
        value = str(ip_address(typed))
    except ValueError:
        return None
    return [Hit(*row) for row in select(BY_IP, {"value": value, "after": after, "limit": limit})]


def _browser(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    if "/" not in typed or len(typed) < 20:
        return None
    return [Hit(*row) for row in select(BY_BROWSER, {"value": typed, "after": after, "limit": limit})]


FINDERS: Final = (
    Finder("number", gettext_lazy("player number"), (SEE,), _number),
    Finder("email", gettext_lazy("e-mail address"), (SEE,), _email),
    Finder("name", pgettext_lazy("search", "name"), NAMES, _name),
    Finder("phone", gettext_lazy("telephone number"), (IDENTITY,), _phone),
    Finder("address", pgettext_lazy("search", "postal address"), (IDENTITY,), _address),
    Finder("document", gettext_lazy("document number"), (IDENTITY,), _document),
    Finder("ip", gettext_lazy("IP address"), SESSIONS, _ip),
    Finder("session", pgettext_lazy("search", "session"), SESSIONS, _session),
    Finder("device", gettext_lazy("device (user agent)"), SESSIONS, _browser),
)
