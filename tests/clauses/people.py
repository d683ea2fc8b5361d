"""Players' accounts: logging in, limits, exclusions, what is kept of them, what they write."""

from typing import Final

from tests.clauses.demand import Chapter, Demand

CHAPTER: Final = Chapter(
    "Players and their accounts",
    (
        Demand(
            "2.5.3",
            "one message for a wrong name and a wrong password",
            (
                "test_gli19_2_5_3_reads_the_same_for_a_wrong_name_and_a_wrong_password",
                "test_gli19_2_5_3_only_the_right_password_learns_of_the_lock_and_how_to_reach_the_house",
            ),
            "Compares the two whole pages, not the sentence alone. Nothing missing.",
        ),
        Demand(
            "2.5.3",
            "three failures in thirty minutes lock the log-in, which a second factor opens (or a mailed code, or a "
            "new password)",
            (
                "test_gli19_2_5_3_comes_after_three_failures_even_for_the_right_password",
                "test_gli19_2_5_3_sixteen_wrong_passwords_at_the_same_moment_are_three_tries",
                "test_gli19_2_5_3_with_a_code_of_the_authenticator_app_once",
            ),
            "The opening by a second factor was not named after the clause; now it is.",
        ),
        Demand(
            "2.5.3",
            "balance and transaction options in view once logged in",
            ("test_gli19_2_5_3_shows_the_balance_and_the_ways_to_deposit_and_withdraw",),
            "No test showed it; this one is new.",
            page="every page's head, `/cashier/`",
        ),
        Demand(
            "2.5.4",
            "log in again after inactivity: players after 9 minutes, staff after 30",
            ("test_gli19_2_5_4_a_session_ends",),
            "Both kinds of people, just before and just after. Nothing missing.",
        ),
        Demand(
            "2.5.5",
            "of two limits the stricter one holds",
            (
                "test_gli19_2_5_5_of_the_players_and_the_houses_the_stricter",
                "test_gli19_2_5_5_of_several_limits_the_tightest_is_reported",
            ),
            "What is refused at the table is shown as well as what is stored. Nothing missing.",
            page="`/protection/limits/`",
        ),
        Demand(
            "2.5.5",
            "the end of an exclusion lifts no limit",
            ("test_gli19_2_5_5_an_exclusion_ends_by_itself_and_lifts_no_limit",),
            "Limits were not looked at when an exclusion ended; now they are.",
        ),
        Demand(
            "A.3.7",
            "a stricter limit holds at once",
            (
                "test_gli19_a_3_7_stricter_holds_at_once_everywhere",
                "test_gli19_a_3_7_a_limit_that_the_house_lifts_at_once_loosens_none_of_the_player_s_own",
            ),
            "In all five jurisdictions; what the house lifts leaves the player’s own limits as they are.",
        ),
        Demand(
            "A.3.8",
            "a looser limit waits at least 24 hours",
            ("test_gli19_a_3_8_looser_waits_as_long_as_the_profile_says",),
            "Raised and removed; Sweden, which waits longer, is below.",
        ),
        Demand(
            "A.3.7",
            "an exclusion holds at once, real money and free, and nobody makes it shorter",
            (
                "test_gli19_a_3_7_gets_no_round_and_stakes_nothing",
                "test_gli19_a_3_7_no_round_begins_after_a_pause_however_many_are_asked_for",
                "test_gli19_a_3_7_the_longest_of_several_holds",
                "test_gli19_a_3_7_two_people_do_not_end_it_before_its_time",
            ),
            "Only the longest of several was named after the clause; that play ends at once is shown with sixteen "
            "threads.",
            page="`/protection/`",
        ),
        Demand(
            "A.3.8",
            "an excluded player can still withdraw",
            ("test_gli19_a_3_8_is_open_to_a_player_who_may_not_play",),
            "A pause and an exclusion for good, all of the money. Nothing missing.",
        ),
        Demand(
            "2.8.5",
            "identity data kept: name, address, birth, document, who confirmed them and when",
            ("test_gli19_2_8_5_identity_data_with_who_confirmed_it_and_when", "test_gli19_2_8_5_is_in_the_log"),
            "Only the event was asserted; each field is now.",
            page="`/staff/identity/`",
        ),
        Demand(
            "2.8.5",
            "agreement to terms: when, which version; new ones come before play",
            (
                "test_gli19_2_8_5_agreeing_is_kept_and_on_record_once",
                "test_gli19_2_8_5_new_terms_come_before_play_and_lead_back_to_the_table",
            ),
            "Version and event are asserted; the time is the event's, as 2.2 shows.",
        ),
        Demand(
            "2.8.5",
            "who accessed the account, when and from which address",
            ("test_gli19_2_8_5_are_listed_with_browser_address_and_times",),
            "Times and the address of the request were not asserted; now they are.",
            page="`/account/sessions/`",
        ),
        Demand(
            "2.8.5",
            "which staff accessed a player's data, when and from where (our addition)",
            ("test_gli19_2_8_5_an_access_record_says_who_saw_whose_data_and_from_where",),
            "A neighbouring test walks every page of the back office. Nothing missing.",
            page="`/staff/access-log/`",
        ),
        Demand(
            "2.8.5",
            "limits kept: requested, type, reason, begun, ended",
            ("test_gli19_2_8_5_who_asked_for_what_and_when_is_kept",),
            "Kind, period, who asked and from when it holds were not asserted; now they are. An end is a row of its "
            "own.",
            page="`/staff/players/…/limits/`",
        ),
        Demand(
            "2.8.5",
            "exclusions kept: requested, type, reason, begun, ended",
            ("test_gli19_2_8_5_what_was_excluded_when_why_and_until_when_is_kept",),
            "No test asserted the fields together; this one is new.",
            page="`/staff/exclusions/`",
        ),
        Demand(
            "2.8.5",
            "each movement of money with balance before and after, handler, method, status",
            (
                "test_gli19_2_8_5_every_step_has_its_handler_method_and_status",
                "test_gli19_2_8_5_is_on_record_with_authorisation_and_balances",
            ),
            "For withdrawals the balances were not asserted; now they are. The handler of a deposit is the provider "
            "in its event.",
            page="`/staff/ledger/`, `/staff/withdrawals/`",
        ),
        Demand(
            "2.8.5",
            "status of the account: open, closing, closed, forgotten",
            ("test_gli19_2_8_5_is_on_record_and_mailed",),
            "Events were asserted and the state was not; now it is.",
        ),
        Demand(
            "A.4.4",
            "complaints can be lodged, are answered and closed with a verdict",
            ("test_gli19_a_4_4_a_complaint_is_received_answered_and_closed",),
            "From the first word to the verdict, by its pages. Nothing missing.",
            page="`/service/`, `/staff/service/`",
        ),
        Demand(
            "A.4.4",
            "a decision has its reasons, says where to go on, and is looked into again where the player does not agree",
            (
                "test_gli19_a_4_4_the_player_reads_the_decision_why_and_where_to_go_on",
                "test_gli19_a_4_4_a_player_who_does_not_agree_has_it_reviewed_again",
                "test_gli19_a_4_4_nobody_changes_what_was_decided_or_promised",
            ),
            "What was promised and decided is held by the database. Nothing missing.",
            page="`/service/`, `/staff/cases/?kind=complaint`",
        ),
        Demand(
            "A.4.4",
            "complaints are kept five years, even if the player's data is erased",
            (
                "test_gli19_a_4_4_nobody_changes_or_deletes_what_was_written",
                "test_gli19_a_4_4_is_kept_for_five_years_and_then_forgotten",
                "test_gli19_a_4_4_leaves_what_was_written_to_the_house_its_five_years",
            ),
            "The owner of the tables is refused too. Nothing missing.",
            page="`/staff/retention/`",
        ),
        Demand(
            "A.4.7",
            "chat is kept ninety days",
            ("test_gli19_a_4_7_chat_is_kept_ninety_days_and_then_forgotten",),
            "An hour before and an hour after. Nothing missing.",
            page="`/staff/chat/log/`",
        ),
    ),
)
