"""Coroutines in tests: each runs to its end in a thread of its own, since Playwright's synchronous interface keeps a
loop running in the thread of the tests.
"""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """Return what *work* comes to. Raises what it raises."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, work).result()
