"""National rules: [R] read in the source text, [S] second hand, from summaries."""

from typing import Final

from tests.clauses.demand import Chapter, Demand, Met

RULES: Final = "test_the_data_say_what_the_rule_says"

CHAPTER: Final = Chapter(
    "National rules ([R] read in the source text, [S] second hand; defaults in data, not legal advice)",
    (
        Demand(
            "SE",
            "deposit limits for day, week and month before first play [R]",
            (
                RULES,
                "test_play_waits_until_every_required_limit_is_set",
                "test_a_player_who_must_set_limits_is_informed_and_cannot_skip",
            ),
            "Data, service and page. Nothing missing.",
        ),
        Demand(
            "SE",
            "raising a limit: after 72 h and not before the running period ends [R]",
            ("test_in_sweden_72_hours_and_not_before_the_running_period_ends",),
            "For each period, the later of the two. Nothing missing.",
        ),
        Demand("SE", "pause button, 24 h [S]", (RULES, "test_a_pause_lasts_24_hours"), "Nothing missing."),
        Demand(
            "SE",
            "national register checked before play [R]",
            (
                "test_is_asked_at_log_in_and_not_again_in_the_session",
                "test_keeps_listed_people_from_play_real_and_free",
            ),
            "A register in the tests stands for Spelpaus.",
            Met.PARTLY,
            "The place for Spelpaus is there and documented; connecting it takes a licence and its keys "
            "(docs/registers.md).",
        ),
        Demand(
            "SE",
            "staff contact a player with limits above 10,000 SEK a month [R]",
            ("test_in_sweden_a_limit_above_10_000_kronor_a_month_calls_for_contact",),
            "Exactly the figure and one öre more. Nothing missing.",
        ),
        Demand(
            "DK",
            "deposit limit for day, week or month offered before play [R]",
            (RULES, "test_elsewhere_it_is_offered_once"),
            "Nothing missing.",
        ),
        Demand(
            "DK",
            "raising a limit after 24 h [R], pause of 24 h [R]",
            (RULES, "test_a_looser_limit_holds_when_its_time_has_come_and_not_before", "test_a_pause_lasts_24_hours"),
            "An hour before and then. Nothing missing.",
        ),
        Demand(
            "DK",
            "self-exclusion of at least 30 days or permanent, reopened after a year at the earliest [R]",
            (
                "test_a_self_exclusion_is_never_shorter_than_the_law_says",
                "test_one_for_good_may_be_lifted_by_two_after_the_days_of_the_law",
            ),
            "Nothing missing.",
        ),
        Demand(
            "DK",
            "self-exclusion comes with information on treatment [R]",
            ("test_dk_self_exclusion_comes_with_information_on_treatment",),
            "Before the button. Nothing missing.",
        ),
        Demand(
            "DK",
            "history of at least 90 days: balance, stakes, wins, losses, payments [R]",
            (
                "test_dk_gb_the_periods_offered_are_never_shorter_than_the_law_says",
                "test_dk_gb_players_read_balances_stakes_wins_losses_and_payments_themselves",
            ),
            "Four years of first days. Nothing missing.",
        ),
        Demand(
            "RO",
            "deposit limit offered; raising a limit after 24 h, pause of 24 h (our choice)",
            (RULES, "test_elsewhere_it_is_offered_once", "test_a_pause_lasts_24_hours"),
            "Nothing missing.",
        ),
        Demand(
            "RO",
            "self-exclusion by the national register [R]",
            ("test_serves_its_own_jurisdiction_alone",),
            "The interface is the Swedish one's.",
            Met.PARTLY,
            "The place for the ONJN's register is there; it is not connected (docs/registers.md).",
        ),
        Demand(
            "DE",
            "deposit limit for the month, at most 1,000 EUR across operators [S]",
            (RULES, "test_in_germany_1_000_euros_a_month_whatever_the_player_says"),
            "The house sees its own deposits.",
            Met.PARTLY,
            "Across operators it would take the state's limit file, behind `players_limits_of` "
            "(docs/national-rules.md).",
        ),
        Demand("DE", "raising a limit after 7 days (our choice)", (RULES,), "Nothing missing."),
        Demand(
            "DE",
            "pause button always in view, 24 h at once, no confirmation question [R]",
            ("test_the_button_asks_as_the_profile_lets_it", "test_a_pause_lasts_24_hours"),
            "The press itself pauses. Nothing missing.",
        ),
        Demand(
            "DE",
            "self-exclusion by the national register [S]",
            ("test_serves_its_own_jurisdiction_alone",),
            "The interface is the Swedish one's.",
            Met.PARTLY,
            "The place for OASIS is there; it is not connected (docs/registers.md).",
        ),
        Demand(
            "DE",
            "no parallel play [R]",
            (
                "test_a_round_at_the_table_that_waits_is_refused_before_any_stake",
                "test_of_two_deals_at_once_the_row_decides_for_one",
                "test_de_a_table_waits_once_another_was_opened",
                "test_de_and_the_other_waits_until_the_round_in_progress_has_ended",
            ),
            "At solo and shared tables, Chemin de Fer, with studios and through the API. Nothing missing.",
        ),
        Demand(
            "DE",
            "table games for real money only under a licence of a Land [s]",
            (
                RULES,
                "test_de_without_one_nothing_is_played_for_real_money_and_all_for_free",
                "test_de_without_one_nothing_is_deposited",
                "test_de_the_page_says_so",
            ),
            "The house names it in a setting; whether it is valid, nobody checks here.",
        ),
        Demand(
            "DE",
            "help must not imply a federal licence [R]",
            ("test_de_no_text_implies_a_federal_licence",),
            "Every German text of the house, help, terms and catalogue. Nothing missing.",
        ),
        Demand(
            "GB",
            "deposit limit prompted at registration or first deposit, gross, day / week / month [R]",
            (
                RULES,
                "test_elsewhere_it_is_offered_once",
                "test_the_gate_leads_to_the_limits_before_real_money_and_not_before_free",
            ),
            "Nothing missing.",
        ),
        Demand(
            "GB",
            "raising a limit after 24 h [R], pause of 24 h (our choice)",
            (RULES, "test_a_looser_limit_holds_when_its_time_has_come_and_not_before", "test_a_pause_lasts_24_hours"),
            "Nothing missing.",
        ),
        Demand(
            "GB", "self-exclusion of at least 6 months [S]", ("test_a_shorter_one_is_not_offered",), "Nothing missing."
        ),
        Demand(
            "GB",
            "history of 3 months by oneself, 12 on request [R]",
            (
                "test_dk_gb_the_periods_offered_are_never_shorter_than_the_law_says",
                "test_dk_gb_players_read_balances_stakes_wins_losses_and_payments_themselves",
            ),
            "Both without asking. Nothing missing.",
        ),
        Demand(
            "GB",
            "5 seconds from the start of one game to the start of the next, and a press for each [s]",
            (
                RULES,
                "test_of_many_deals_in_a_second_in_two_tabs_one_is_played",
                "test_of_two_deals_at_once_only_one_is_played",
                "test_the_first_bet_in_a_round_is_a_start",
                "test_a_bank_and_a_deal_elsewhere_count_together",
                "test_a_key_that_is_held_down_plays_one_round",
            ),
            "Over all tables, tabs and devices, decided by the database; Chemin de Fer takes no exception.",
        ),
        Demand(
            "GB",
            "nothing hurries a result [v], and nothing plays by itself [v]",
            (
                RULES,
                "test_where_the_law_forbids_it_nothing_hurries_a_result_and_the_next_round_waits",
                "test_play_for_free_only",
                "test_the_database_knows_their_sessions",
            ),
            "A click and reduced motion keep the pace; API clients play for free money only.",
        ),
        Demand(
            "GB",
            "nothing that is made for playing several games at once, as a window of several tables is [S]",
            (RULES, "test_where_the_house_may_not_show_tables_together_each_stays_on_its_own_page"),
            "A player may still open two tables in two windows, which nothing of the house arranges.",
        ),
        Demand(
            "GB",
            "net result and hours, minutes and seconds in view for the whole session [v]",
            ("test_time_and_net_result_stay_in_view_at_every_table_and_in_full_screen",),
            "At every table from 320 pixels up, also when the page is scrolled.",
        ),
        Demand(
            "DK",
            "a session is not cut in the middle of a game [S]",
            (
                "test_dk_a_round_of_a_shared_table_is_dealt_and_paid",
                "test_dk_a_coup_of_chemin_de_fer_is_dealt_and_paid",
                "test_a_pause_waits_for_the_round_in_progress",
            ),
            "Time-out, log-out elsewhere, pause, lock, limits, reality check, pause and close of the table, and a house"
            " stop, for every jurisdiction. At a solo table a round is one transaction.",
        ),
        Demand(
            "DK",
            "names of games are unique and recognisable [S]",
            (
                "test_dk_every_game_has_a_name_of_its_own",
                "test_dk_so_has_every_table_that_ships_and_none_has_that_of_another_game",
                "test_dk_takes_no_name_of_another_table_or_game",
                "test_dk_takes_none_that_another_table_was_given_at_the_same_moment",
            ),
            "In five languages; a table takes no name of another table or game, whatever the case of its letters; the"
            " database refuses that of another table.",
        ),
        Demand(
            "DK",
            "a complaint is settled within 14 days, or the player told by when it will be [S]",
            (
                RULES,
                "test_a_promised_date_stays_when_the_limit_changes",
                "test_an_overdue_complaint_is_reported_once",
                "test_a_player_who_was_kept_waiting_reads_where_else_to_turn",
            ),
            "The day is promised as the complaint comes in, and staff are alerted past it; saying a later day is a"
            " letter that people write. Nothing missing.",
        ),
        Demand(
            "GB",
            "withdrawals cannot be cancelled by the player [R]",
            ("test_is_refused_where_the_law_forbids_it", "test_has_no_button_where_the_law_forbids_it_and_reads_so"),
            "By service and by page. Nothing missing.",
        ),
        Demand(
            "GB",
            "only gross limits are called deposit limit, at least equal prominence, free amount [R]",
            (
                "test_gb_the_gross_limit_alone_is_called_a_deposit_limit",
                "test_gb_a_withdrawal_gives_no_room_back",
                "test_gb_the_deposit_limit_is_first_and_as_prominent_as_any_other",
                "test_dk_gb_any_amount_is_typed_freely",
            ),
            "In five languages, in messages and on the page. Nothing missing.",
        ),
        Demand(
            "GB",
            "fixed periods: deposits are blocked until the period restarts [R]",
            ("test_begin_at_midnight_there", "test_a_reached_limit_blocks_deposits_until_the_period_ends"),
            "To the microsecond, on days of 23 and 25 hours. Nothing missing.",
        ),
        Demand(
            "GB",
            "limits are linked on the home and deposit pages, and players are reminded every six months [R]",
            (
                RULES,
                "test_gb_the_limits_are_linked_where_players_arrive_and_where_they_deposit",
                "test_one_comes_every_six_months_and_not_before",
                "test_the_notice_is_shown_until_the_limits_are_kept",
            ),
            "By mail and as a notice in lobby and cashier. Nothing missing.",
        ),
        Demand(
            "GB",
            "a prompt before the first deposit [R]",
            ("test_no_deposit_begins_before_the_player_was_asked_for_limits",),
            "The database refuses. Nothing missing.",
        ),
        Demand(
            "GB",
            "a raise takes effect only once the player confirms it after the 24 h [S]",
            ("test_gb_a_raise_takes_effect_when_it_is_confirmed_after_the_wait_and_not_before",),
            "By page and by API; found second hand, as a quotation of RTS 12D. Nothing missing.",
        ),
    ),
)
