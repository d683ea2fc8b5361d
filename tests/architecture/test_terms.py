"""Module names follow the glossary: forbidden words, with the term to use.

Add a new concept's name to the list.
"""

from typing import Final

from tests.harness.product import modules

TERMS: Final = {
    "again": "rescan, verification",
    "beside": "two_tables, panels",
    "deeds": "actions",
    "doubts": "exceptions, integrity",
    "fence": "access",
    "finding": "search, detection",
    "finds": "search",
    "given_back": "refund_summary",
    "going_on": "availability",
    "guests": "demo (visitors), players (Chemin de Fer)",
    "looked_at": "access_log",
    "looking": "access_log",
    "looks": "access_log",
    "marks": "idempotency",
    "meanwhile": "unseen",
    "moments": "datetime_format",
    "moved": "hourly_totals",
    "news": "notify",
    "places": "seats, paths",
    "programs": "api tokens, api clients",
    "recall": "verification, redeal",
    "recalling": "verification",
    "remote": "operator_wallet",
    "sameness": "normalise",
    "seen": "queries",
    "sentences": "error_messages",
    "serving": "eligibility",
    "sieve": "filters",
    "sittings": "play_sessions",
    "so_far": "round_status",
    "standing": "table_state, account_snapshots",
    "still": "sample_hand",
    "stops": "house_stop",
    "tallies": "hourly_totals",
    "told": "event_codec, event_reader",
    "watches": "aml",
    "words": "messages, labels",
}


def test_no_module_has_a_name_that_means_several_things():
    found = {name: TERMS[part] for name, _ in modules() for part in name.split(".")[1:] if part in TERMS}
    assert found == {}
