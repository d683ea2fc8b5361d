from django.urls import path

from players import staff_identity, staff_replies, staff_service

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
    path("replies/", staff_replies.staff_replies, name="staff_replies"),
    path("replies/new/", staff_replies.staff_reply_new, name="staff_reply_new"),
    path("replies/<slug:name>/", staff_replies.staff_reply, name="staff_reply"),
    path("replies/<slug:name>/withdraw/", staff_replies.staff_reply_withdraw, name="staff_reply_withdraw"),
    path("service/", staff_service.staff_service, name="staff_service"),
    path("service/new/<int:player_id>/", staff_service.staff_service_new, name="staff_service_new"),
    path("service/<int:conversation_id>/", staff_service.staff_service_thread, name="staff_service_thread"),
    path("service/<int:conversation_id>/close/", staff_service.staff_service_close, name="staff_service_close"),
]
