"""The game: what is kept of a round, chance, what a player sees, verification, interruptions, versions."""

from datetime import date
from typing import Final

from tests.clauses.demand import Chapter, Demand, Met

CHAPTER: Final = Chapter(
    "The game",
    (
        Demand(
            "2.8.2",
            "kept per round and per player: time, outcome as cards, funds at start and end, staked, won, commission, "
            "choices, "
            "status, round id, session id, rules id, player id",
            (
                "test_gli19_2_8_2_has_every_field_and_who_played_it",
                "test_gli19_2_8_2_is_kept_and_shown_with_all_that_is_asked_for",
            ),
            "No test asserted commission, session and rules by name; one now asks for each of the fields.",
            page="`/staff/rounds/`, `/history/`",
        ),
        Demand(
            "2.8.2",
            "the players' choices at Chemin de Fer, and what the house decided for them",
            ("test_gli19_2_8_2_tells_who_decided_what_when_and_who_decided_for_them",),
            "Nothing missing.",
        ),
        Demand(
            "2.8.2",
            "status: in progress, complete, interrupted, void",
            (
                "test_gli19_2_8_2_in_progress_shows_its_stakes_and_no_card",
                "test_gli19_2_8_2_has_its_status_bets_rules_and_shoe_on_a_page_of_its_own",
                "test_gli19_2_8_2_interrupted_says_so_until_it_is_ruled_on",
                "test_gli19_2_8_2_that_is_void_says_so_and_what_was_returned",
                "test_gli19_2_8_2_marks_a_voided_round_and_has_its_cards",
                "test_gli19_2_8_2_has_a_page_with_its_status_and_bets",
            ),
            "An interrupted round was never asserted; now it is, until it is ruled on.",
        ),
        Demand(
            "2.8.3",
            "kept per rules version: id, configuration, available from, theoretical return, games, staked, paid, "
            "voided, fees, "
            "status, withdrawn when",
            (
                "test_gli19_2_8_3_of_each_version_everything_is_kept",
                "test_gli19_2_8_3_are_kept_with_their_returns_when_the_house_opens_and_once",
                "test_gli19_2_8_3_end_when_others_come_and_the_change_is_reported",
                "test_gli19_2_8_3_a_game_is_shown_with_its_paytable_languages_rules_and_play",
            ),
            "Each field by name, of a version in force and of one that was withdrawn; also the rules as data, so "
            "that those of the past can be read. Nothing missing.",
            page="`/staff/reports/`, game performance; `/staff/games/`",
        ),
        Demand(
            "3.2",
            "unbiased shuffle",
            ("test_gli19_3_2_numbers_that_would_favour_a_position_are_passed_over",),
            "The rejection of numbers that favour a position, by its bounds. The statistics are under 3.3.",
        ),
        Demand(
            "3.2",
            "cryptographic generator, not seeded from the time alone",
            (
                "test_gli19_3_2_no_product_module_uses_a_predictable_generator",
                "test_gli19_3_2_seeds_come_from_the_operating_system_in_one_place",
            ),
            "Seeds are 32 bytes from the operating system, drawn by the dealer alone; no clock is read for them. "
            "Nothing missing.",
        ),
        Demand(
            "3.3.2",
            "past cards do not tell those to come",
            ("test_gli19_3_3_2_seeds_are_stretched_by_the_standard",),
            "Each shuffle is HKDF-SHA256 of its own seed, against the vectors of RFC 5869.",
            read=date(2026, 11, 28),
        ),
        Demand(
            "3.3.2",
            "after seeding, nobody can reckon the state; no two games have one seed",
            ("test_gli19_3_3_2_every_seed_is_another_and_none_can_be_read",),
            "32 bytes of the operating system for each round or shoe (3.2), encrypted until they are spent.",
            read=date(2026, 11, 28),
        ),
        Demand(
            "3.3.2",
            "who has compromised the state once does not foretell for long, because entropy from outside changes it",
            ("test_gli19_3_3_2_every_seed_is_another_and_none_can_be_read",),
            "The house keeps no state of a generator: each seed is a draw of its own, so a stolen one foretells one "
            "solo round or one shoe, and players and a beacon add to it.",
            met=Met.PARTLY,
            left="The generator is the kernel's. That it takes in entropy is the kernel's to do, and no test of ours "
            "shows it.",
            read=date(2026, 11, 28),
        ),
        Demand(
            "3.3",
            "statistical tests of the shuffle at 99 % confidence",
            (
                "test_gli19_3_3_every_card_is_as_likely_at_every_position",
                "test_gli19_3_3_every_pair_of_cards_is_as_likely_at_every_two_neighbouring_positions",
                "test_gli19_3_3_a_biased_shuffle_would_be_found",
            ),
            "A million shuffles; the classic mistake is found by a tenth of them. Nothing missing.",
        ),
        Demand(
            "3.3",
            "statistical tests of cards and shuffles that were dealt, at 99 % confidence, with p-values",
            (
                "test_gli19_3_3_p_values_of_fair_rounds_with_shoes_of_their_own_are_uniform",
                "test_gli19_3_3_p_values_of_fair_shoes_dealt_through_are_uniform",
                "test_gli19_3_3_p_values_of_fair_shuffles_are_uniform",
                "test_gli19_3_3_the_shuffles_of_the_house_pass_together_at_99_percent",
                "test_gli19_3_3_a_card_that_comes_two_percent_too_often_is_found",
                "test_gli19_3_3_a_shuffle_that_never_moves_the_last_card_is_found",
                "test_gli19_3_3_a_shuffle_that_leaves_neighbours_together_is_found",
                "test_gli19_3_3_outcomes_that_stick_are_found",
                "test_gli19_3_3_shows_statistic_degrees_p_value_sample_and_verdict_of_every_test_at_99_percent",
            ),
            "Both ways: fair dealing passes as often as is said, four planted faults do not. Nothing missing.",
            page="`/staff/randomness/`",
        ),
        Demand(
            "4.3.4",
            "in view: funds, every wager and where it lies, the last result",
            ("test_gli19_4_3_4_funds_every_wager_and_the_last_result_are_in_view",),
            "Shown by tests in a browser alone, and not by name; this one reads each amount where it stands.",
        ),
        Demand(
            "4.4.1",
            "help can be read without depositing",
            ("test_gli19_4_4_1_is_readable_without_an_account_and_says_its_version_and_date",),
            "Without an account even, every game, five languages. Nothing missing.",
            page="`/help/`",
        ),
        Demand(
            "4.4.2",
            "every bet and every win is shown separately",
            ("test_gli19_4_4_2_show_every_bet_and_every_win_separately",),
            "Nothing missing.",
            page="`/history/`",
        ),
        Demand(
            "4.4.4",
            "the number of decks is shown",
            ("test_gli19_4_4_4_tells_how_many_decks_it_is_played_with",),
            "Shown for Chemin de Fer alone; now for every game in every language.",
            page="`/help/`",
        ),
        Demand(
            "4.5.2",
            "outcomes do not adapt to players or history",
            (
                "test_gli19_4_5_2_is_dealt_from_the_seed_that_was_committed_to_before_the_click",
                "test_gli19_4_5_2_cards_are_shuffled_from_that_seed",
            ),
            "The first plays a solo round and deals it again from what was committed to; the second reads the sources "
            "of the dealer, for shoes as well: what shuffles is given a seed and what players add, and nothing about "
            "them. A shoe that nobody cut, and each of Chemin de Fer, rests on the dealer's generator. **Was claimed "
            "of every round**: of shared ones it is the sources that show it, and proofs that players verify.",
            page="`/fair/`",
            read=date(2026, 11, 28),
        ),
        Demand(
            "4.6",
            "odds equal those of the physical game",
            (
                "test_gli19_4_6_baccarat_with_one_deck_returns_what_was_published",
                "test_gli19_4_6_no_commission_with_eight_decks_returns_what_was_published",
                "test_gli19_4_6_the_exact_return_is_the_declared_one",
            ),
            "By counting every coup, against published figures of the games with cards. Nothing missing.",
        ),
        Demand(
            "4.7.1",
            "every bet returns at least 75 % at every stake allowed, rounding included; what falls below cannot be "
            "put live",
            (
                "test_gli19_4_7_1_the_lowest_return_is_the_least_over_every_stake_there_is",
                "test_gli19_4_7_1_a_stake_of_one_minor_unit_on_banker_returns_too_little_to_go_live",
                "test_gli19_4_7_1_pair_bets_with_one_deck_cannot_go_live",
                "test_gli19_4_7_1_that_returns_too_little_is_refused_and_nothing_changes",
                "test_gli19_4_7_1_that_cannot_be_are_refused_at_the_asking",
                "test_gli19_4_7_1_is_shown_with_exact_returns_at_the_worst_stake_and_its_maximum_cost",
            ),
            "That the worst stake is found was not named after the clause; now it is. Both examples of the clause "
            "are there.",
        ),
        Demand(
            "4.9.1",
            "free play has the same rules and odds",
            (
                "test_gli19_4_9_1_moves_the_balance_by_what_the_engine_pays_in_either_mode",
                "test_gli19_4_9_1_are_settled_by_the_rules_of_the_game",
            ),
            "Free money was not compared with the engine; now both kinds are, under one version, and visitors without "
            "an account.",
        ),
        Demand(
            "4.14",
            "the player replays a past round exactly, labelled as a replay",
            (
                "test_gli19_4_14_is_marked_as_one_and_shows_the_round_as_it_was",
                "test_gli19_4_14_of_a_void_round_shows_its_cards_and_no_winner",
                "test_gli19_4_14_tells_no_seed_while_its_shoe_is_in_play_and_all_when_it_has_ended",
            ),
            "The fields are those of 2.8.2. Nothing missing.",
            page="`/history/…/`",
        ),
        Demand(
            "4.14",
            "the auditor replays a past round exactly, labelled as a replay",
            (
                "test_gli19_4_14_is_labelled_a_replay_and_said_to_differ_in_nothing",
                "test_gli19_4_14_whatever_is_altered_of_a_solo_round_shows",
            ),
            "Dealt again on the server; whatever was altered shows. Neighbours do the same for shared tables and "
            "Chemin de Fer.",
            page="`/staff/rounds/…/`",
        ),
        Demand(
            "4.16",
            "funds held are shown",
            (
                "test_gli19_4_16_is_in_game_logs_with_its_code_and_what_is_held",
                "test_gli19_4_16_the_cashier_shows_what_is_in_play",
            ),
            "Nothing missing.",
            page="`/cashier/`, `/history/`",
        ),
        Demand(
            "4.16",
            "solo rounds complete by themselves",
            (
                "test_gli19_4_16_a_lost_answer_is_reported_once",
                "test_gli19_4_16_the_round_is_on_the_balance_and_in_game_logs_at_the_next_log_in",
            ),
            "That a process killed at any statement leaves either nothing or a whole round is shown elsewhere.",
        ),
        Demand(
            "4.16",
            "in a shared game the house decides for who is absent, the record says which decisions, nobody else is "
            "affected",
            (
                "test_gli19_4_16_a_whole_coup_is_played_by_the_rule_for_who_is_absent",
                "test_gli19_4_16_show_what_the_croupier_decided_for_a_player",
                "test_gli19_4_16_connection_lost_accepted_bets_stand_and_are_settled_and_the_round_is_in_history",
            ),
            "Nobody else sat at the table whose line was lost; now somebody does, and is paid.",
        ),
        Demand(
            "4.16",
            "what cannot be finished: stakes go back, history says so, the incident is recorded",
            (
                "test_gli19_4_16_every_stake_goes_back",
                "test_gli19_4_16_has_a_cross_in_game_logs_and_every_stake_returned",
                "test_gli19_4_16_overdue_is_voided_at_once_and_the_supervisor_only_accepts_it",
            ),
            "The incident was asserted by a test without the clause's name; now it has it.",
            page="`/staff/incidents/`",
        ),
        Demand(
            "4.18.2",
            "no card tracker and no probability aids while a shoe is in play",
            (
                "test_gli19_4_18_2_in_play_it_tells_results_and_no_card_and_no_count",
                "test_gli19_4_18_2_in_play_it_tells_results_of_chemin_and_no_card_and_no_count",
            ),
            "The page of a shoe is the one place that could; the roads show results. Its proof, a file for programs "
            "that verify the deal, has the cards of rounds that are over; no page counts them.",
            page="`/fair/shoe/…/`",
        ),
        Demand(
            "A.5.1",
            "a round settles under the rules in force when it was staked",
            (
                "test_gli19_a_5_1_rounds_against_changes_are_each_played_under_the_version_that_allowed_them",
                "test_gli19_a_5_1_rounds_during_a_change_of_eligibility_are_played_before_it_alone",
                "test_gli19_a_5_1_finishes_the_round_with_its_bettors_and_takes_no_more_bets",
            ),
            "With threads that play while versions change. It did not bear the clause; now it does.",
        ),
        Demand(
            "A.5.1",
            "changes of rules are logged",
            ("test_gli19_a_5_1_is_recorded_with_what_was_and_what_is",),
            "Before, after, who and why. Nothing missing.",
            page="`/staff/events/`",
        ),
        Demand(
            "A.6.1",
            "a changed return is a new version of the game",
            (
                "test_gli19_a_6_1_is_the_next_number_and_in_force_at_once",
                "test_gli19_a_6_1_under_rules_that_the_software_does_not_have_is_a_closed_table",
                "test_gli19_a_6_1_another_pace_is_another_version_and_both_stand_in_the_log",
            ),
            "Only a change of pace bore the clause, which changes no return; limits and rules now do.",
        ),
        Demand(
            "A.6.2",
            "the actual return is watched; a deviation past its statistical bound raises an alarm",
            (
                "test_gli19_a_6_2_a_bias_that_adds_up_over_tables_and_hours_raises_one_alarm_in_a_life",
                "test_gli19_a_6_2_a_thousand_fair_lives_raise_no_more_alarms_than_they_may",
                "test_gli19_a_6_2_an_alarm_closes_the_tables_of_its_game_where_a_supervisor_has_said_so",
                "test_gli19_a_6_2_two_who_watch_at_once_raise_one_alarm",
            ),
            "The alarm, its event and how rarely it is false were asserted without the clause's name; now they have "
            "it.",
            page="`/staff/returns/`",
        ),
    ),
)
