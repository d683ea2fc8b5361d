"""Running the house: its clock, closing what has to be closed, significant events."""

from datetime import date
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
            "2.3.2",
            "the program and its schema are authenticated at each start, every 24 hours and on demand",
            (
                "test_gli19_2_3_2_a_released_house_is_on_record_and_differs_in_nothing",
                "test_gli19_2_3_2_each_difference_is_named_and_is_a_significant_event",
                "test_gli19_2_3_2_a_house_that_starts_records_its_program",
            ),
            "New with these tests. A machine that runs web alone needs cron for the daily check (docs/operating.md).",
            read=date(2026, 11, 28),
        ),
        Demand(
            "2.3.3",
            "a third party can verify the program without the house's own software",
            ("test_gli19_2_3_3_a_release_lists_every_file_of_the_program_as_sha256sum_reads_them",),
            "New: `sha256sum` checks the list of the release.",
            read=date(2026, 11, 28),
        ),
        Demand(
            "2.4.1, 4.15.1",
            "one table can be disabled, with the reason recorded",
            (
                "test_gli19_2_4_1_closing_a_table_records_the_reason",
                "test_gli19_2_4_1_a_closed_table_deals_nothing",
                "test_gli19_2_4_1_opening_pausing_going_on_and_closing_are_recorded_with_their_reason",
            ),
            "That nothing is dealt then did not bear the clause; now it does. For a while a table pauses.",
            page="`/staff/floor/`",
        ),
        Demand(
            "2.4.1, 4.15.1",
            "one player can be disabled, with the reason recorded",
            (
                "test_gli19_2_4_1_a_player_is_disabled_with_the_reason_on_record",
                "test_gli19_2_4_1_a_locked_player_is_out_at_once_and_does_not_get_in_again",
                "test_gli19_2_4_1_what_was_composed_before_the_lock_is_not_staked_after_it",
                "test_gli19_2_4_1_stakes_nothing",
                "test_gli19_2_4_1_no_round_begins_after_a_lock_however_many_are_asked_for",
                "test_gli19_2_4_1_streams_end_when_staff_lock_the_account_whichever_session_opened_them",
            ),
            "The statement of a stake asks for locks itself, so nothing that was let in before one stakes after it.",
            page="`/staff/exclusions/`",
        ),
        Demand(
            "2.4.1, 4.15.1",
            "what is in progress concludes",
            (
                "test_gli19_2_4_1_leaves_accepted_bets_in_play_and_pays_them",
                "test_gli19_2_4_1_waits_for_the_end_of_the_coup",
                "test_gli19_2_4_1_a_round_is_played_to_its_end_at_a_table_that_pauses_and_none_begins",
                "test_gli19_2_4_1_a_coup_is_played_to_its_end_at_a_table_that_pauses_and_none_begins",
                "test_gli19_2_4_1_bets_that_lie_there_are_played_out_and_the_winnings_come_to_the_account",
                "test_gli19_2_4_1_a_coup_in_progress_is_played_to_its_end_and_the_punter_goes_then",
                "test_gli19_2_4_1_a_banker_s_coup_is_played_to_its_end_and_the_bank_goes_home",
                "test_gli19_2_4_1_a_deposit_that_the_bank_approves_after_the_lock_is_held",
            ),
            "A shared table and a Chemin de Fer coup, where a table closes or pauses and where staff lock an account;"
            " a solo round is one transaction.",
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
            page="`/staff/floor/`",
        ),
        Demand(
            "2.4.1, 4.15.1",
            "all gambling can be stopped at once, for every stake and every deposit, with the reason recorded",
            (
                "test_gli19_2_4_1_stakes_and_banks",
                "test_gli19_2_4_1_deals_nothing_and_the_bets_stay_where_they_lie",
                "test_gli19_2_4_1_takes_nothing_more_and_keeps_the_bets",
                "test_gli19_2_4_1_nobody_takes_a_bank",
                "test_gli19_2_4_1_the_stop_waits_for_it_and_nothing_begins_after",
                "test_gli19_2_4_1_no_round_is_played_after_a_stop_however_many_are_asked_for",
                "test_gli19_2_4_1_a_supervisor_stops_the_house_and_lets_it_go_on_with_reasons",
            ),
            "Closing every table left a moment between the page and the stake, and left deposits. A stop is one row"
            " that the database reads where the money moves; each race is shown without the lock first.",
            page="`/staff/stop/`",
        ),
        Demand(
            "2.4.1, 4.15.1",
            "what is in progress when all gambling is stopped concludes",
            (
                "test_gli19_2_4_1_a_round_with_bets_is_dealt_and_paid_and_no_other_opens",
                "test_gli19_2_4_1_is_dealt_played_and_paid_and_no_other_begins",
                "test_gli19_2_4_1_a_deposit_that_is_at_the_bank_is_credited",
            ),
            "Rounds with bets, coups with stakes, deposits at the provider; bets may be removed until the deal.",
        ),
        Demand(
            "2.8.8",
            "significant: the whole house was stopped, and goes on",
            ("test_gli19_2_8_8_is_significant_both_times",),
            "An alert, mailed within five minutes, and a notice.",
            page="`/staff/significant/`",
        ),
        Demand(
            "2.8.8",
            "significant: failed log-ins with their address",
            (
                "test_gli19_2_8_8_failed_log_ins_with_their_address",
                "test_gli19_2_8_8_an_account_that_is_locked_is_an_alert",
            ),
            "The address is shown to compliance and kept nowhere else. Nothing missing.",
            page="`/staff/significant/`",
        ),
        Demand(
            "2.8.8",
            "significant: errors and mismatches, negative balances",
            (
                "test_gli19_2_8_8_errors_of_the_ledger",
                "test_gli19_2_8_8_mismatches",
                "test_gli19_2_8_8_negative_balances",
                "test_gli19_2_8_8_a_finding_of_the_verification_is_an_alert_once_until_it_is_gone",
            ),
            "Rows are broken behind the back of the program, and the verification of the house is run.",
        ),
        Demand(
            "2.8.8",
            "significant: times when play stood still",
            (
                "test_gli19_2_8_8_times_when_play_stood_still",
                "test_gli19_2_8_8_a_worker_that_stood_still_is_found_when_it_goes_on",
            ),
            "A table past its deadline, and workers that stood still.",
            met=Met.PARTLY,
            left="A bank or a broker that does not answer for a while is in the logs and the metrics, and is no "
            "significant event.",
            read=date(2026, 11, 28),
        ),
        Demand(
            "2.8.8",
            "significant: large wins, large wagers and large money transactions, single and summed over a period, "
            "thresholds "
            "per currency",
            (
                "test_gli19_2_8_8_a_large_wager_and_a_large_win",
                "test_gli19_2_8_8_wagers_and_wins_summed_over_days_are_found_once",
                "test_gli19_2_8_8_deposits_single_and_summed",
                "test_gli19_2_8_8_withdrawals_paid_out_single_and_summed",
                "test_gli19_2_8_8_from_when_on_is_set_for_each_currency",
            ),
            "Exactly the threshold and less. Withdrawals were asserted single alone; now summed as well.",
            page="`/staff/significant/thresholds/`",
        ),
        Demand(
            "2.8.8",
            "significant: voids, overrides, corrections, adjustments",
            (
                "test_gli19_2_8_8_voids_and_the_balances_they_adjust",
                "test_gli19_2_8_8_overrides_and_changes_name_who_made_them",
                "test_gli19_2_8_8_an_exclusion_lifted_before_its_time_names_both_who_did_it",
            ),
            "An adjustment was only asserted to be absent; now one is found with its amount.",
        ),
        Demand(
            "2.8.8",
            "significant: changes to clock, parameters, rules, paytables",
            (
                "test_gli19_2_8_8_overrides_and_changes_name_who_made_them",
                "test_gli19_2_8_8_changes_of_thresholds_and_tables",
                "test_gli19_2_8_8_a_clock_that_goes_back_is_found",
            ),
            "The clock did not bear the clause; now it does. Rules and paytables are what a table's version keeps "
            "the digest of.",
            met=Met.PARTLY,
            left="Parameters of the house. Those of the operating system, PostgreSQL and networks are not seen, and "
            "settings of the environment only by what they do.",
            read=date(2026, 11, 28),
        ),
        Demand(
            "2.8.8",
            "significant: live data that was changed past the program; software that was changed",
            (
                "test_gli19_2_8_8_a_finding_of_the_verification_is_an_alert_once_until_it_is_gone",
                "test_gli19_2_3_2_each_difference_is_named_and_is_a_significant_event",
            ),
            "What the log says otherwise, and files and guards that are not those of the release.",
            read=date(2026, 11, 28),
        ),
        Demand(
            "2.8.8",
            "significant: personal data that is lost for good",
            (),
            "",
            met=Met.NO,
            left="A document or a secret that cannot be opened any more is an error where it is asked for. Nothing "
            "goes through all of them and says which are lost.",
            read=date(2026, 11, 28),
        ),
        Demand(
            "2.8.8",
            "significant: changes to personal data, deactivations",
            ("test_gli19_2_8_8_changes_to_personal_data", "test_gli19_2_8_8_deactivations"),
            "Neither says what the data are. Nothing missing.",
        ),
    ),
)
