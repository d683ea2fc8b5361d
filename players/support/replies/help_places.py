"""Help lines for gambling problems, and dispute resolution bodies for complaints, by jurisdiction.

``docs/national-rules.md`` gives the sources. The operator checks them before going live.
"""

from typing import Final

HELP: Final = {
    "SE": "Stödlinjen, 020-81 91 00, stodlinjen.se",
    "DK": "StopSpillet, 70 22 28 25, stopspillet.dk",
    "RO": "Joc Responsabil, 0800 800 099, jocresponsabil.ro",
    "DE": "0800 1 37 27 00, check-dein-spiel.de",
    "GB": "National Gambling Helpline, 0808 8020 133, gamcare.org.uk",
}
TURN_TO: Final = {
    "SE": "Allmänna reklamationsnämnden (ARN), arn.se",
    "DK": "Center for Klageløsning, naevneneshus.dk",
    "RO": "ANPC, anpc.ro",
    "DE": "Universalschlichtungsstelle des Bundes, universalschlichtungsstelle.de",
    "GB": "Independent Betting Adjudication Service (IBAS), ibas-uk.com",
}
