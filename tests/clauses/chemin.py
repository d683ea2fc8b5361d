"""Players against each other."""

from typing import Final

from tests.clauses.demand import Chapter, Demand

CHAPTER: Final = Chapter(
    "Players against each other: Chemin de Fer",
    (
        Demand(
            "4.11.1",
            "one seat each",
            ("test_gli19_4_11_1_a_player_has_one_seat_whatever_is_written",),
            "The database refuses a second one. Nothing missing.",
        ),
        Demand(
            "4.11.1",
            "the option of a randomly assigned seat",
            ("test_gli19_4_11_1_a_random_seat_is_a_free_one",),
            "Which place it is, is drawn; that it is marked as drawn is asserted.",
            page="*Take a random seat*",
        ),
        Demand(
            "4.11.1",
            "house players are marked",
            ("test_gli19_4_11_1_a_practice_table_marks_every_house_player",),
            "They play for free money alone. Nothing missing.",
        ),
        Demand(
            "4.11.1",
            "no bots of the house’s making: API clients do not play against players",
            (
                "test_gli19_4_11_1_an_api_client_takes_no_seat",
                "test_gli19_4_11_1_the_database_stores_no_move_of_an_api_client",
            ),
            "**Was not met**: the API played Chemin de Fer, and nobody at the table saw it. It reads the table "
            "now and plays nothing there.",
        ),
        Demand(
            "4.11.1",
            "a warning about bots",
            ("test_gli19_4_11_1_a_player_who_may_sit_down_is_warned_of_api_clients_that_play",),
            "**Was not met**: only the page of reports said that programs are forbidden. The table now warns "
            "every player who may sit down, in five languages.",
        ),
        Demand(
            "4.11.3",
            "away from play, by request or after inactivity; turns are skipped",
            ("test_gli19_4_11_3_keeps_the_seat_and_lets_turns_pass", "test_gli19_4_11_3_missed_in_a_row_is_away"),
            "Both ways, and who decided it is on record. Nothing missing.",
        ),
        Demand(
            "4.11.3",
            "removed from the table after a stated time",
            ("test_gli19_4_11_3_one_who_was_away_for_too_long_gets_up",),
            "The time is that of the table's clock, which its help states.",
        ),
        Demand(
            "A.8.1",
            "a watch for chip dumping and soft play: who loses to which player, how often, against what is normal",
            (
                "test_gli19_a_8_1_a_player_who_calls_a_friend_s_bank_and_stands_on_nothing",
                "test_gli19_a_8_1_and_by_the_money_alone_once_there_are_enough_coups",
                "test_gli19_a_8_1_who_lets_the_bank_of_a_friend_go_by",
                "test_gli19_a_8_1_honest_evenings_are_as_chance_says_and_nobody_is_named",
            ),
            "Three kinds of collusion found within stated numbers of coups, honest evenings not. Nothing missing.",
            page="`/staff/play/`",
        ),
        Demand(
            "A.8.1",
            "a player can report another",
            (
                "test_gli19_a_8_1_is_kept_with_the_seat_the_table_and_the_words",
                "test_gli19_a_8_1_is_led_to_from_the_seat_of_every_other_player",
            ),
            "Nothing missing.",
            page="`/staff/play/reports/`",
        ),
        Demand(
            "A.8.1",
            "the opponents of every coup are on record",
            ("test_gli19_a_8_1_is_kept_as_a_round_with_everybodys_part",),
            "Banker and punter with stake, payment and tax each. Nothing missing.",
        ),
    ),
)
