"""Runs coroutines of tests in their own thread.

Playwright's synchronous interface keeps an event loop running in the main thread of the tests.
"""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """Run *work* to its end and return its result. Raises what it raises."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, work).result()
