"""Attacks on provider statements: their lines, the differences, and what staff found."""

from tests.attacks.attack import Attack, changed, kept, nothing, twice

COLUMNS = {
    "wallet_statement_draft": "at digest faults id lines name provider since staff_id until",
    "wallet_provider_statement": "at by digest id name provider since totals until",
    "wallet_statement_line": "amount authorisation currency day id kind number reference statement_id status subject"
    " verdict",
    "wallet_difference": "id kind known statement_id subject",
    "wallet_difference_step": "at by difference_id id settles text",
    "wallet_deposit_note": "at by id payment_id settles text",
}

ATTACKS: list[Attack] = [
    *(attack for table, columns in COLUMNS.items() for attack in nothing(table, columns)),
    *(twice(table, f"{table}_pkey") for table in COLUMNS),
    twice("wallet_provider_statement", "wallet_provider_statement_digest_key"),
    twice("wallet_statement_line", "wallet_statement_line_once"),
    twice("wallet_difference_step", "wallet_difference_settled_once", "settles"),
    changed("wallet_statement_draft", "wallet_statement_draft_staff_id_c5ec9840_fk_players_staff_id", "staff_id = -1"),
    changed("wallet_statement_line", "wallet_statement_line_amount", "amount = 0"),
    changed("wallet_statement_line", "wallet_statement_line_number_check", "number = -1"),
    changed("wallet_statement_line", "wallet_statement_lin_statement_id_cb2f3b36_fk_wallet_pr", "statement_id = -1"),
    changed("wallet_difference", "wallet_difference_statement_id_fd4ae48d_fk_wallet_pr", "statement_id = -1"),
    changed("wallet_difference", "wallet_difference_line_id_ebf1b5f5_fk_wallet_statement_line_id", "line_id = -1"),
    changed("wallet_difference_step", "wallet_difference_st_difference_id_6533db84_fk_wallet_di", "difference_id = -1"),
    changed(
        "wallet_deposit_note",
        "wallet_deposit_note_payment_id_ae91079a_fk_wallet_payment_id",
        "payment_id = gen_random_uuid()",
    ),
    *kept("wallet_provider_statement", "wallet_provider_statement_is_kept", "by"),
    *kept("wallet_statement_line", "wallet_statement_line_is_kept", "amount"),
    *kept("wallet_difference", "wallet_difference_is_kept", "kind"),
    *kept("wallet_difference_step", "wallet_difference_step_is_kept", "text"),
    *kept("wallet_deposit_note", "wallet_deposit_note_is_kept", "text"),
    Attack(
        "wallet_provider_statement",
        "wallet_provider_statement_begins",
        "INSERT INTO wallet_provider_statement (provider, since, until, name, digest, totals, by, at)"
        " SELECT provider, since, until, name, sha256(digest), totals, by, now() + interval '9 days'"
        " FROM wallet_provider_statement ORDER BY id LIMIT 1",
        harm="SELECT at > now() + interval '8 days' FROM wallet_provider_statement ORDER BY id DESC LIMIT 1",
    ),
    Attack(
        "wallet_statement_line",
        "wallet_statement_line_comes_with_it",
        "INSERT INTO wallet_statement_line (statement_id, number, kind, reference, authorisation, amount, currency,"
        " day, status, subject, verdict)"
        " SELECT statement_id, number + 1000, kind, reference, authorisation, amount, currency, day,"
        " status, subject, verdict"
        " FROM wallet_statement_line ORDER BY id LIMIT 1",
    ),
    Attack(
        "wallet_difference",
        "wallet_difference_comes_with_it",
        "INSERT INTO wallet_difference (statement_id, line_id, kind, subject, known)"
        " SELECT statement_id, line_id, kind, subject, known FROM wallet_difference ORDER BY id LIMIT 1",
    ),
    Attack(
        "wallet_difference_step",
        "wallet_difference_step_begins",
        "INSERT INTO wallet_difference_step (difference_id, by, settles, text)"
        " SELECT difference_id, by, false, 'one more' FROM wallet_difference_step WHERE settles LIMIT 1",
        refused_by="wallet_difference_settled_once",
    ),
    Attack(
        "wallet_deposit_note",
        "wallet_deposit_note_begins",
        "INSERT INTO wallet_deposit_note (payment_id, by, settles, text, at)"
        " SELECT payment_id, by, true, 'done for good', now() + interval '9 days' FROM wallet_deposit_note LIMIT 1",
        harm="SELECT at > now() + interval '8 days' FROM wallet_deposit_note ORDER BY id DESC LIMIT 1",
    ),
]
