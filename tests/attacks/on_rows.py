"""Attacks that apply to every table: a missing value, a duplicate row, a row without an owner."""

from dataclasses import replace

from tests.attacks.attack import Attack, changed, nothing, twice

NOT_NULL = {
    "audit_approval": "at by expires_at id kind on person reason request sha256",
    "audit_checkpoint": "at note root size",
    "audit_cosignature": "at checkpoint_id failure id line witness",
    "audit_decision": "approval_id asker at by reason verdict",
    "audit_delivery": "at checkpoint_id failure id to",
    "audit_event": "at body by id kind on",
    "audit_leaf": "event_id leaf",
    "audit_pending": "event_id",
    "audit_personal": "event_id field salt value",
    "audit_retention": "days fields minimum source what",
    "audit_tile": "hashes level number",
    "players_accountlock": "at by_id id locks player_id reason",
    "players_borrowed_money": "at by_id id is_marked player_id reason",
    "players_case": "due_at holds id kind opened_at opened_by outcome player_id subject",
    "players_case_entry": "action at by case_id id text to",
    "players_closure": "at by id player_id state",
    "players_exclusion": "begun by id kind player_id reason",
    "players_exclusionlift": "asked_by at decided_by exclusion_id id reason",
    "players_identity": "at by id player_id",
    "players_limitchange": "asked_at asked_by effective_at id kind needs_confirmation period player_id reason source",
    "players_limitoffer": "answered_at id player_id",
    "players_limitreminder": "at id is_review player_id",
    "players_playsession": "began paid_free paid_real player_id rounds session staked_free staked_real",
    "players_playtime": "day last_at player_id seconds",
    "players_realitycheck": "at id minutes player_id",
    "players_registercheck": "at id outcome player_id register",
    "players_screening_entry": "born id key list listed_at name names published topic",
    "players_screening_reading": "at entries id list reason",
    "players_staff": "id name person user_id",
    "players_staff_change": "after at before id kind user_id xid",
    "players_user_groups": "group_id id user_id",
    "wallet_account": "currency held id kind lock_only mode version",
    "wallet_bank_notice": "body due_at id order_id tries",
    "wallet_bank_order": "amount authorisation callback_url currency decline_reason funding reference sequence state",
    "wallet_bank_payout": "amount callback_url currency due_at iban number reference refusal sequence state",
    "wallet_bank_payout_notice": "body due_at id payout_id tries",
    "wallet_day": "day deposited paid player_id staked withdrawn",
    "wallet_entry": "account_id amount currency journal_id line mode",
    "wallet_exchange_rate": "at base by_id currency day id is_imported rate",
    "wallet_hold": "account_id amount at round_id",
    "wallet_journal": "at id kind xid",  # a solo round's journals have no key
    "wallet_payment": "amount authorisation begun_at billing_address_1 billing_address_2 billing_city"
    " billing_country_area billing_country_code billing_email billing_first_name billing_last_name billing_phone"
    " billing_postcode captured_amount created currency decline_reason delivery description extra_data fraud_message"
    " fraud_status funding held_because id is_disputed last_sequence message modified player_id state status tax token"
    " total transaction_id variant",
    "wallet_payment_notice": "at decision id is_authentic path raw_hash sequence variant word",
    "wallet_payout_account": "at country fingerprint id last_four player_id sealed",
    "wallet_payout_notice": "at id outcome path provider raw_hash",
    "wallet_posting_key": "journal_id key request_hash",
    "wallet_reserved": "amount at key player_id",
    "wallet_reversal": "by_id journal_id",
    "wallet_withdrawal": "account_id amount at currency id key player_id reference status takes_two",
    "wallet_withdrawal_step": "after at before by handler id method reason withdrawal_id",
}

TWICE = {
    "audit_approval": "audit_approval_pkey audit_approval_person",
    "audit_checkpoint": "audit_checkpoint_pkey",
    "audit_decision": "audit_decision_pkey",
    "audit_cosignature": "audit_cosignature_pkey",
    "audit_delivery": "audit_delivery_pkey",
    "audit_event": "audit_event_pkey",
    "audit_leaf": "audit_leaf_pkey audit_leaf_event_id_key",
    "audit_pending": "audit_pending_pkey",
    "audit_personal": "audit_personal_pkey",
    "audit_retention": "audit_retention_pkey",
    "audit_tile": "audit_tile_pkey",
    "players_accountlock": "players_accountlock_pkey",
    "players_borrowed_money": "players_borrowed_money_pkey",
    "players_case": "players_case_pkey players_case_open",
    "players_case_entry": "players_case_entry_pkey",
    "players_closure": "players_closure_pkey players_closure_once",
    "players_exclusion": "players_exclusion_pkey",
    "players_exclusionlift": "players_exclusionlift_pkey players_exclusionlift_exclusion_id_key",
    "players_identity": "players_identity_pkey",
    "players_limitchange": "players_limitchange_pkey",
    "players_limitoffer": "players_limitoffer_pkey players_limitoffer_player_id_key",
    "players_limitreminder": "players_limitreminder_pkey",
    "players_playsession": "players_playsession_pkey",
    "players_playtime": "players_playtime_pkey",
    "players_realitycheck": "players_realitycheck_pkey",
    "players_registercheck": "players_registercheck_pkey",
    "players_screening_entry": "players_screening_entry_pkey players_screening_entry_once",
    "players_screening_reading": "players_screening_reading_pkey",
    "players_staff": "players_staff_pkey players_staff_user_id_key",
    "players_staff_change": "players_staff_change_pkey",
    "players_user_groups": "players_user_groups_pkey players_user_groups_user_id_group_id_cafa1b52_uniq",
    "wallet_account": "wallet_account_pkey wallet_account_money wallet_account_once",
    "wallet_bank_notice": "wallet_bank_notice_pkey",
    "wallet_bank_order": "wallet_bank_order_pkey",
    "wallet_bank_payout": "wallet_bank_payout_pkey",
    "wallet_bank_payout_notice": "wallet_bank_payout_notice_pkey",
    "wallet_day": "wallet_day_pkey",
    "wallet_entry": "wallet_entry_pkey",
    "wallet_exchange_rate": "wallet_exchange_rate_pkey",
    "wallet_hold": "wallet_hold_pkey",
    "wallet_journal": "wallet_journal_pkey",
    "wallet_payment": "wallet_payment_pkey wallet_payment_token",
    "wallet_payment_notice": "wallet_payment_notice_pkey",
    "wallet_payout_account": "wallet_payout_account_pkey wallet_payout_account_once",
    "wallet_payout_notice": "wallet_payout_notice_pkey",
    "wallet_posting_key": "wallet_posting_key_pkey",
    "wallet_reserved": "wallet_reserved_pkey",
    "wallet_reversal": "wallet_reversal_pkey",
    "wallet_withdrawal": "wallet_withdrawal_pkey wallet_withdrawal_key_key wallet_withdrawal_reference_key",
    "wallet_withdrawal_step": "wallet_withdrawal_step_pkey",
}

NO_ID = "= gen_random_uuid()"
NOBODY = "= -1"

OF_NOBODY = [
    ("audit_cosignature", "audit_cosignature_checkpoint_id_95927ed6_fk_audit_che", f"checkpoint_id {NOBODY}"),
    ("audit_decision", "audit_decision_approval_id_bb34d71c_fk_audit_approval_id", f"approval_id {NOBODY}"),
    ("audit_decision", "audit_decision_asker", f"asker {NO_ID}"),
    ("audit_delivery", "audit_delivery_checkpoint_id_bcf7d1ca_fk_audit_checkpoint_size", f"checkpoint_id {NOBODY}"),
    ("audit_retention", "audit_retention_approval_id_9b1d0da5_fk_audit_approval_id", f"approval_id {NOBODY}"),
    ("players_borrowed_money", "players_borrowed_money_by_id_35d1bf9d_fk_players_staff_id", f"by_id {NOBODY}"),
    (
        "players_borrowed_money",
        "players_borrowed_mon_approval_id_979b9293_fk_audit_app",
        f"approval_id {NOBODY}",
    ),
    (
        "players_borrowed_money",
        "players_borrowed_money_player_id_e88b3452_fk_players_player_id",
        f"player_id {NOBODY}",
    ),
    ("players_case", "players_case_closed_by_id_999d36a3_fk_players_staff_id", f"closed_by_id {NOBODY}"),
    ("players_case", "players_case_owner_id_3c592b04_fk_players_staff_id", f"owner_id {NOBODY}"),
    ("players_case", "players_case_player_id_6cc15587_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_case_entry", "players_case_entry_case_id_9143068f_fk_players_case_id", f"case_id {NOBODY}"),
    ("players_accountlock", "players_accountlock_by_id_9dbd9dc1_fk_players_staff_id", f"by_id {NOBODY}"),
    ("players_accountlock", "players_accountlock_player_id_7282298e_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_closure", "players_closure_player_id_9a49aefd_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_exclusion", "players_exclusion_player_id_86f7058b_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_exclusionlift", "players_exclusionlif_exclusion_id_18840f1a_fk_players_e", f"exclusion_id {NOBODY}"),
    ("players_identity", "players_identity_player_id_bb76f6bd_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_limitchange", "players_limitchange_player_id_c2d9c371_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_limitoffer", "players_limitoffer_player_id_99d5a55a_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_limitreminder", "players_limitreminder_player_id_a9c570b8_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_playsession", "players_playsession_player_id_52463faf_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_playtime", "players_playtime_player_id_72493d25_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_realitycheck", "players_realitycheck_player_id_5a88b7c1_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_registercheck", "players_registercheck_player_id_5a8c496d_fk_players_player_id", f"player_id {NOBODY}"),
    ("players_staff", "players_staff_user_id_9c270360_fk_players_user_id", f"user_id {NOBODY}"),
    (
        "players_staff_change",
        "players_staff_change_approval_id_00cd9cb2_fk_audit_approval_id",
        f"approval_id {NOBODY}",
    ),
    ("players_staff_change", "players_staff_change_user_id_0f9ec512_fk_players_user_id", f"user_id {NOBODY}"),
    ("players_user_groups", "players_user_groups_group_id_62dc5cd4_fk_auth_group_id", f"group_id {NOBODY}"),
    ("players_user_groups", "players_user_groups_user_id_cb0905a3_fk_players_user_id", f"user_id {NOBODY}"),
    ("wallet_account", "wallet_account_owner_id_264d4aed_fk_players_player_id", f"owner_id {NOBODY}"),
    ("wallet_bank_notice", "wallet_bank_notice_order_id_f980cd26_fk_wallet_ba", f"order_id {NO_ID}"),
    ("wallet_bank_payout_notice", "wallet_bank_payout_n_payout_id_18ea05da_fk_wallet_ba", f"payout_id {NO_ID}"),
    ("wallet_day", "wallet_day_player_id_ff269bac_fk_players_player_id", f"player_id {NOBODY}"),
    ("wallet_exchange_rate", "wallet_exchange_rate_by_id_937744a6_fk_players_staff_id", f"by_id {NOBODY}"),
    ("wallet_hold", "wallet_hold_account_id_2b94e47f_fk_wallet_account_id", f"account_id {NOBODY}"),
    ("wallet_journal", "wallet_journal_posting_key", f"key {NO_ID}"),
    ("wallet_pasthold", "wallet_pasthold_account_id_021d9941_fk_wallet_account_id", f"account_id {NOBODY}"),
    ("wallet_payment", "wallet_payment_player_id_05881b5d_fk_players_player_id", f"player_id {NOBODY}"),
    (
        "wallet_payment_notice",
        "wallet_payment_notice_payment_id_d3adbdeb_fk_wallet_payment_id",
        f"payment_id {NO_ID}",
    ),
    ("wallet_payout_account", "wallet_payout_account_player_id_83a1421d_fk_players_player_id", f"player_id {NOBODY}"),
    ("wallet_payout_notice", "wallet_payout_notice_withdrawal_id_4ab9c291_fk_wallet_wi", f"withdrawal_id {NOBODY}"),
    ("wallet_reserved", "wallet_reserved_player_id_e749edc8_fk_players_player_id", f"player_id {NOBODY}"),
    ("wallet_withdrawal", "wallet_withdrawal_account_id_e432144a_fk_wallet_pa", f"account_id {NO_ID}"),
    ("wallet_withdrawal", "wallet_withdrawal_player_id_ab12ce22_fk_players_player_id", f"player_id {NOBODY}"),
    ("wallet_withdrawal_step", "wallet_withdrawal_st_withdrawal_id_669f4b46_fk_wallet_wi", f"withdrawal_id {NOBODY}"),
]

# The columns that sort a row into its month. A row of no month is refused, unless there is a default partition.
SORTED_BY = {"audit_event": "id", "wallet_entry": "journal_id", "wallet_journal": "id"}


def without_a_month(table: str, key: str) -> Attack:
    """Return an attack: a row that belongs to no known month."""
    (attack,) = nothing(table, key)
    return replace(attack, also=f"{attack.also}; CREATE TABLE {table}_rest PARTITION OF {table} DEFAULT")


ATTACKS: list[Attack] = [
    *(
        attack
        for table, columns in NOT_NULL.items()
        for attack in nothing(table, columns)
        if attack.guard != f"{table}_{SORTED_BY.get(table)}_not_null"
    ),
    *(without_a_month(*each) for each in SORTED_BY.items()),
    *(twice(table, guard) for table, guards in TWICE.items() for guard in guards.split()),
    twice("wallet_account", "wallet_account_subject", "subject_id IS NOT NULL"),
    *(changed(*each) for each in OF_NOBODY),
]
