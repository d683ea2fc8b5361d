"""Translation: extraction, catalogues, compilation and check, on a small project and on this
one.
"""

import gettext
import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from jinja2 import TemplateSyntaxError
from pytest_django import Settings

from ops.fork_server import compile_texts
from ops.i18n import catalogues, sources
from ops.i18n.hardcoded import outright, outright_in_fragment
from ops.i18n.sources import Tree, collect
from ops.launcher import CannotOpen

MODULE = """
from django.utils.translation import gettext as _, ngettext, pgettext

def texts(count, name):
    # Translators: spoken by the croupier
    yield _("Place your bets")
    yield pgettext("card", "ace")
    yield ngettext("%(count)d coup", "%(count)d coups", count) % {"count": count}
    yield _("Hello {name}").format(name=name)
"""
PAGE = """{% load i18n %}
<main>
    <h1>{% translate "Rules" %}</h1>
  <p title="{% translate "D" context "draws, one letter" %}">{{ note|default:_("No note") }}</p>
      {% blocktranslate trimmed count decks=decks %}
        Played with {{ decks }} deck.
      {% plural %}
        Played with {{ decks }} decks.
      {% endblocktranslate %}
</main>
"""
TEXTS: set[tuple[str | None, str | tuple[str, ...]]] = {
    (None, "Place your bets"),
    ("card", "ace"),
    (None, ("%(count)d coup", "%(count)d coups")),
    (None, "Hello {name}"),
    (None, "Rules"),
    ("draws, one letter", "D"),
    (None, "No note"),
    (None, ("Played with %(decks)s deck.", "Played with %(decks)s decks.")),
}
ROMANIAN: dict[str, str | tuple[str, ...]] = {
    "Place your bets": "Plasați pariurile",
    "ace": "as",
    "%(count)d coup": ("o mână", "%(count)d mâini", "%(count)d de mâini"),
    "Hello {name}": "Bună, {name}",
    "Rules": "Reguli",
    "D": "T",
    "No note": "Nicio notă",
    "Played with %(decks)s deck.": (
        "Se joacă cu %(decks)s pachet.",
        "Se joacă cu %(decks)s pachete.",
        "Se joacă cu %(decks)s de pachete.",
    ),
}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A project of one module and one page without translations."""
    for path, text in {"games/words.py": MODULE, "templates/games/rules.html": PAGE}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return Tree(tmp_path, ("ro",))


def translate(tree: Tree, words: dict[str, str | tuple[str, ...]], *, fuzzy: frozenset[str] = frozenset()) -> None:
    """Fill the Romanian catalogue with *words*, by the singular of each text."""
    path = tree.catalogue("ro")
    catalogues.update(path, collect(tree), "ro")
    catalogue = catalogues.read(path, "ro")
    for message in catalogue:
        key = message.id if isinstance(message.id, str) else message.id[0]
        if key in words:
            message.string = words[key]
            if key in fuzzy:
                message.flags.add("fuzzy")
    catalogues.write(path, catalogue, "ro")


def named(tree: Tree) -> set[tuple[str, str]]:
    return {(fault.what, fault.text) for fault in catalogues.faults(tree)}


def test_every_marked_text_is_found_with_its_context_and_its_plural(tree: Tree) -> None:
    assert {(text.context, text.id) for text in collect(tree) if text.id} == TEXTS


def test_a_note_to_translators_travels_along(tree: Tree) -> None:
    text = collect(tree).get("Place your bets")
    assert text is not None
    assert text.auto_comments == ["spoken by the croupier"]


def test_every_marked_text_of_a_fragment_is_found_with_its_context_and_its_plural(tree: Tree) -> None:
    (tree.root / "fragments").mkdir()
    (tree.root / "fragments/cards.html").write_text(
        '{% macro card(n) %}<p title="{{ pgettext("meter", "Bet") }}">{{ gettext("Shoe %(n)s", n=n) }}'
        '{{ ngettext("%(num)d bet", "%(num)d bets", n) }}</p>{% endmacro %}'
    )
    found = [text for text in collect(tree) if text.id and text.locations[0][0] == "fragments/cards.html"]
    assert {(text.context, text.id) for text in found} == {
        ("meter", "Bet"),
        (None, "Shoe %(n)s"),
        (None, ("%(num)d bet", "%(num)d bets")),
    }
    assert {text.id: "python-format" in text.flags for text in found}["Shoe %(n)s"]


def test_a_fragment_that_cannot_be_parsed_is_an_error_and_not_empty(tree: Tree) -> None:
    (tree.root / "fragments").mkdir()
    (tree.root / "fragments/cards.html").write_text('{{ gettext("Shoe" }}')
    with pytest.raises(TemplateSyntaxError):
        collect(tree)


def test_an_update_keeps_translations_and_drops_texts_that_are_gone(tree: Tree) -> None:
    translate(tree, ROMANIAN)
    (tree.root / "games/words.py").write_text('_("Place your bets")\n_("Place your bet")\n')

    done = catalogues.update(tree.catalogue("ro"), collect(tree), "ro")

    kept = catalogues.read(tree.catalogue("ro"), "ro")
    spoken = {(text.context, text.id): text.string for text in kept if text.id}
    assert (done.added, done.dropped, done.untranslated) == (1, 3, 1)
    assert spoken[None, "Place your bets"] == "Plasați pariurile"
    assert spoken[None, "Place your bet"] == "", "nothing is guessed from a similar text"
    assert ("card", "ace") not in spoken
    assert not kept.obsolete


def test_an_update_without_changes_changes_no_byte(tree: Tree) -> None:
    translate(tree, ROMANIAN)
    before = tree.catalogue("ro").read_bytes()
    catalogues.update(tree.catalogue("ro"), collect(tree), "ro")
    assert tree.catalogue("ro").read_bytes() == before


def test_a_house_compiles_by_itself_what_make_did_not(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    for user in ("ops.fork_server", "ops.management.commands.compile_messages"):
        monkeypatch.setattr(f"{user}.project", lambda: tree)
    translate(tree, ROMANIAN)
    said: list[str] = []
    assert tree.uncompiled() == ["ro"]
    compile_texts(said.append)
    assert (said, tree.uncompiled()) == (["Compiling the texts (ro) …"], [])
    compile_texts(said.append)
    assert len(said) == 1
    made = sources.compiled(tree.catalogue("ro")).stat()
    os.utime(tree.catalogue("ro"), (made.st_atime, made.st_mtime + 1))
    assert tree.uncompiled() == ["ro"]


def test_a_house_that_cannot_compile_its_texts_says_who_can(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    for user in ("ops.fork_server", "ops.management.commands.compile_messages"):
        monkeypatch.setattr(f"{user}.project", lambda: tree)
    translate(tree, ROMANIAN)
    sources.compiled(tree.catalogue("ro")).with_suffix(".mo.part").mkdir()
    with pytest.raises(CannotOpen, match=r"django\.mo\.part cannot be written: run manage\.py compile_messages"):
        compile_texts(lambda _said: None)


def test_romanian_counts_in_three_forms(tree: Tree) -> None:
    translate(tree, ROMANIAN)
    with catalogues.compile_catalogue(tree.catalogue("ro"), "ro").open("rb") as file:
        spoken = gettext.GNUTranslations(file)
    forms = [spoken.ngettext("%(count)d coup", "%(count)d coups", count) for count in (1, 0, 2, 19, 20, 100, 101)]
    few, many = "%(count)d mâini", "%(count)d de mâini"
    assert forms == ["o mână", few, few, few, many, many, few]
    assert spoken.pgettext("card", "ace") == "as"


def test_a_whole_translation_has_no_faults(tree: Tree) -> None:
    translate(tree, ROMANIAN | {"%(count)d coup": ("%(count)d mână", "%(count)d mâini", "%(count)d de mâini")})
    assert named(tree) == set()


@pytest.mark.parametrize(
    ("english", "romanian", "what"),
    [
        ("Rules", "", "missing"),
        ("Played with %(decks)s deck.", ("Se joacă cu %(decks)s pachet.", "", ""), "missing"),
        ("Rules", "Rules", "equal to the English"),
        ("Hello {name}", "Bună, {nume}", "other placeholders or markup"),
        ("%(count)d coup", ("%(count)d mână", "mâini", "%(count)s de mâini"), "other placeholders or markup"),
        ("Hello {name}", "Bună, {name} {", "cannot be filled in"),
        ("Played with %(decks)s deck.", ("%(decks)s % a.", "%(decks)s a.", "%(decks)s de a."), "cannot be filled in"),
        ("Place your bets", "Plasaţi pariurile", "wrong letter ţ"),
        ("Place your bets", "Plasați „pariurile“", "wrong sign “"),
        ("Place your bets", "Plasați pariurile.", "other mark at the end"),
        ("Place your bets", "Plasați pariurile ", "other spaces at the edges"),
    ],
)
def test_a_bad_translation_is_named(tree: Tree, english: str, romanian: str | tuple[str, ...], what: str) -> None:
    translate(
        tree,
        ROMANIAN | {"%(count)d coup": ("%(count)d", "%(count)d mâini", "%(count)d de mâini")} | {english: romanian},
    )
    assert named(tree) == {(what, english)}


def test_a_guess_is_named(tree: Tree) -> None:
    translate(tree, ROMANIAN, fuzzy=frozenset({"Rules"}))
    assert ("fuzzy", "Rules") in named(tree)


def test_a_form_too_few_is_named(tree: Tree) -> None:
    translate(tree, ROMANIAN)
    path = tree.catalogue("ro")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith('msgstr[2] "%(count)d de')]
    assert len(kept) < len(lines)
    path.write_text("".join(kept), encoding="utf-8")
    assert named(tree) & {("missing", "%(count)d coup"), ("plural forms missing", "%(count)d coup")}


@pytest.mark.parametrize(
    "module",
    [
        "f\"{count}, {_('to add')}\"",
        # Elsewhere, the same text is extracted: it would go from the catalogues with that module.
        '_("to add")\nf"{count}, {_(\'to add\')}"',
        'Filter("status", "Status", lambda: [("add", _("to add"))])',
    ],
)
def test_a_marked_text_that_is_not_extracted_is_named(tree: Tree, module: str) -> None:
    (tree.root / "games/adjustments.py").write_text(module)
    assert ("not extracted (f-string, or inside another marked call)", "to add") in named(tree)


def test_an_obsolete_text_is_named(tree: Tree) -> None:
    translate(tree, ROMANIAN)
    with tree.catalogue("ro").open("a", encoding="utf-8") as file:
        file.write('\n#~ msgid "No more bets"\n#~ msgstr "Pariurile s-au închis"\n')
    assert ("obsolete", "No more bets") in named(tree)


def test_a_straight_apostrophe_in_the_english_is_named(tree: Tree) -> None:
    (tree.root / "games/words.py").write_text('_("Player\'s cards")\n')
    translate(tree, ROMANIAN | {"Player's cards": "Cărțile Jucătorului"})
    assert ("wrong sign '", "Player's cards") in named(tree)


def test_a_text_that_nothing_says_any_more_is_named(tree: Tree) -> None:
    translate(tree, ROMANIAN)
    (tree.root / "games/words.py").unlink()
    assert ("unused", "Place your bets") in named(tree)


def test_what_is_allowed_is_no_fault_and_what_is_allowed_in_vain_is(tree: Tree) -> None:
    translate(tree, ROMANIAN | {"Rules": "Rules", "%(count)d coup": ("%(count)d", "%(count)d m", "%(count)d de m")})
    tree.allowed().write_text('outright = ["Sabot"]\n[equal]\nro = ["Rules", "ace"]\n')
    assert named(tree) == {("allowed in vain for ro", "ace"), ("allowed in vain", "Sabot")}


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("<p>\n\n  Good evening</p>", [(3, "Good evening")]),
        ("<code>x</code> or <script>let y</script> and", [(1, "or"), (1, "and")]),
        ('<img src="/c.svg" alt="A card">', [(1, "A card")]),
        ('<button aria-label="Close {{ name }}">×</button>', [(1, "Close")]),
        ('<input type="submit" value="Deal"><input name="q" value="x">', [(1, "Deal")]),
        ('<input placeholder="Amount">', [(1, "Amount")]),
        ('<p aria-valuetext="three of five">', [(1, "three of five")]),
        ('<a hx-confirm="Leave?">×</a>', [(1, "Leave")]),
        ('<p data-offline="Try again">', [(1, "Try again")]),
        ('<select><option value="1">All tables</option></select>', [(1, "All tables")]),
        ("<svg><title>A shoe</title></svg>", [(1, "A shoe")]),
        ("{% if a %}<b>won</b>{% endif %}", [(1, "won")]),
        ("<title>{{ table }} · Baccarat</title>", [(1, "Baccarat")]),
        ('{{ note|default:"Nothing yet" }}', [(1, "Nothing yet")]),
        ('{% include "_field.html" with label="Amount" %}', [(1, "Amount")]),
    ],
)
def test_what_a_page_says_outright_is_found(tmp_path: Path, page: str, said: list[tuple[int, str]]) -> None:
    assert found(tmp_path / "page.html", page) == said


@pytest.mark.parametrize(
    "page",
    [
        '{% load i18n %}<p title="{% translate "Rules" %}">{% translate "Rules" %}</p>',
        "{% blocktranslate trimmed %}Good evening {{ name }}{% endblocktranslate %}",
        "{# a note #}{% comment %}A longer note{% endcomment %}<!-- Markup -->",
        '<script nonce="{{ csp_nonce }}">const word = "Deal";</script><style>p { color: red }</style>',
        '<input type="hidden" name="action" value="deal" class="{{ open|yesno:"open,shut" }}">',
        '{% include "_field.html" with field=form.amount kind="money" %}',
        "<p><code>python3 verify.py <b>SEED</b></code></p>",
        "<p>{{ amount }} · 8:1 &times; 3 – ♣</p>",
        "{% block pageclass %}page--table{% endblock %}",
        '<p data-due="deal" data-theme="dark" data-until="{{ step }}" id="Main" name="Bet">',
        """<p data-close="{% translate 'Close' %}">""",
    ],
)
def test_what_is_translated_or_not_read_is_left_alone(tmp_path: Path, page: str) -> None:
    assert found(tmp_path / "page.html", page) == []


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("{% macro m(x) %}\n\n <p>Good evening</p>{% endmacro %}", [(3, "Good evening")]),
        ('<b aria-label="Close {{ x }}">{% if x %}won{% endif %}</b>', [(1, "Close"), (1, "won")]),
        ('{{ x or "Nothing yet" }}', [(1, "Nothing yet")]),
        ('{{ notice("Table closed", link=x) }}', [(1, "Table closed")]),
        ('{% set title = "Fair deal" %}', [(1, "Fair deal")]),
        ('{{ gettext("Shoe %(n)s", n="Number one") }}', [(1, "Number one")]),
        ("{% trans %}Good evening{% endtrans %}", [(1, "Good evening")]),
    ],
)
def test_what_a_fragment_says_outright_is_found(tmp_path: Path, fragment: str, said: list[tuple[int, str]]) -> None:
    (tmp_path / "cards.html").write_text(fragment, encoding="utf-8")
    assert [(each.line, each.text) for each in outright_in_fragment(tmp_path / "cards.html")] == said


@pytest.mark.parametrize(
    "fragment",
    [
        "<p title=\"{{ gettext('Fair deal') }}\">{{ pgettext('of a session', 'Net') }}</p>",
        "{# A note on cards. #}{% from 'cards.html' import stage %}{% if mode == 'Real money' %}8:1{% endif %}",
        '<button name="action" value="deal" data-due="{{ order }}">{{ url("table_rebuy", slug) }}</button>',
    ],
)
def test_what_a_fragment_marks_or_does_not_show_is_left_alone(tmp_path: Path, fragment: str) -> None:
    (tmp_path / "cards.html").write_text(fragment, encoding="utf-8")
    assert outright_in_fragment(tmp_path / "cards.html") == []


def test_every_line_of_a_letter_is_read(tmp_path: Path) -> None:
    letter = "{% load i18n %}{% translate 'Hello' %}\n\nYour house\n{{ address }}\n"
    assert found(tmp_path / "letter.txt", letter) == [(3, "Your house")]


def test_the_back_office_speaks_every_language_and_the_dossier_of_an_incident_english(tree: Tree) -> None:
    (tree.root / "templates/staff").mkdir()
    (tree.root / "templates/staff/tables.html").write_text("<h1>Tables</h1>")
    (tree.root / "templates/staff/incident_file.html").write_text("<h1>Findings</h1>")
    assert ("hard-coded", "Tables") in named(tree)
    assert ("hard-coded", "Findings") not in named(tree)


@pytest.mark.sweep
def test_every_text_of_the_house_exists_in_every_language() -> None:
    assert [str(fault) for fault in catalogues.faults(sources.project())] == []


def test_the_commands_need_no_database(tree: Tree, capsys: pytest.CaptureFixture[str], settings: Settings) -> None:
    settings.BASE_DIR = tree.root
    settings.LANGUAGES = [("ro", "Română"), ("en", "English")]
    call_command("messages")
    call_command("compile_messages")
    with pytest.raises(CommandError, match="8 faults"):
        call_command("check_messages")
    assert tree.catalogue("ro").with_suffix(".mo").exists()
    assert "locale/ro/LC_MESSAGES/django.po: missing: 'ace'" in capsys.readouterr().out


def found(path: Path, page: str) -> list[tuple[int, str]]:
    path.write_text(page, encoding="utf-8")
    return [(said.line, said.text) for said in outright(path)]
