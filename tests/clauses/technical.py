"""Appendix B: technical security controls. What is the operator's alone is said to be."""

from datetime import date
from typing import Final

from tests.clauses.demand import Chapter, Demand, Met

READ: Final = date(2026, 11, 28)


def of_operator(clause: str, asks: str, why: str) -> Demand:
    """Return a row for what no program can do for its operator."""
    return Demand(clause, asks, (), "", met=Met.OUTSIDE, left=f"The operator's: {why}", read=READ)


CHAPTER: Final = Chapter(
    "Technical security controls",
    (
        of_operator(
            "B.2.1",
            "procedures for monitoring, security, incidents, capacity and malfunctions are written and followed",
            "docs/operating.md has a procedure for each fault that the house names, and metrics are there to watch.",
        ),
        of_operator("B.2.2", "servers are in secured rooms with surveillance and entry control", "rooms."),
        Demand(
            "B.2.3",
            "each account has its own credential; passwords are hashed with a current algorithm and ten characters at"
            " least",
            ("test_gli19_b_2_3_passwords_are_kept_as_dear_as_django_keeps_them",),
            "The setting, not a stored hash: tests use a cheaper one.",
            met=Met.PARTLY,
            left="Passwords do not expire, and nothing reminds the operator to review who has which role.",
            read=READ,
        ),
        Demand(
            "B.2.3",
            "staff prove themselves by a second factor; a lost one is reset by two other people",
            (
                "test_gli19_b_2_3_get_no_further_than_to_where_they_set_one_up",
                "test_second_factors_lets_the_member_set_up_another_one_and_nothing_before",
            ),
            "Both tests have a neighbour for who may not. Nothing missing.",
            read=READ,
        ),
        Demand(
            "2.5.3, B.2.3",
            "after three failures in thirty minutes the log-in of staff is locked as that of players is, and is on"
            " record",
            ("test_gli19_2_5_3_comes_after_three_failures_even_for_the_right_password",),
            "One lock for both kinds of people, by name. Attempts at the operating system are the operator's to log.",
            read=READ,
        ),
        Demand(
            "B.2.4",
            "session keys are random, kept so that nobody can use the stored ones, and gone when the session ends",
            (
                "test_gli19_b_2_4_has_a_key_that_nobody_guesses",
                "test_gli19_b_2_4_is_nobody_s_who_reads_its_row",
                "test_gli19_b_2_4_that_ends_leaves_no_row",
            ),
            "Kept in the database under a hash, where the clause says memory.",
            read=READ,
        ),
        Demand(
            "B.2.5",
            "nobody programs the server by using it: web and workers have declared rights to tables and functions and"
            " no others",
            (
                "test_gli19_b_2_5_rights_are_those_declared_in_every_table",
                "test_only_declared_functions_run_as_the_owner",
            ),
            "Against the rights that PostgreSQL has. Nothing missing.",
            read=READ,
        ),
        Demand(
            "2.3.2, B.2.6",
            "programs in production are those of the release: compared at installation, start, daily and on demand, on"
            " record with what was expected, with an alert",
            (
                "test_gli19_2_3_2_a_released_house_is_on_record_and_differs_in_nothing",
                "test_gli19_2_3_2_each_difference_is_named_and_is_a_significant_event",
            ),
            "Which release a regulator has approved is not known to the house: the key that signs it is configured.",
            read=READ,
        ),
        Demand(
            "B.2.7",
            "reports are kept with a signature of each, are found by title and time, and cannot be changed unnoticed",
            (
                "test_gli19_b_2_7_is_in_the_log_with_its_hashes",
                "test_gli19_b_2_7_that_somebody_with_all_rights_changed_is_found",
            ),
            "There are no later versions of a report: asked for again, it is another one.",
            read=READ,
        ),
        of_operator("B.2.8", "assets are accounted for, owned, and erased before disposal", "machines and media."),
        of_operator("B.2.9", "a register of critical assets, with owner, place and relevance", "the list of machines."),
        Demand(
            "B.3.1",
            "sensitive data is secured against alteration and unauthorised access in layers",
            (
                "test_gli19_b_3_1_uploads_are_only_sealed_in_the_database",
                "test_gli19_b_3_1_no_value_in_an_address_is_sql_or_markup_to_a_page_of_players",
            ),
            "Documents, bank accounts and second factors are encrypted; input is validated.",
            met=Met.PARTLY,
            left="Names, addresses and e-mail addresses are not encrypted inside the database: who reads its files "
            "reads them, unless the operator encrypts the disk. Networks are the operator's.",
            read=READ,
        ),
        Demand(
            "B.3.2",
            "accounting, reporting and significant event data is not altered by web and workers: money is put right by"
            " a new entry, which takes two people",
            (
                "test_gli19_b_3_2_what_is_not_declared_is_refused",
                "test_gli19_b_3_2_an_adjustment_is_on_record_with_every_field",
            ),
            "**Was claimed by the retention periods alone**, which are no such data. Now each table is tried, and the"
            " correction of a balance shown with id, element, value before and after, when, who changed it and who"
            " authorised it.",
            met=Met.PARTLY,
            left="Who owns the database can alter rows without supervision. That is found within a day"
            " (`verify_house`), with the value before where the log has it; who did it is not known.",
            page="`/staff/approvals/`, `/staff/events/`",
            read=READ,
        ),
        Demand(
            "B.3.2",
            "asker and decider are different persons, and what is executed is the frozen, hashed request (our demand)",
            (
                "test_gli19_b_3_2_refuses_the_asker_as_decider_in_any_session",
                "test_gli19_b_3_2_takes_another_person_and_not_another_account_of_the_same",
                "test_gli19_b_3_2_executes_exactly_what_was_asked_for_and_records_it",
                "test_gli19_b_3_2_do_it_and_the_log_names_both",
                "test_gli19_b_3_2_is_executed_as_it_was_frozen_or_not_at_all",
                "test_gli19_b_3_2_are_changed_by_two_people_and_each_change_is_on_record",
            ),
            "By the code and by the database. Nothing missing.",
        ),
        Demand(
            "B.3.3",
            "a backup at least every day",
            (),
            "",
            met=Met.NO,
            left="`manage.py back_up` makes one (docs/operating.md). Nothing in the house calls it, and nothing "
            "notices where nobody does. With an archive of the write-ahead log it is continuous.",
            read=READ,
        ),
        Demand(
            "B.3.4",
            "backups are encrypted, can be kept elsewhere, and lose nothing that was committed",
            (
                "test_gli19_b_3_4_none_of_it_is_unencrypted_on_the_disk_at_any_moment",
                "test_gli19_b_3_4_brings_back_what_came_after_the_copy_of_the_files",
            ),
            "The second one with an archive of the write-ahead log.",
            met=Met.PARTLY,
            left="That copies leave the building is the operator's.",
            read=READ,
        ),
        Demand(
            "B.3.5",
            "a program that fails loses no transaction and repeats none",
            ("test_gli19_b_3_5_a_round_is_whole_or_has_not_happened",),
            "A process is killed at every statement of a round. `make drill` and `make hosts` kill programs and "
            "machines; they are no part of `make test`.",
            met=Met.PARTLY,
            left="PostgreSQL's primary is one machine: a standby is documented, and taking over is done by hand.",
            read=READ,
        ),
        Demand(
            "B.3.6",
            "a component that was set back is noticed",
            ("test_gli19_b_3_6_an_older_copy_is_reported_at_once_and_missing_entries_are_counted",),
            "The database, by the signer's memory. What the dealer loses is a refusal of its shoes.",
            read=READ,
        ),
        Demand(
            "B.3.7",
            "from the last backup the house is put up again elsewhere, and play goes on",
            ("test_gli19_b_3_7_the_house_is_put_up_again_elsewhere_and_play_goes_on",),
            "With the keys, which are kept apart from backups: docs/operating.md lists them.",
            read=READ,
        ),
        of_operator("B.3.8", "servers have an uninterruptible power supply", "power."),
        of_operator(
            "B.3.9",
            "a plan for continuity and disaster recovery with a second site",
            "docs/operating.md has the technical steps (*The database is lost*); sites and people are not in it.",
        ),
        Demand(
            "B.4.2",
            "components are enrolled before they take part, and can be disabled",
            (),
            "",
            met=Met.NO,
            left="Who has the password of the database and the address of the broker takes part. Signer and dealer are"
            " known by their keys.",
            read=READ,
        ),
        Demand(
            "B.4.3",
            "malformed messages do no harm",
            (
                "test_gli19_b_4_3_what_is_no_request_is_refused",
                "test_what_is_no_request_is_refused_and_the_dealer_goes_on",
            ),
            "The web server's and the dealer's protocol.",
            met=Met.PARTLY,
            left="Between machines, encryption is a setting of PostgreSQL and the broker, which the house does not"
            " demand.",
            read=READ,
        ),
        Demand(
            "2.6.4, B.4.4",
            "over public networks everything is encrypted, and a request that is repeated does nothing twice",
            (
                "test_gli19_2_6_4_browsers_are_instructed_to_use_https_alone_for_a_year",
                "test_gli19_b_4_4_it_deals_once_and_repeats_the_answer",
            ),
            "For browsers and for deals; money moves by idempotency keys.",
            read=READ,
        ),
        of_operator("B.4.5", "wireless networks", "there is none in the house."),
        of_operator("B.4.6", "networks are separated, watched and guarded against intruders", "the network."),
        of_operator("B.4.7", "threat intelligence and response to attacks", "people and services."),
        of_operator("B.4.8", "a policy for mobile computing and telecommuting", "policy."),
        Demand(
            "B.5.1",
            "calls to service providers are encrypted and to those that are configured alone",
            ("test_gli19_b_5_1_https_peers_show_their_identity", "test_nobody_else_speaks_to_other_machines"),
            "Every module that calls another machine is listed. Network segments are the operator's.",
            read=READ,
        ),
        of_operator("B.5.2", "agreements with service providers, reviewed each year", "contracts."),
        of_operator("B.5.3", "data processing agreements", "contracts."),
        of_operator("B.6.1", "two secured DNS servers, DNSSEC, registry lock", "names of the house on the Internet."),
        Demand(
            "B.6.2",
            "a policy on cryptography; different keys, so that one can be replaced",
            ("test_gli19_b_6_2_two_keys_that_are_one_are_named_by_their_settings_and_not_shown",),
            "Algorithms and keys are listed in docs/security.md.",
            met=Met.PARTLY,
            left="Keys are files or settings: that they are stored encrypted themselves is the operator's.",
            read=READ,
        ),
        Demand(
            "B.6.3",
            "every key can be replaced while people play, and each leak has a procedure",
            (
                "test_gli19_b_6_3_is_replaced_while_others_play_and_each_code_counts_at_every_step",
                "test_gli19_b_6_3_a_leaked_key_has_a_procedure_to_replace_it",
            ),
            "Other keys are replaced in the neighbours of the first test. Keys do not expire by themselves.",
            read=READ,
        ),
        Demand(
            "B.6.4",
            "a production house does not start with defaults that are a risk; each program has a user of its own",
            (
                "test_gli19_b_6_4_no_process_starts_insecurely",
                "test_gli19_b_6_4_a_program_starts_with_what_its_unit_or_container_gives_it_and_nothing_else",
            ),
            "The house's programs; operating systems are the operator's.",
            read=READ,
        ),
        Demand(
            "B.6.5",
            "logs are protected against tampering and kept as long as is demanded",
            ("test_gli19_b_6_5_a_fork_signed_with_the_stolen_key_is_found_by_a_checkpoint_kept_outside",),
            "The event log. What programs write to their own logs goes where the operator collects it.",
            met=Met.PARTLY,
            left="That logs are reviewed is on record for significant events alone.",
            read=READ,
        ),
        of_operator(
            "B.7.1", "remote access to machines", "no program of the house gives any; staff use pages, under B.2.3."
        ),
        of_operator("B.7.2", "remote access of suppliers", "as above."),
        of_operator(
            "B.7.3", "a log of remote access", "as above; what staff saw and did on pages is under 2.8.5 and 2.9.5."
        ),
        of_operator("B.7.4", "firewalls at every boundary", "the network."),
        of_operator("B.7.5", "logs of firewalls", "the network."),
        of_operator("B.8.1", "a policy for changes, chosen by the regulator", "policy."),
        Demand(
            "B.8.2",
            "each program that was installed is on record with its version and when",
            (
                "test_gli19_b_8_2_a_checkout_is_on_record_without_a_release",
                "test_gli19_2_3_2_a_house_that_starts_records_its_program",
            ),
            "By its digest, at each start.",
            met=Met.PARTLY,
            left="Why it was installed, who did it and who agreed is the operator's to record, and so is the way"
            " back to the version before.",
            read=READ,
        ),
        Demand(
            "B.8.3",
            "what is for tests and demonstrations does not get into production",
            ("test_gli19_b_8_3_no_process_starts_where_demo_people_could_log_in",),
            "A demo's people, sandbox banks and keys are refused at the start.",
            met=Met.PARTLY,
            left="Separate machines and the process of development are the operator's.",
            read=READ,
        ),
        of_operator("B.8.4", "patches are tested and installed in agreed times", "policy."),
        of_operator("B.9.1", "security tests of the production environment each year by others", "to be commissioned."),
        of_operator("B.9.2", "vulnerability assessment from outside and inside", "to be commissioned."),
        of_operator("B.9.3", "penetration tests of network and application", "to be commissioned."),
        of_operator("B.9.4", "review of firewall rules", "the network."),
    ),
)
