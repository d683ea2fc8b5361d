"""Untranslated sentences in modules and scripts are found; keywords, selectors and log messages are
ignored.
"""

from pathlib import Path

import pytest

from ops.i18n import catalogues
from ops.i18n.hardcoded import spoken_by_module, spoken_by_script
from ops.i18n.sources import Tree


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('forms.CharField(label="Your amount")', ["Your amount"]),
        ('forms.CharField(label="Amount")', ["Amount"]),
        ('forms.CharField(help_text="At least " + "ten of them")', ["At least", "ten of them"]),
        ('forms.CharField(error_messages={"required": "Write an amount."})', ["Write an amount."]),
        ('raise ValidationError("This is too much", code="much")', ["This is too much"]),
        ('raise ValidationError(f"More than {limit} is too much")', ["More than", "is too much"]),
        ('Notice("error", "Your bet was not taken.")', ["Your bet was not taken."]),
        ('Notice("error", "Your bet of %(amount)s" % {"amount": amount})', ["Your bet of %(amount)s"]),
        ('Notice("info", "Place {bets} now".format(bets=2), link_text="Look here")', ["Look here", "Place {bets} now"]),
        ('self.add_error("amount", "Not so much")', ["Not so much"]),
        ('messages.success(request, "All is done")', ["All is done"]),
    ],
)
def test_a_sentence_in_a_module_is_found(tmp_path: Path, line: str, said: list[str]) -> None:
    assert sorted(found.text for found in spoken_by_module(written(tmp_path / "forms.py", line))) == said


@pytest.mark.parametrize(
    "line",
    [
        'forms.CharField(label=_("Your amount"), help_text=gettext_lazy("At least ten."))',
        'forms.CharField(widget=forms.DateInput(attrs={"autocomplete": "one time code"}))',
        'Notice("error", _("Your bet of %(amount)s") % {"amount": amount}, reverse("round", args=[1]), _("See it"))',
        'raise ValidationError(ngettext("%d chip is left", "%d chips are left", count) % count, code="left")',
        'self.add_error("birth_date", sentence)',
        'log.warning("a line for the log")',
        'raise LookupError("no such table here")',
    ],
)
def test_literals_that_are_marked_or_unread_are_ignored(tmp_path: Path, line: str) -> None:
    assert spoken_by_module(written(tmp_path / "forms.py", line)) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('toast("Your session has ended.");', ["Your session has ended."]),
        ("toast('the cards are being dealt …');", ["the cards are being dealt …"]),
        ("say(`You won ${amount} at last!`);", ["You won at last!"]),
        ('button.textContent = "Close";', ["Close"]),
        ('button.setAttribute("aria-label", "close");', ["close"]),
        ('if (confirm("Sure")) go();', ["Sure"]),
        ('const pattern = /"/; toast("Nothing was staked.");', ["Nothing was staked."]),
    ],
)
def test_a_sentence_in_a_script_is_found(tmp_path: Path, line: str, said: list[str]) -> None:
    assert [found.text for found in spoken_by_script(written(tmp_path / "table.js", line))] == said


@pytest.mark.parametrize(
    "line",
    [
        '"use strict";',
        '// The reader\'s browser says: It was dealt.\n/* And "The cards lie." too. */',
        'document.querySelector("#game button[name=action], .spot .stack");',
        'row.className = "mini mini--red is-past";',
        'close.textContent = "×"; score.textContent = `${player}:${banker}`;',
        "toast(toasts.dataset.offline);",
        'const ranks = "A 2 3 4 5 6 7 8 9 10 J Q K".split(" ");',
        'spot.insertAdjacentHTML("beforeend", \'<span class="stack stack--high"></span>\');',
        "utf8.encode(`sabot shuffle v1, decks=${decks}`);",
    ],
)
def test_what_a_script_does_not_show_is_let_be(tmp_path: Path, line: str) -> None:
    assert spoken_by_script(written(tmp_path / "table.js", line)) == []


def test_the_check_reads_modules_and_scripts_but_not_the_back_office(tmp_path: Path) -> None:
    for place in (
        "games/betting/forms.py",
        "backoffice/tables/views.py",
        "audit/forms.py",
        "games/management/commands/deal.py",
    ):
        written(tmp_path / place, 'forms.CharField(label="Your amount")')
    written(tmp_path / "static/js/tables/solo_table.js", 'toast("Your session has ended.");')
    assert [str(fault) for fault in catalogues.faults(Tree(tmp_path, ()))] == [
        "games/betting/forms.py:1: hard-coded: 'Your amount'",
        "static/js/tables/solo_table.js:1: hard-coded: 'Your session has ended.'",
    ]


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
