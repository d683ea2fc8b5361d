"""Labels and links for players, rounds and payments that the event log names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

from backoffice.lists.framework.site import SITE
from backoffice.rounds.views import READERS as ROUND_READERS
from games.rounds.codes import round_code
from players.access import StaffRequest
from wallet.models import Payment, Withdrawal

NUMBERED: Final = re.compile("(player|withdrawal):([1-9][0-9]{0,17})")
IDENTIFIED: Final = re.compile("(round|payment)[: ]([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


@dataclass(frozen=True)
class Subject:
    """Label and URL of a subject.

    The URL is "" if the subject has no page that the reader may see.
    """

    words: str
    url: str = ""


@dataclass(frozen=True)
class Subjects:
    """Labels and links of subjects for one reader.

    *names* are the names of staff, tables and games.
    """

    request: StaffRequest
    names: Mapping[str, str]

    def of(self, name: str) -> Subject:
        """Return the subject that *name* refers to. An unknown name is its own label."""
        if name in self.names:
            return Subject(self.names[name])
        if found := NUMBERED.fullmatch(name):
            return self._player(name, found[2]) if found[1] == "player" else self._listed(name, Withdrawal, found[2])
        if found := IDENTIFIED.fullmatch(name):
            return self._round(UUID(found[2])) if found[1] == "round" else self._listed(name, Payment, found[2])
        return Subject(name)

    def _player(self, name: str, number: str) -> Subject:
        may = self.request.user.has_perm("players.view_player")
        return Subject(name, reverse("staff_player", args=[number]) if may else "")

    def _round(self, round_id: UUID) -> Subject:
        may = any(map(self.request.user.has_perm, ROUND_READERS))
        address = f"{reverse('staff_rounds')}?{urlencode({'round': round_id})}"
        return Subject(f"Round {round_code(round_id)}", address if may else "")

    def _listed(self, name: str, model: type[Payment | Withdrawal], key: str) -> Subject:
        may = SITE.get_model_admin(model).has_view_permission(self.request)
        return Subject(name, reverse(f"admin:wallet_{model._meta.model_name}_change", args=[key]) if may else "")
