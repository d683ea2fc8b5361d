from allauth.account.views import logout
from django.urls import include, path
from django.views.decorators.http import require_POST

from players.account import views as account_views
from players.api import token_views
from players.identity import requested_documents, sandbox
from players.identity import views as identity_views
from players.support import views as service_views

# Only these of allauth's pages. Registration also creates wallet accounts and is in `accounts.views`.
urlpatterns = [
    path("account/", account_views.account, name="account"),
    path("account/sessions/", account_views.account_sessions, name="account_sessions"),
    path("account/sessions/end/", account_views.account_sessions_end, name="account_sessions_end"),
    path("account/sessions/<uuid:session>/end/", account_views.account_session_end, name="account_session_end"),
    path("account/api-tokens/", token_views.account_api_tokens, name="account_api_tokens"),
    path("account/api-tokens/new/", token_views.account_api_token_new, name="account_api_token_new"),
    path(
        "account/api-tokens/<int:token_id>/revoke/",
        token_views.account_api_token_revoke,
        name="account_api_token_revoke",
    ),
    path("session/<uuid:session>/", account_views.session_status, name="session_status"),
    path("session/<uuid:session>/stay/", account_views.session_stay, name="session_stay"),
    path("terms/agree/", account_views.terms_agree, name="terms_agree"),
    path("account/", include("players.login.urls")),
    path("account/logout/", require_POST(logout), name="account_logout"),
    path("account/identity/", identity_views.identity, name="identity"),
    path("account/identity/confirm/", identity_views.identity_confirm, name="identity_confirm"),
    path("account/identity/eid/", identity_views.identity_eid, name="identity_eid"),
    path("account/identity/eid/back/", identity_views.identity_eid_back, name="identity_eid_back"),
    path("sandbox-eid/", sandbox.sandbox_eid, name="sandbox_eid"),
    path("account/documents/", requested_documents.documents, name="documents"),
    path("service/", service_views.service_list, name="service"),
    path("service/<int:conversation_id>/", service_views.service_thread, name="service_thread"),
    path("service/<int:conversation_id>/close/", service_views.service_close, name="service_close"),
    path("service/<int:conversation_id>/reopen/", service_views.service_reopen, name="service_reopen"),
    path("language/", account_views.set_language, name="set_language"),
    path("terms/", account_views.terms_page, name="terms"),
]
