"""The sandbox identity register: confirms everybody at once, for demos and tests.

As at other sandboxes, the data decide the answer: the postal code `UNKNOWN` belongs to nobody, and
`SILENT` gets no answer. A national number has to contain the player's date of birth.
"""

import re
from datetime import date
from typing import Final

from players.identity.confirmation import Claim, RegisterSilent

UNKNOWN: Final = "00000"
SILENT: Final = "99999"


class SandboxRegister:
    """Knows every person whose data are consistent."""

    name = "sandbox"

    def confirm(self, claim: Claim) -> bool:
        """Confirm at once. Raises RegisterSilent for the postal code `SILENT`."""
        postal_code = re.sub(r"\W", "", claim.stated.postal_code)
        if postal_code == SILENT:
            raise RegisterSilent
        return postal_code != UNKNOWN and _is_of_birth(claim.number, claim.birth_date, claim.country)


def number_of(country: str, born: date, serial: int = 1234) -> str:
    """Return a national number of somebody born on that day, for demo players and tests; "" if the country has none."""
    return {
        "SE": f"{born:%y%m%d}-{serial:04}",
        "DK": f"{born:%d%m%y}-{serial:04}",
        "RO": f"{1 if born.year < 2000 else 5}{born:%y%m%d}{serial:06}",
    }.get(country, "")


def _is_of_birth(number: str, born: date, country: str) -> bool:
    """Return whether a national number has the date of birth in it, as it does in every country that has one here."""
    digits = re.sub(r"\D", "", number)
    found = {"SE": digits[-10:-4], "DK": digits[:6], "RO": digits[1:7]}.get(country)
    return found is None or found == (f"{born:%d%m%y}" if country == "DK" else f"{born:%y%m%d}")
