"""URLs of the back office for identity, support, notices and API tokens, under ``/staff/``."""

from django.urls import path

from backoffice import api_tokens, notices
from backoffice.players import identity
from backoffice.support import complaints, conversations, reply_templates

urlpatterns = [
    path("duplicates/", identity.staff_duplicates, name="staff_duplicates"),
    path(
        "duplicates/<int:first_id>/<int:second_id>/",
        identity.staff_duplicate_resolve,
        name="staff_duplicate_resolve",
    ),
    path("identity/", identity.staff_identity, name="staff_identity"),
    path("identity/<int:submission_id>/", identity.staff_identity_case, name="staff_identity_case"),
    path("identity/<int:submission_id>/refuse/", identity.staff_identity_refuse, name="staff_identity_refuse"),
    path("identity/<int:submission_id>/verify/", identity.staff_identity_verify, name="staff_identity_verify"),
    path("documents/<uuid:document_id>/", identity.staff_document, name="staff_document"),
    path("notices/", notices.staff_notices, name="staff_notices"),
    path("notices/new/", notices.staff_notice_new, name="staff_notice_new"),
    path("notices/<int:notice_id>/withdraw/", notices.staff_notice_withdraw, name="staff_notice_withdraw"),
    path("programs/", api_tokens.staff_api_tokens, name="staff_programs"),
    path("programs/new/", api_tokens.staff_api_token_new, name="staff_program_new"),
    path("programs/<int:token_id>/revoke/", api_tokens.staff_api_token_revoke, name="staff_program_revoke"),
    path("replies/", reply_templates.staff_replies, name="staff_replies"),
    path("replies/new/", reply_templates.staff_reply_new, name="staff_reply_new"),
    path("replies/<slug:name>/", reply_templates.staff_reply, name="staff_reply"),
    path("replies/<slug:name>/withdraw/", reply_templates.staff_reply_withdraw, name="staff_reply_withdraw"),
    path("service/", conversations.staff_service, name="staff_service"),
    path("service/complaints/", complaints.staff_complaints, name="staff_complaints"),
    path("service/complaints/export/", complaints.staff_complaints_export, name="staff_complaints_export"),
    path("service/new/<int:player_id>/", conversations.staff_service_new, name="staff_service_new"),
    path("service/<int:conversation_id>/", conversations.staff_service_thread, name="staff_service_thread"),
    path("service/<int:conversation_id>/close/", conversations.staff_service_close, name="staff_service_close"),
    path("service/<int:conversation_id>/decide/", conversations.staff_complaint_decide, name="staff_complaint_decide"),
    path("service/<int:conversation_id>/assign/", complaints.staff_complaint_assign, name="staff_complaint_assign"),
    path("service/<int:conversation_id>/reopen/", complaints.staff_complaint_reopen, name="staff_complaint_reopen"),
]
