"""Idempotency of API calls that change something.

The idempotency key, the change and the answer are committed together. A repeated call gets the
first answer. A concurrent call with the same key waits for it. If the process dies, no key is
stored.
"""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Final, cast

from django.db import transaction
from django.db.models.functions import Now
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from audit.raw_rows import fetch_first, fetch_last
from players.api.problems import KEY_MISSING, KEY_REUSED, MEDIA_TYPE, Problem
from players.models import ApiCall, ApiToken

HEADER: Final = "Idempotency-Key"
REPEATED: Final = "Idempotency-Replayed"  # header of a repeated answer
LONGEST: Final = 100  # characters of a key
JOINT: Final = ","  # joins the values of a header that was sent twice
KEPT: Final = timedelta(days=7)


# Waits for a concurrent call with the same key, and returns no row once that was stored.
BEGIN: Final = """
INSERT INTO players_api_call (token_id, key, request_hash, status, body)
VALUES (%(token)s, %(key)s, %(hash)s, 0, '') ON CONFLICT DO NOTHING RETURNING id
"""
END: Final = "UPDATE players_api_call SET status = %s, body = %s WHERE id = %s RETURNING id"


def once(request: Request, do: Callable[[], Response]) -> Response:
    """Return the answer of *do*, or the stored answer if the same call was made before.

    *do* calls one service. A Problem that it raises is stored as an answer too, unless ``is_kept``
    is false. The caller validates the request first, so that a malformed request stores no key.
    Raises Problem if the key is missing or was used for another request, or if *do* raises one that
    is not stored.
    """
    key, token = key_of(request), cast("ApiToken", request.auth)
    asked = hashlib.sha256(b"\n".join((str(request.method).encode(), request.get_full_path().encode(), _body(request))))
    with transaction.atomic():
        found = fetch_first(BEGIN, {"token": token.pk, "key": key, "hash": asked.digest()})
        if found is None:
            return _again(ApiCall.objects.select_for_update().get(token=token, key=key), asked.digest())
        (call_id,) = found
        try:
            answer = do()
        except Problem as refused:
            if not refused.is_kept:
                raise
            answer = refused.answer()
        fetch_last(END, [answer.status_code, JSONRenderer().render(answer.data).decode(), call_id])
        return answer


def key_of(request: Request) -> str:
    """Return the idempotency key of a call. Raises Problem if it is missing or malformed."""
    key: str = request.headers.get(HEADER, "")
    if not key or len(key) > LONGEST or not key.isascii() or not key.isprintable() or JOINT in key:
        raise Problem(KEY_MISSING)
    return key


def forget_old() -> int:
    """Delete stored calls older than `KEPT`. Return how many were deleted."""
    return ApiCall.objects.filter(at__lt=Now() - KEPT).delete()[0]


def _body(request: Request) -> bytes:
    """Return the parsed body in one canonical spelling."""
    return json.dumps(request.data, sort_keys=True, ensure_ascii=True).encode()


def _again(stored: ApiCall, asked: bytes) -> Response:
    """Return the stored answer. Raises Problem where the key was used for another request."""
    if bytes(stored.request_hash) != asked:
        raise Problem(KEY_REUSED)
    refused = stored.status >= 400
    return Response(
        json.loads(stored.body),
        stored.status,
        headers={REPEATED: "true"},
        content_type=MEDIA_TYPE if refused else None,
    )
