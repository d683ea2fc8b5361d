"""Deposits, withdrawals, statements."""

from typing import Final

from tests.clauses.demand import Chapter, Demand

CHAPTER: Final = Chapter(
    "Money in and out",
    (
        Demand(
            "2.5.6",
            "every deposit is confirmed or refused with the reason",
            (
                "test_gli19_2_5_6_the_page_shows_the_state_of_a_deposit_and_why",
                "test_gli19_2_5_6_a_deposit_is_mailed",
            ),
            "Refused ones were shown by tests that did not bear the clause; now they do. Banks are a labelled "
            "sandbox until a "
            "provider is configured; a house in production does not start with it.",
            page="`/cashier/`",
        ),
        Demand(
            "2.5.6",
            "every withdrawal is confirmed or refused with the reason",
            (
                "test_gli19_2_5_6_takes_the_money_out_of_play_and_says_so",
                "test_gli19_2_5_6_a_refusal_gives_the_money_back_and_says_why",
                "test_gli19_2_5_6_reads_why_staff_refused",
                "test_gli19_2_5_6_every_mail_says_what_how_much_and_why",
            ),
            "Every step in every language. Nothing missing.",
            page="`/cashier/withdraw/`",
        ),
        Demand(
            "2.5.6",
            "money is not playable before the provider has authorised it, and the number of that is kept",
            (
                "test_gli19_2_5_6_nothing_can_be_played_with_before",
                "test_gli19_2_5_6_credits_the_money_with_its_authorisation_number",
            ),
            "The balance was looked at and no game was tried; now one is, before and after.",
        ),
        Demand(
            "2.5.6",
            "no transfer between the accounts of two players",
            ("test_gli19_2_5_6_no_journal_gives_one_players_money_to_another",),
            "The database refuses it whatever the journal is called. What players lose to each other at Chemin de Fer "
            "is the "
            "settlement of a coup, and no transfer.",
        ),
        Demand(
            "2.5.7",
            "a statement for any period of the past year that agrees with the ledger",
            (
                "test_gli19_2_5_7_agree_with_the_ledger_for_any_period",
                "test_gli19_2_5_7_a_year_of_fifty_thousand_rounds",
                "test_gli19_2_5_7_has_every_figure_of_the_screen",
                "test_gli19_2_5_7_staff_have_the_player_s_statement_and_its_movements_make_the_end",
            ),
            "Periods of any two moments, on screen, as CSV and PDF, and as a report for staff. Nothing missing.",
            page="`/cashier/statement/`",
        ),
        Demand(
            "2.5.7",
            "deposits, withdrawals and adjustments, each with time and id",
            (
                "test_gli19_2_5_7_each_deposit_withdrawal_and_correction_has_its_time_and_number",
                "test_gli19_2_5_7_an_adjustment_is_in_the_statement_with_its_time_and_number",
                "test_gli19_2_5_7_it_on_the_page_in_the_file_and_on_paper",
            ),
            "Balances that staff put right and voids are listed like payments. Nothing missing.",
        ),
        Demand(
            "2.5.7",
            "staked and won per game",
            ("test_gli19_2_5_7_say_what_each_game_took_and_gave",),
            "A voided round is among them. Nothing missing.",
        ),
    ),
)
