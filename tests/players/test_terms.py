"""The terms: complete in every language, and never changed without a new version."""

import hashlib

import pytest
from django.conf import settings

from players.account import terms
from tests.people import a_visitor

LANGUAGES = [code for code, _ in settings.LANGUAGES]

# The texts of each version: SHA-256 over the five texts in the order of their codes. Accepted
# versions stay here.
SAID = {
    "1": "02d76d932e818dfc88b77455e65fb8b19c7882a045bf0e8c73d9d504068169ce",
    "2": "09b49df2a4e7e52cf0a24dff32e934726e563b62111b0ee9b25041fb27e70c3a",
    "3": "d51629d29482544b02798add86a402af0d94f37b3330d51ef1ae1ffb16bf3e45",
    "4": "87e304d0ad39c673c4b18244a6558283dc0fb27059fc6835476e7e5926030c82",
}


def test_a_changed_text_is_a_new_version():
    texts = [(terms.TEXTS / f"terms.{code}.md").read_bytes() for code in sorted(LANGUAGES)]
    assert hashlib.sha256(b"".join(texts)).hexdigest() == SAID[terms.VERSION]


@pytest.mark.django_db
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_whole_text_with_version_and_date(language):
    page = a_visitor().get(f"/{language}/terms/").text
    assert page.count("<h2>") == terms.text("en").count("<h2>") == 15
    assert f" {terms.VERSION}," in page
    assert str(terms.DATED.year) in page


def test_the_languages_differ():
    assert len({terms.text(code) for code in LANGUAGES}) == len(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_version_changed_is_said_in_every_language(language):
    assert terms.changes(language).count("<p>") == 1
