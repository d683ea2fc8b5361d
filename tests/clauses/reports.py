"""Reports."""

from datetime import date
from typing import Final

from tests.clauses.demand import Chapter, Demand

CHAPTER: Final = Chapter(
    "Reports",
    (
        Demand(
            "2.9.1",
            "every report: operator's name, title, interval, generated at, “No activity” if there is none",
            (
                "test_gli19_2_9_1_names_operator_title_interval_and_when_it_was_generated",
                "test_gli19_2_9_1_says_no_activity_where_there_was_none",
            ),
            "Each by name, in the frame through which every kind of report goes, in both files.",
            page="`/staff/reports/`",
        ),
        Demand(
            "2.9.1",
            "on demand, daily, month, year and life to date",
            (
                "test_gli19_2_9_1_are_made_on_demand_for_any_interval",
                "test_gli19_2_9_1_asks_for_each_kind_on_each_day_that_is_over_once",
                "test_gli19_2_9_1_has_days_weeks_months_and_years",
                "test_gli19_2_9_1_has_the_life_of_the_house_to_date",
            ),
            "By the clocks of the operator's time zone, also on days of 25 hours. Nothing missing.",
        ),
        Demand(
            "2.9.1",
            "on screen, CSV and XLSX",
            (
                "test_gli19_2_9_1_are_on_screen_as_csv_and_as_xlsx",
                "test_gli19_2_9_1_has_exact_numbers_in_both_files",
            ),
            "That both files have the same figures did not bear the clause; now it does.",
        ),
        Demand(
            "2.9.2",
            "game performance: game and type, version id, available from, status, theoretical return, actual return, "
            "rounds, "
            "staked, paid, voided, commission and tax, funds in interrupted rounds",
            (
                "test_gli19_2_9_2_has_exactly_these_headings",
                "test_gli19_2_9_2_says_of_each_version_and_currency_what_the_rows_come_to",
                "test_gli19_2_9_2_shows_the_money_in_interrupted_rounds",
            ),
            "Against the rows, added up by other means. What is interrupted is that of the moment of the report.",
            page="`/staff/reports/`",
        ),
        Demand(
            "2.9.3",
            "operator liability: total held for players per currency, available, held, pending withdrawal",
            (
                "test_gli19_2_9_3_has_exactly_these_headings",
                "test_gli19_2_9_3_says_what_is_held_for_players_in_each_currency_to_the_last_minor_unit",
                "test_gli19_2_9_3_what_is_set_aside_for_bets_is_held_and_not_available",
                "test_gli19_2_9_3_stakes_in_a_coup_and_its_bank_are_held_and_not_available",
                "test_gli19_2_9_3_what_the_house_owes_is_listed_by_currency_and_mode",
                "test_gli19_2_9_3_is_part_of_what_is_held_for_players_where_it_is_real",
                "test_gli19_2_9_3_at_the_end_of_a_day_it_says_what_was_held_then_whatever_became_of_it",
            ),
            "Against the entries of the ledger, added up by other means. **Available and held were those of up to an "
            "hour before** at the end of a day; both are exact at every full hour of UTC now. In a time zone that is "
            "half an hour off, a column says as of when.",
            page="`/staff/reports/`, `/staff/ledger/`",
            read=date(2026, 11, 28),
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
