"""Someone whose money django-hordak moves: `python -m bench.hordak_player PERSON`, where PERSON is JSON with a number.

A project of its own, with nothing in it but hordak, on the database that ``HORDAK_URL`` names. With ``prepare`` instead
of a person it makes the tables.
"""

import json
import os
import sys

import django
import environ
from django.conf import settings

from bench.playing import play_when_told

CURRENCY = "SEK"
AMOUNT = "10.00"

settings.configure(
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "mptt", "djmoney", "hordak"],
    DATABASES={"default": dict(environ.Env.db_url_config(os.environ["HORDAK_URL"])) | {"CONN_MAX_AGE": 600}},
    DEFAULT_CURRENCY=CURRENCY,
    CURRENCIES=[CURRENCY],
    USE_TZ=True,
)
django.setup()

from django.core.management import call_command  # noqa: E402  (models need the set-up)
from djmoney.money import Money  # noqa: E402
from hordak.models import Account, AccountType  # noqa: E402


def main() -> None:
    """Make the tables, or open two accounts and move money between them when told to."""
    if sys.argv[1] == "prepare":
        call_command("migrate", verbosity=0, interactive=False)
        return
    number = json.loads(sys.argv[1])["number"]
    cash, escrow = (
        Account.objects.create(name=f"{name} {number}", type=AccountType.liability, currencies=[CURRENCY])
        for name in ("cash", "escrow")
    )
    amount = Money(AMOUNT, CURRENCY)
    play_when_told(lambda: cash.transfer_to(escrow, amount))


if __name__ == "__main__":
    main()
