"""Software that players play with, and the places where players are."""

from datetime import date
from typing import Final

from tests.clauses.demand import Chapter, Demand, Met

READ: Final = date(2026, 11, 28)

CHAPTER: Final = Chapter(
    "Player software and location",
    (
        Demand(
            "2.6.2",
            "what players play with says which program it is and of which version",
            ("test_gli19_2_6_2_every_page_says_which_program_it_is_of",),
            "**Was not met**: only the help of each game had a version. Each page now has one in its head; a house that"
            " was built from no release says so.",
            read=READ,
        ),
        Demand(
            "2.6.3",
            "what is installed on a player's device is authenticated when it is loaded",
            (),
            "",
            met=Met.OUTSIDE,
            left="Nothing is installed: pages and scripts come from the house each time, and what the house has is"
            " authenticated under 2.3.2.",
            read=READ,
        ),
        Demand(
            "2.6.4",
            "pages speak to the house alone, by secure connections",
            (
                "test_gli19_2_6_4_browsers_are_instructed_to_use_https_alone_for_a_year",
                "test_no_policy_lets_a_script_in_but_by_its_nonce",
            ),
            "The settings of a production house in a process of its own, and the policies of all answers.",
            read=READ,
        ),
        Demand(
            "2.6.4",
            "where the line to the house is lost, the page says so and bets cannot be placed",
            ("test_gli19_2_6_4_a_page_that_was_hidden_or_lost_its_line_comes_back_to_what_is_true",),
            "In a browser, at a shared table: the message, and what is shown once the line is back. A bet is placed by"
            " the house or not at all, so none can be placed without a line.",
            read=READ,
        ),
        Demand(
            "2.6.5",
            "players send each other nothing but chat; files go to the house alone",
            ("test_gli19_2_6_5_these_are_the_forms_that_take_a_file",),
            "Every form that takes a file is listed; what is sent is read by staff.",
            read=READ,
        ),
        Demand(
            "2.6.5",
            "nothing sensitive is kept in the browser",
            ("test_gli19_2_6_5_a_browser_keeps_preferences_and_nothing_else", "test_there_are_no_others_than_three"),
            "New: every script's storage by key; and the cookies. That a browser fills in passwords is the player's"
            " choice, which the standard only advises against.",
            read=READ,
        ),
        Demand(
            "2.6.5",
            "no script decides an outcome",
            ("test_gli19_2_6_5_no_script_draws_anything_that_decides_an_outcome",),
            "New: each script that draws a random number is listed with what for. What players add to a shuffle is "
            "drawn in their browser; the seed under it is committed to before (4.5.2).",
            read=READ,
        ),
        Demand(
            "2.6.5",
            "no virus scanner, firewall, port or volume of the device is touched, and nothing else is bundled",
            (),
            "",
            met=Met.OUTSIDE,
            left="A page in a browser can reach none of these.",
            read=READ,
        ),
        Demand(
            "2.6.6",
            "a browser that does not fit is refused before play, and does not play",
            (),
            "",
            met=Met.NO,
            left="Games also work without scripts, by forms, so an old browser is not kept from play; but nothing"
            " detects one in which a page is not as it should be.",
            read=READ,
        ),
        Demand(
            "2.6.7",
            "no malicious code",
            ("test_gli19_2_6_7_nothing_is_loaded_from_another_host",),
            "Scripts come from the house alone, and each has its SHA-256 in the release (2.3.3).",
            met=Met.PARTLY,
            left="Somebody has to review that the house's own scripts do no harm; no test can show it.",
            read=READ,
        ),
        Demand(
            "2.6.8",
            "players are informed of cookies at registration; who refuses them cannot play",
            (
                "test_gli19_2_6_8_the_form_says_which_cookies_there_are_and_what_for",
                "test_gli19_2_6_8_without_cookies_nobody_logs_in_and_the_page_says_why",
            ),
            "**Was not met**: nobody was told. The form of registration now says which there are, in five languages.",
            read=READ,
        ),
        Demand(
            "2.6.9",
            "rules, player protection and terms can be read from every page",
            ("test_gli19_2_6_9_every_page_leads_to_help_player_protection_and_terms",),
            "New, for players and visitors.",
            met=Met.PARTLY,
            left="There is no privacy policy: it is the operator's text, and no page has a place for it yet.",
            read=READ,
        ),
        Demand(
            "2.7.2",
            "programs that hide where a player is are detected and blocked",
            (),
            "",
            met=Met.NO,
            left="It takes a location service on the device and a register of proxies. The house has neither.",
            read=READ,
        ),
        Demand(
            "2.7.3",
            "where play is over a private network, players outside its bounds do not play",
            (),
            "",
            met=Met.OUTSIDE,
            left="Play is over the Internet.",
            read=READ,
        ),
        Demand(
            "2.7.4",
            "where play is over the Internet, each player is located before the first game and every thirty minutes,"
            " and games outside the permitted area are refused and recorded",
            (),
            "",
            met=Met.NO,
            left="The house knows the jurisdiction in which a player registered and was identified, and no place. "
            "Nothing is built that asks a location service.",
            read=READ,
        ),
    ),
)
