"""Staff: their accounts, what takes two of them."""

from typing import Final

from tests.clauses.demand import Chapter, Demand

CHAPTER: Final = Chapter(
    "Staff",
    (
        Demand(
            "2.8.9",
            "kept per account: name, role, functions, created, last access and its address, last password change",
            ("test_gli19_2_8_9_an_account_of_staff_has_its_name_roles_functions_and_last_access",),
            "The password's change is an event.",
            page="`/staff/people/`",
        ),
        Demand(
            "2.8.9",
            "disabled when, status",
            (
                "test_gli19_2_8_9_ends_sessions_at_once_and_keeps_when",
                "test_gli19_2_8_9_an_account_shows_its_stored_data_and_since_when_it_is_disabled",
            ),
            "Two people disable an account; the history on its page says who and when.",
            page="`/staff/people/`",
        ),
        Demand(
            "B.2.3",
            "duties are separated: a role may do what it must and no more",
            ("test_gli19_b_2_3_each_role_may_do_this_and_no_more",),
            "The role × address matrix also asks every page with every role.",
            page="`/staff/`",
        ),
        Demand(
            "B.2.3",
            "two people for voiding a settled round",
            ("test_gli19_b_2_3_that_the_round_is_void_together_with_another",),
            "By the pages, from a report on the floor to the money. Nothing missing.",
            page="`/staff/incidents/`, `/staff/approvals/`",
        ),
        Demand(
            "B.2.3",
            "two people for lifting an exclusion",
            ("test_gli19_b_2_3_lift_what_staff_began",),
            "The database refuses one person. Nothing missing.",
        ),
        Demand(
            "B.2.3",
            "two people for withdrawals above a threshold",
            ("test_gli19_b_2_3_the_first_approves_and_the_second_decides",),
            "Parts of a large sum take two as well. Nothing missing.",
            page="`/staff/withdrawals/`",
        ),
        Demand(
            "B.2.3",
            "two people for changes of limits or rules on a live table",
            (
                "test_gli19_b_2_3_of_a_table_come_into_force_by_a_second_person",
                "test_gli19_b_2_3_are_not_decided_by_the_asker",
                "test_gli19_b_2_3_is_made_by_a_second_person_and_stays_closed",
            ),
            "The database compares a version with the request that was approved, for every writer. Other rules come "
            "with another program, with limits and pace as they were.",
            page="`/staff/games/`, `/staff/approvals/`",
        ),
        Demand(
            "B.2.3",
            "two people for balance adjustments",
            (
                "test_gli19_b_2_3_posts_what_was_asked_for_and_names_both",
                "test_gli19_b_2_3_posts_no_adjustment_without_an_approval",
                "test_gli19_b_2_3_is_not_decided_by_one_person_with_two_accounts",
                "test_gli19_b_2_3_does_not_decide_what_they_asked_for_under_any_account",
            ),
            "The ledger itself compares an adjustment with the request that was approved, and posts it once.",
            page="`/staff/players/`, `/staff/approvals/`",
        ),
    ),
)
