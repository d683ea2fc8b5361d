"""A call that changes something happens once. Its key, what it did and its answer are committed together: whoever
repeats it gets the first answer, whoever comes at the same moment waits for that, and a process that dies leaves none.
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

from players.api.problems import KEY_MISSING, KEY_REUSED, MEDIA_TYPE, Problem
from players.models import ApiCall, ApiToken

HEADER: Final = "Idempotency-Key"
REPEATED: Final = "Idempotency-Replayed"  # header of an answer that was given before
LONGEST: Final = 100  # characters of a key
JOINT: Final = ","  # a header that was sent twice comes as one, with this between the two
KEPT: Final = timedelta(days=7)


def once(request: Request, do: Callable[[], Response]) -> Response:
    """Return what *do* answers, or what it answered to the same call before.

    *do* calls one service, and what that refuses, a Problem, is an answer as well. What the call says has been checked
    before: a malformed one keeps no key. Raises Problem where the key is missing or stood on another call, or where it
    says itself that it is not to be kept.
    """
    key, token = key_of(request), cast("ApiToken", request.auth)
    asked = hashlib.sha256(b"\n".join((str(request.method).encode(), request.get_full_path().encode(), _body(request))))
    with transaction.atomic():
        call = ApiCall(token=token, key=key, request_hash=asked.digest(), status=0, body="")
        ApiCall.objects.bulk_create([call], ignore_conflicts=True)  # waits for another one under this key
        kept = ApiCall.objects.select_for_update().get(token=token, key=key)
        if bytes(kept.request_hash) != asked.digest():
            raise Problem(KEY_REUSED)
        if kept.status:
            return _again(kept)
        try:
            answer = do()
        except Problem as refused:
            if not refused.is_kept:
                raise
            answer = refused.answer()
        kept.status, kept.body = answer.status_code, JSONRenderer().render(answer.data).decode()
        kept.save(update_fields=["status", "body"])
        return answer


def key_of(request: Request) -> str:
    """Return the key of a call. Raises Problem."""
    key: str = request.headers.get(HEADER, "")
    if not key or len(key) > LONGEST or not key.isascii() or not key.isprintable() or JOINT in key:
        raise Problem(KEY_MISSING)
    return key


def forget_old() -> int:
    """Forget the calls of more than a week ago; return how many those were."""
    return ApiCall.objects.filter(at__lt=Now() - KEPT).delete()[0]


def _body(request: Request) -> bytes:
    """Return what was sent, as it was read: spelled in one way, however it was spelled."""
    return json.dumps(request.data, sort_keys=True, ensure_ascii=True).encode()


def _again(kept: ApiCall) -> Response:
    refused = kept.status >= 400
    return Response(
        json.loads(kept.body),
        kept.status,
        headers={REPEATED: "true"},
        content_type=MEDIA_TYPE if refused else None,
    )
