"""URLs of the back office for money, under ``/staff/``."""

from django.urls import path

from backoffice import deposits, ledger, partners, provider_statements, withdrawals

urlpatterns = [
    path("ledger/journals/<int:journal_id>/", ledger.staff_ledger_journal, name="staff_ledger_journal"),
    path("ledger/accounts/<int:account_id>/", ledger.staff_ledger_account, name="staff_ledger_account"),
    path("withdrawals/", withdrawals.staff_withdrawals, name="staff_withdrawals"),
    path(
        "withdrawals/<int:withdrawal_id>/",
        withdrawals.staff_withdrawal_decide,
        name="staff_withdrawal_decide",
    ),
    path("deposits/", deposits.staff_deposits, name="staff_deposits"),
    path("deposits/<uuid:payment_id>/", deposits.staff_deposit, name="staff_deposit"),
    path("deposits/<uuid:payment_id>/ask/", deposits.staff_deposit_ask, name="staff_deposit_ask"),
    path("deposits/<uuid:payment_id>/note/", deposits.staff_deposit_note, name="staff_deposit_note"),
    path("operators/", partners.staff_operators, name="staff_operators"),
    path("operators/<int:message_id>/", partners.staff_operator_message, name="staff_operator_message"),
    path("operators/<int:message_id>/again/", partners.staff_operator_again, name="staff_operator_again"),
    path("operators/<int:message_id>/settle/", partners.staff_operator_settle, name="staff_operator_settle"),
    path("partners/", partners.staff_partners, name="staff_partners"),
    path("partners/new/", partners.staff_partner_new, name="staff_partner_new"),
    path("partners/<int:partner_id>/key/", partners.staff_partner_key, name="staff_partner_key"),
    path("partners/<int:partner_id>/off/", partners.staff_partner_off, name="staff_partner_off"),
    path("partners/keys/<int:key_id>/show/", partners.staff_partner_key_show, name="staff_partner_key_show"),
    path("partners/keys/<int:key_id>/end/", partners.staff_partner_key_end, name="staff_partner_key_end"),
    path("statements/", provider_statements.staff_statements, name="staff_statements"),
    path("statements/upload/", provider_statements.staff_statement_upload, name="staff_statement_upload"),
    path("statements/draft/<uuid:draft_id>/", provider_statements.staff_statement_draft, name="staff_statement_draft"),
    path(
        "statements/draft/<uuid:draft_id>/confirm/",
        provider_statements.staff_statement_confirm,
        name="staff_statement_confirm",
    ),
    path(
        "statements/draft/<uuid:draft_id>/discard/",
        provider_statements.staff_statement_discard,
        name="staff_statement_discard",
    ),
    path("statements/<int:statement_id>/", provider_statements.staff_statement, name="staff_statement"),
    path(
        "statements/<int:statement_id>/statement.<slug:name>",
        provider_statements.staff_statement_file,
        name="staff_statement_file",
    ),
    path(
        "statements/<int:statement_id>/differences/<int:difference_id>/",
        provider_statements.staff_difference_note,
        name="staff_difference_note",
    ),
]
