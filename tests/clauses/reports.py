"""Reports."""

from typing import Final

from tests.clauses.demand import Chapter, Demand, Met

CHAPTER: Final = Chapter(
    "Reports",
    (
        Demand(
            "2.9.1",
            "every report: operator's name, title, interval, generated at, “No activity” where there is none",
            (
                "test_gli19_2_9_1_names_operator_title_interval_and_when_it_was_generated",
                "test_gli19_2_9_1_says_no_activity_where_there_was_none",
            ),
            "Each by name, for every kind of report.",
            page="`/staff/reports/`",
        ),
        Demand("2.9.1", "on demand, daily, month, year and life to date", (), "", Met.NO, "Being built."),
        Demand("2.9.1", "on screen, CSV and XLSX", (), "", Met.NO, "Being built."),
        Demand(
            "2.9.2",
            "game performance: game and type, version id, available from, status, theoretical return, actual return, "
            "rounds, "
            "staked, paid, voided, commission and tax, funds in interrupted rounds",
            (),
            "",
            Met.NO,
            "Being built.",
        ),
        Demand(
            "2.9.3",
            "operator liability: total held for players per currency, available, held, pending withdrawal",
            ("test_gli19_2_9_3_what_the_house_owes_is_told_by_currency_and_mode",),
            "",
            Met.NO,
            "Being built.",
        ),
        Demand(
            "2.9.5",
            "events and alterations: when, component, who did it, who authorised it, reason, value before, value after",
            (
                "test_gli19_2_9_5_has_exactly_these_headings",
                "test_gli19_2_9_5_says_who_altered_a_table_why_and_from_what_to_what",
                "test_gli19_2_9_5_an_alteration_that_takes_two_was_done_by_the_one_and_authorised_by_the_other",
            ),
            "Each heading and each value of a row by name; one person's and two people's. Nothing missing.",
            page="`/staff/reports/`",
        ),
    ),
)
