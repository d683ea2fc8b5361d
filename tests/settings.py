"""Settings of the tests: the product's demo settings, on the servers of this run, not of the shell's environment.

Importing this starts nothing. `tests/conftest.py` starts the servers with the first test that needs a database; xdist's
workers inherit the environment, so that all of them find the same ones.
"""

import atexit
import os
import shutil

from tests.harness.folders import fresh_folder

OURS = "SABOT_TEST_VAR"

if OURS not in os.environ:
    folder = fresh_folder("sabot-tests-")
    os.environ[OURS] = str(folder / "var")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

for name in (
    "DATABASE_URL",
    "DATABASE_OWNER_URL",
    "BROKER_URL",
    "CACHE_URL",
    "SECRET_KEY",
    "SECOND_FACTOR_KEY",
    "DOCUMENT_KEY",
    "PARTNER_KEY",
    "CREDENTIALS_KEY",
    "DEALER",
    "DEALER_KEYS",
    "DEALER_PROOF_KEY",
    "AUDIT_SIGNER",
    "AUDIT_KEYS",
    "AUDIT_CHECKPOINTS_TO",
    "AUDIT_WITNESSES",
    "DEBUG",
    "HTTPS",
):
    os.environ.pop(name, None)
os.environ["SABOT_VAR"] = os.environ[OURS]
os.environ["SABOT_DEMO"] = "1"
os.environ["LOG_LEVEL"] = "WARNING"
# Playwright's synchronous interface keeps an event loop running in the thread of the tests, where Django would refuse
# the ORM.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"

from casino.settings import *  # noqa: E402, F403  (the environment comes first)

PASSWORD_HASHERS = ["tests.harness.hashing.QuickArgon2"]
