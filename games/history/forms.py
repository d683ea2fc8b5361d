"""Which rounds Game logs show, as their page asks."""

from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.db.models import Exists, OuterRef
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from games.history.search import Ending, Search
from games.models import Participation, Table
from players.date_field import Day
from players.models import Player
from wallet.models import Mode


class SearchForm(forms.Form):
    """Which rounds Game logs show. An empty field asks for nothing."""

    since = Day(pgettext_lazy("first day of a period", "From"))
    until = Day(pgettext_lazy("last day of a period", "To"))
    table = forms.ModelChoiceField(
        Table.objects.order_by("id"),
        to_field_name="slug",
        required=False,
        label=pgettext_lazy("label", "Table"),
        empty_label=_("All tables"),
    )
    ending = forms.ChoiceField(
        required=False,
        label=pgettext_lazy("label", "Result"),
        choices=[
            ("", _("All results")),
            (Ending.WON, pgettext_lazy("rounds", "Won")),
            (Ending.LOST, pgettext_lazy("rounds", "Lost")),
            (Ending.EVEN, pgettext_lazy("rounds", "Even")),
            (Ending.VOID, pgettext_lazy("rounds", "Annulled")),
        ],
    )

    def __init__(self, *args: Any, player: Player, **kwargs: Any) -> None:
        """Offer the tables at which *player* has played for real money: others have nothing to show."""
        super().__init__(*args, **kwargs)
        played = Participation.objects.filter(player=player, mode=Mode.REAL, table=OuterRef("pk"))
        cast("forms.ModelChoiceField", self.fields["table"]).queryset = Table.objects.filter(Exists(played)).order_by(
            "id"
        )

    def clean(self) -> None:
        """Refuse a period that ends before it begins."""
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and since > until:
            raise forms.ValidationError(_("The first day comes after the last one. All rounds are shown."))

    @property
    def search(self) -> Search:
        """What is asked for: everything, where the form is not valid."""
        if not self.is_valid():
            return Search()
        asked = self.cleaned_data
        return Search(
            since=asked["since"],
            until=asked["until"],
            table=asked["table"].slug if asked["table"] else None,
            ending=Ending(asked["ending"]) if asked["ending"] else None,
            zone=get_current_timezone(),
        )

    @property
    def fault(self) -> str:
        """One sentence on what could not be read, or nothing."""
        if self.is_valid():
            return ""
        if "__all__" in self.errors:
            return str(self.errors["__all__"][0])
        return str(_("This filter could not be read. All rounds are shown."))

    @property
    def query(self) -> str:
        """What is asked for, as the end of an address; empty where that is everything."""
        asked = self.data if self.is_valid() else {}
        return urlencode({name: asked[name] for name in self.fields if asked.get(name)})
