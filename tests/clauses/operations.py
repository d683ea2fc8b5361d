"""Running the house: its clock, closing what has to be closed, significant events."""

from typing import Final

from tests.clauses.demand import Chapter, Demand, Met

CHAPTER: Final = Chapter(
    "Running the house",
    (
        Demand(
            "2.2",
            "one clock stamps games, events and reports",
            (
                "test_gli19_2_2_games_and_events_are_stamped_by_the_clock_of_the_database",
                "test_gli19_2_2_reports_are_stamped_by_the_same_clock",
            ),
            "No test showed it; in these the clock of the process is years ahead.",
        ),
        Demand(
            "2.4.1, 4.15.1",
            "one table can be disabled, with the reason recorded",
            ("test_gli19_2_4_1_closing_a_table_records_the_reason", "test_gli19_2_4_1_a_closed_table_deals_nothing"),
            "That nothing is dealt then did not bear the clause; now it does.",
            page="`/staff/tables/`",
        ),
        Demand(
            "2.4.1, 4.15.1",
            "one player can be disabled, with the reason recorded",
            ("test_gli19_2_4_1_a_player_is_disabled_with_the_reason_on_record",),
            "Nothing missing.",
            page="`/staff/exclusions/`",
        ),
        Demand(
            "2.4.1, 4.15.1",
            "what is in progress concludes",
            (
                "test_gli19_2_4_1_leaves_accepted_bets_standing_and_pays_them",
                "test_gli19_2_4_1_waits_for_the_end_of_the_coup",
            ),
            "A shared table and a coup between guests; a solo round is one transaction.",
        ),
        Demand(
            "2.4.1, 4.15.1",
            "one game or version, and everything, can be disabled at once, with the reason recorded",
            (
                "test_gli19_2_4_1_one_game_is_disabled_with_the_reason_on_record",
                "test_gli19_4_15_1_everything_is_disabled_at_once_and_what_is_in_progress_concludes",
            ),
            "**Was not met**: tables were closed one by one. A supervisor now closes a game or the house. A version "
            "of rules is "
            "in force at all tables of its game, so it goes with the game.",
            page="`/staff/tables/`",
        ),
        Demand(
            "2.8.8",
            "significant events: failed log-ins with their address; errors and mismatches; times when play stood "
            "still; voids, "
            "overrides, corrections; changes to clock, parameters, rules, paytables; adjustments; changes to "
            "personal data; "
            "deactivations; negative balances",
            (),
            "",
            Met.NO,
            "Being built.",
        ),
        Demand(
            "2.8.8",
            "large wins, large wagers and large money transactions, single and summed over a period, thresholds per "
            "currency",
            (),
            "",
            Met.NO,
            "Being built.",
        ),
    ),
)
