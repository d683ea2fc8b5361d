from django.urls import path

from players import staff_complaints, staff_identity, staff_notices, staff_programs, staff_replies, staff_service

urlpatterns = [
    path("duplicates/", staff_identity.staff_duplicates, name="staff_duplicates"),
    path(
        "duplicates/<int:first_id>/<int:second_id>/",
        staff_identity.staff_duplicate_resolve,
        name="staff_duplicate_resolve",
    ),
    path("identity/", staff_identity.staff_identity, name="staff_identity"),
    path("identity/<int:submission_id>/", staff_identity.staff_identity_case, name="staff_identity_case"),
    path("identity/<int:submission_id>/refuse/", staff_identity.staff_identity_refuse, name="staff_identity_refuse"),
    path("identity/<int:submission_id>/verify/", staff_identity.staff_identity_verify, name="staff_identity_verify"),
    path("documents/<uuid:document_id>/", staff_identity.staff_document, name="staff_document"),
    path("notices/", staff_notices.staff_notices, name="staff_notices"),
    path("notices/new/", staff_notices.staff_notice_new, name="staff_notice_new"),
    path("notices/<int:notice_id>/withdraw/", staff_notices.staff_notice_withdraw, name="staff_notice_withdraw"),
    path("programs/", staff_programs.staff_programs, name="staff_programs"),
    path("programs/new/", staff_programs.staff_program_new, name="staff_program_new"),
    path("programs/<int:token_id>/revoke/", staff_programs.staff_program_revoke, name="staff_program_revoke"),
    path("replies/", staff_replies.staff_replies, name="staff_replies"),
    path("replies/new/", staff_replies.staff_reply_new, name="staff_reply_new"),
    path("replies/<slug:name>/", staff_replies.staff_reply, name="staff_reply"),
    path("replies/<slug:name>/withdraw/", staff_replies.staff_reply_withdraw, name="staff_reply_withdraw"),
    path("service/", staff_service.staff_service, name="staff_service"),
    path("service/complaints/", staff_complaints.staff_complaints, name="staff_complaints"),
    path("service/complaints/export/", staff_complaints.staff_complaints_export, name="staff_complaints_export"),
    path("service/new/<int:player_id>/", staff_service.staff_service_new, name="staff_service_new"),
    path("service/<int:conversation_id>/", staff_service.staff_service_thread, name="staff_service_thread"),
    path("service/<int:conversation_id>/close/", staff_service.staff_service_close, name="staff_service_close"),
    path("service/<int:conversation_id>/decide/", staff_service.staff_complaint_decide, name="staff_complaint_decide"),
    path(
        "service/<int:conversation_id>/assign/", staff_complaints.staff_complaint_assign, name="staff_complaint_assign"
    ),
    path(
        "service/<int:conversation_id>/reopen/", staff_complaints.staff_complaint_reopen, name="staff_complaint_reopen"
    ),
]
