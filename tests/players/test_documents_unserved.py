"""Players' documents are stored encrypted in the database only; nothing serves them as files."""

from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.db.models import FileField
from django.urls import URLPattern, URLResolver, get_resolver
from django.views.static import serve
from whitenoise.middleware import WhiteNoiseMiddleware

from players.models import DocumentContent
from tests.builders import a_player, a_submission
from tests.people import a_visitor

SIGNATURES = (b"\xff\xd8\xff", b"%PDF-")  # signatures of stored document formats


def views(resolver: URLResolver) -> list[object]:
    """Return every view with a URL."""
    found: list[object] = []
    for each in resolver.url_patterns:
        found += [each.callback] if isinstance(each, URLPattern) else views(each)
    return found


def test_no_address_serves_uploads():
    assert settings.MEDIA_URL in ("", "/")
    assert settings.MEDIA_ROOT == ""
    assert serve not in views(get_resolver())
    assert not [each for model in apps.get_models() for each in model._meta.fields if isinstance(each, FileField)]


def test_static_files_are_the_api_client_s_own():
    api_client, data = Path(settings.BASE_DIR), Path(settings.VAR_DIR)
    for root in map(Path, settings.STATICFILES_DIRS):
        assert root.is_relative_to(api_client)
        assert not root.is_relative_to(data)
    assert Path(settings.STATIC_ROOT) == data / "static"
    found = [Path(storage.path(path)) for finder in get_finders() for path, storage in finder.list([])]
    assert found
    assert not [path for path in found if path.is_relative_to(data)]
    assert not [path for path in found if path.suffix in {".jpg", ".jpeg", ".pdf"}]


def test_the_server_of_static_files_has_no_other_root():
    served = WhiteNoiseMiddleware(lambda request: None)
    assert getattr(settings, "WHITENOISE_ROOT", None) is None
    assert served.static_prefix == settings.STATIC_URL
    assert {Path(root) for root, _prefix in served.directories} <= {Path(settings.STATIC_ROOT)}


@pytest.mark.django_db
def test_gli19_b_3_1_uploads_are_only_sealed_in_the_database():
    sent = a_submission(a_player())
    kept = DocumentContent.objects.filter(document__submission=sent)
    assert kept.count() == sent.document_set.count() > 0
    for each in kept:
        assert not bytes(each.sealed).startswith(SIGNATURES)
    for document in sent.document_set.all():
        for address in (f"/media/{document.pk}", f"/static/{document.pk}", f"/static/../{document.pk}.jpg"):
            assert a_visitor().get(address).status_code == 404
