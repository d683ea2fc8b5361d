"""Settings, all from the environment.

There are two modes. *Demo* (``SABOT_DEMO=1``, the default without ``DATABASE_URL``): keys are
generated once and kept in ``var/``, PostgreSQL and the broker are embedded unless configured, and
demo players exist. *Production* (everything else): every secret and address must be set, and
`ops.checks` refuses to start where one is missing or weak.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONCE, NONE, SELF
from kombu import Queue

from ops import embedded
from ops.environment import Environment, demo_key

env = Environment()

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.str("SABOT_VAR", default=str(BASE_DIR / "var"))).resolve()

EMBEDDED = not env.str("DATABASE_URL", default="")
DEMO = env.bool("SABOT_DEMO", default=EMBEDDED)
DEBUG = env.bool("DEBUG", default=False)

SECRET_KEY = env.str("SECRET_KEY", default="") or (demo_key(VAR_DIR, "secret_key") if DEMO else "")
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])  # earlier keys: their signatures remain valid
# Secrets of second factors are encrypted with a key derived from this one, which is never in the
# database: 32 bytes, URL-safe base64. Each of these settings may list several keys, separated by
# commas: the first encrypts, all decrypt (`players.key_rotation`).
SECOND_FACTOR_KEY = env.str("SECOND_FACTOR_KEY", default="") or (demo_key(VAR_DIR, "second_factor_key") if DEMO else "")
# Identity documents of players are encrypted with keys derived from this one; same format.
DOCUMENT_KEY = env.str("DOCUMENT_KEY", default="") or (demo_key(VAR_DIR, "document_key") if DEMO else "")
# Secrets shared with partners of the seamless wallet are encrypted with this one; same format.
PARTNER_KEY = env.str("PARTNER_KEY", default="") or (demo_key(VAR_DIR, "partner_key") if DEMO else "")
# Changes of passwords, addresses, second factors and API tokens are proven to the database with this
# one (`players.login.credentials`); same format. `manage.py migrate` stores it in the database.
CREDENTIALS_KEY = env.str("CREDENTIALS_KEY", default="") or (demo_key(VAR_DIR, "credentials_key") if DEMO else "")

# Public age keys that backups are encrypted for (`ops.backup.copies`).
BACKUP_RECIPIENTS = env.list("BACKUP_RECIPIENTS", default=[])

ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"] if DEMO else [])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

# --- Applications ----------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "casino.apps.CasinoConfig",
    "realtime",
    "backoffice",
    "ops",
    "accounts",
    "games",
    "wallet",
    "players",
    "audit",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "casino.apps.StaticFiles",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "allauth",
    "allauth.account",
    "allauth.mfa",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "casino.middleware.guard_all",
    # pages, and files in a demo; in production files are compressed in advance
    "django.middleware.gzip.GZipMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "ops.logs.trace",  # pages and API calls; static files are not logged
    "casino.middleware.keep_nothing",
    "casino.middleware.refuse_garbled",
    "players.middleware.Sessions",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "players.middleware.SessionTime",
    "players.middleware.show_local_time",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "casino.refusals.ContentPolicy",
    "casino.middleware.know_htmx",
    "allauth.account.middleware.AccountMiddleware",
    "casino.middleware.show_no_bare_refusal",
]

ROOT_URLCONF = "casino.urls"
WSGI_APPLICATION = "casino.wsgi.application"
ASGI_APPLICATION = "casino.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            # Named parts of a template (page.html#part). Django 6.0 has them without these two settings.
            "builtins": ["template_partials.templatetags.partials"],
            "loaders": [
                (
                    "template_partials.loader.Loader",
                    [
                        (
                            "casino.templates.Loader",
                            [
                                "django.template.loaders.filesystem.Loader",
                                "django.template.loaders.app_directories.Loader",
                            ],
                        )
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "casino.templates.house",
            ],
        },
    },
    {
        "NAME": "fragments",
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "fragments"],
        "OPTIONS": {"environment": "casino.templates.environment"},
    },
]

# Number of processes that share the port, with WEB_THREADS threads each: Python runs one thread per
# process at a time.
WEB_PROCESSES = env.int("WEB_PROCESSES", default=1 if DEMO else len(os.sched_getaffinity(0)))
WEB_THREADS = env.int("WEB_THREADS", default=16)
# Seconds a stopping web process keeps serving while it reports "not ready", so that the load balancer can notice.
WEB_DRAIN_SECONDS = env.float("WEB_DRAIN_SECONDS", default=0.0)

# --- Database, broker, cache -----------------------------------------------------------------------------------------

_addresses = embedded.addresses(VAR_DIR)
DATABASE_URL = env.str("DATABASE_URL", default="") or _addresses.database_url
DATABASE_OWNER_URL = env.str("DATABASE_OWNER_URL", default="") or (_addresses.database_owner_url if EMBEDDED else "")
BROKER_URL = env.str("BROKER_URL", default="") or (_addresses.broker_url if DEMO else "")
CACHE_URL = env.str("CACHE_URL", default="") or (
    _addresses.cache_url
    if _addresses.broker_url == BROKER_URL
    else BROKER_URL.removesuffix("/0") + "/1"
    if BROKER_URL.startswith("redis")
    else ""
)


# A database host that is gone does not answer. With these timeouts a connection fails after about
# ten seconds, not after the kernel's default. The URL can override them: ?connect_timeout=2.
_PATIENCE = {"connect_timeout": 5, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3} | {
    "tcp_user_timeout": 11_000
}


def _database(url: str, **options: object) -> dict[str, object]:
    """Return the settings of an alias. Server-side binding and prepared statements were measured
    1.2 to 1.8 times faster.
    """
    config: dict[str, Any] = dict(environ.Env.db_url_config(url)) if url else {"NAME": ""}
    return config | {
        "ENGINE": "ops.postgresql",
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": _PATIENCE
        | {"options": "-c random_page_cost=1.1"}
        | options
        | config.get("OPTIONS", {})
        | {"server_side_binding": True, "prepare_threshold": 3},
    }


# "default" is the login role of web and workers; "owner" owns the tables and runs migrations. Both use one database.
DATABASES = {"default": _database(DATABASE_URL), "owner": _database(DATABASE_OWNER_URL)}
# A streaming replica that answers the lobby and reports; see audit.replica.
REPLICA_URL = env.str("REPLICA_URL", default="")
REPLICA_LAG_SECONDS = env.float("REPLICA_LAG_SECONDS", default=5.0)  # with a longer lag the primary answers
if REPLICA_URL:
    DATABASES["replica"] = _database(
        REPLICA_URL,
        connect_timeout=2,
        tcp_user_timeout=2000,
        application_name="sabot replica",
        options="-c default_transaction_read_only=on",
    ) | {"CONN_HEALTH_CHECKS": False}  # failed reads are repeated on the primary
DATABASE_ROUTERS = ["ops.postgresql.roles.OwnerMigrates"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": CACHE_URL}
    if CACHE_URL
    else {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}
}

CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 300,
    # Seconds a worker waits for a message before it asks again. It cannot stop in the meantime.
    "polling_interval": 1,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # never give up
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TIMEZONE = "UTC"
# Sealing has a queue of its own, so that only one worker needs access to the signer. A worker
# without a queue option takes both.
CELERY_TASK_QUEUES = [Queue("celery"), Queue("seal")]
CELERY_TASK_DEFAULT_QUEUE = "celery"
CELERY_TASK_ROUTES = {"audit.tasks.seal": "seal", "audit.tasks.check_the_signer": "seal"}

# --- People ----------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "players.User"
AUTHENTICATION_BACKENDS = ["players.login.adapter.HouseBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_LOGOUT_REDIRECT_URL = "lobby"

ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_FORMS = {
    "login": "players.login.forms.LoginForm",
    "signup": "players.login.forms.RegistrationForm",
    "confirm_email_verification_code": "players.login.forms.ConfirmAddressForm",
    "add_email": "players.login.forms.NewAddressForm",
    "change_password": "players.login.forms.ChangePasswordForm",
    "reset_password": "players.login.forms.ForgottenPasswordForm",
    "confirm_password_reset_code": "players.login.forms.ConfirmResetForm",
    "reset_password_from_key": "players.login.forms.NewPasswordForm",
    "reauthenticate": "players.login.forms.ReauthenticateForm",
}
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
ACCOUNT_EMAIL_VERIFICATION_SUPPORTS_RESEND = True
ACCOUNT_PASSWORD_RESET_BY_CODE_ENABLED = True
ACCOUNT_PASSWORD_RESET_BY_CODE_TIMEOUT = 15 * 60
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_PRESERVE_USERNAME_CASING = False
ACCOUNT_ADAPTER = "accounts.views.HouseAdapter"
# Wrong passwords per name are counted in the database (`players.login.locks`); "login_failed"
# counts wrong second factors.
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "5/5m/key",
    "password_failed": "20/5m/ip",
    "signup": "20/m/ip",
    "unlock": "20/m/ip",
    # E-mails with a code to one address, from all requests: registering with someone else's
    # address sends it mail too.
    "confirm_email": "1/10s/key,5/h/key",
    "code": "6/15m/key",  # attempts with codes sent to one address, from any session
    "reset_password": "20/m/ip,3/5m/key",
}
ACCOUNT_SESSION_REMEMBER = False
PLAYER_IDLE_SECONDS = env.int("PLAYER_IDLE_SECONDS", default=9 * 60)  # without an action, until the session ends
STAFF_IDLE_SECONDS = env.int("STAFF_IDLE_SECONDS", default=30 * 60)
MFA_ADAPTER = "players.login.second_factor.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "players.login.second_factor.AuthenticateForm",
    "reauthenticate": "players.login.second_factor.ReauthenticateForm",
    "activate_totp": "players.login.second_factor.ActivateForm",
    "add_webauthn": "players.login.second_factor.AddPasskeyForm",
    "edit_webauthn": "players.login.second_factor.RenamePasskeyForm",
    "authenticate_webauthn": "players.login.second_factor.PasskeyForm",
    "login_webauthn": "players.login.second_factor.PasskeyLoginForm",
    "reauthenticate_webauthn": "players.login.second_factor.PasskeyReauthenticateForm",
}
MFA_TOTP_TOLERANCE = 1  # steps of 30 seconds; each code is still accepted only once
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # users with an unverified address cannot log in
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = DEMO  # browsers allow passkeys on http://localhost as well
LOG_REQUESTS_PER_MINUTE = env.int("LOG_REQUESTS_PER_MINUTE", default=1200)  # per address, for files of the public log
FORMS_PER_SECOND = env.int("FORMS_PER_SECOND", default=25)  # per player or address, averaged over two seconds
# E-mails of a demo are shown at /demo/outbox/ and never sent.
vars().update(env.email_url("EMAIL_URL", default="dummymail://" if DEMO else "smtp://localhost:25"))
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="") or env.str(
    "SUPPORT_EMAIL", default="service@sabot.example"
)

# Self-exclusion registers to query before play, by jurisdiction: "SE=path.to.Register,DE=path.to.Register".
PLAYER_REGISTERS = env.dict("SABOT_REGISTERS", default={})
# Licence of a German Land for table games for real money: without one, they are not offered there. `manage.py migrate`
# stores it in the database.
LAND_LICENCE = env.str("LAND_LICENCE", default="demo" if DEMO else "")
# Identity registers that confirm who a player is, in the same form. A demo has a sandbox for all.
IDENTITY_REGISTERS = env.dict("SABOT_IDENTITY_REGISTERS", default={}) or (
    dict.fromkeys(("SE", "DK", "RO", "DE", "GB"), "players.identity.sandbox.SandboxRegister") if DEMO else {}
)
# eIDs on whose pages players say who they are, in the same form. A demo has a sandbox for all.
EIDS = env.dict("SABOT_EIDS", default={}) or (
    dict.fromkeys(("SE", "DK", "RO", "DE", "GB"), "players.identity.sandbox.SandboxEid") if DEMO else {}
)
# Lists of sanctioned and politically exposed people, as dotted paths. A demo has a sandbox.
SCREENING_LISTS = env.list("SABOT_SCREENING_LISTS", default=[]) or (
    ["players.protection.screening.SandboxList"] if DEMO else []
)
# Default interval of reality checks in minutes of play, for players who have not chosen one.
REALITY_CHECK_MINUTES = env.int("REALITY_CHECK_MINUTES", default=60)

# Seconds after its deadline at which a round of a shared table counts as stuck and the table stops.
LIVE_LATE_SECONDS = env.int("LIVE_LATE_SECONDS", default=120)

# Seconds for which players cut a new shoe of a shared table: half to bind themselves to the chance that
# they add, half to open it.
CUT_SECONDS = env.float("CUT_SECONDS", default=8.0)

# A public beacon (drand) of which a future round goes into the shuffle of each shoe that players cut; "" for
# none. The other values are those of drand's chain quicknet.
BEACON_URL = env("BEACON_URL", default="")
BEACON_CHAIN = env("BEACON_CHAIN", default="52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971")
BEACON_PUBLIC_KEY = env(
    "BEACON_PUBLIC_KEY",
    default="83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a",
)
BEACON_GENESIS = env.int("BEACON_GENESIS", default=1692803367)  # seconds since 1970
BEACON_PERIOD = env.int("BEACON_PERIOD", default=3)  # seconds
# Seconds after the cut for which a table waits for the round; then the shoe goes without it.
BEACON_SECONDS = env.float("BEACON_SECONDS", default=10.0)

# Allows visitors to watch and play a demo game with play chips, without an account. The session
# engine must keep its data on the server, because it contains the visitor's encrypted seed.
DEMO_PLAY = env.bool("SABOT_DEMO_PLAY", default=DEMO)
SESSION_ENGINE = "players.login.sessions"

# --- Language, time --------------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("sv", "Svenska"), ("da", "Dansk"), ("ro", "Română"), ("de", "Deutsch"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

SUPPORT_EMAIL = env.str("SUPPORT_EMAIL", default="service@sabot.example" if DEMO else "")  # shown on every rules page

# Operator name in the heading of reports, and the time zone in which the operator's days begin.
OPERATOR_NAME = env.str("OPERATOR_NAME", default="") or ("Sabot (demo)" if DEMO else next(iter(ALLOWED_HOSTS), ""))
OPERATOR_TIME_ZONE = env.str("OPERATOR_TIME_ZONE", default="UTC")
REPORTING_CURRENCY = env.str("REPORTING_CURRENCY", default="EUR")  # in which figures of several currencies are added
REPORT_FOLDER = env.str("REPORT_FOLDER", default="")  # where files of scheduled reports are written, "" for nowhere

# --- Static files ----------------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", default="") or VAR_DIR / "static")
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = DEMO
WHITENOISE_MAX_AGE = 0 if DEMO else 60
WHITENOISE_AUTOREFRESH = DEMO  # a file edited while a demo runs is served at once


def _keep_pictures(headers: MutableMapping[str, str], _path: str, url: str) -> None:
    """Let browsers keep the pictures of a demo: they would ask for the faces again with each card that is dealt."""
    if DEMO and url.endswith(".svg"):
        headers["Cache-Control"] = "max-age=600, public"


WHITENOISE_ADD_HEADERS_FUNCTION = _keep_pictures
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage" if DEMO else "casino.apps.StaticStorage"
    },
}

# --- Security --------------------------------------------------------------------------------------------------------

HTTPS = env.bool("HTTPS", default=not DEMO)
# exactly one proxy in front, which sets X-Forwarded-Proto and -For
TRUST_PROXY = env.bool("TRUST_PROXY", default=False)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUST_PROXY else None
ALLAUTH_TRUSTED_PROXY_COUNT = int(TRUST_PROXY)
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Browsers accept cookies with this prefix only from this host and over HTTPS, so no sibling subdomain can set them.
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"
CSRF_COOKIE_NAME = "__Host-csrftoken" if HTTPS else "csrftoken"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
SESSION_COOKIE_AGE = 12 * 3600
CSRF_FAILURE_VIEW = "casino.views.csrf_failure"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200  # the largest form has ten bets in five currencies, with two limits each
DATA_UPLOAD_MAX_NUMBER_FILES = 3
# Three documents of at most 8 MB, and the form around them. They stay in memory: a temporary file
# would be unencrypted on disk.
LARGEST_UPLOAD = 25_500_000
FILE_UPLOAD_MAX_MEMORY_SIZE = LARGEST_UPLOAD
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "media-src": [SELF],
        "connect-src": [SELF],
        "worker-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# --- Other programs --------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "players.api.schema.HouseSchema",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "EXCEPTION_HANDLER": "players.api.problems.answer_for",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Sabot",
    "DESCRIPTION": "Play, wallet and compliance for API clients. docs/api.md begins with an example.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "COMPONENT_SPLIT_REQUEST": True,
    "PATH_CONVERTER_OVERRIDES": {"mode": {"type": "string", "enum": ["real", "free"]}},
    # Allowed values are listed once, at each field.
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enum_id_removal"],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
}

# --- Payments --------------------------------------------------------------------------------------------------------

# Payment providers in the format of django-payments: {"name": ["module.Class", {…}]}, JSON. New
# deposits use the first one; the others remain for payments that began with them. See
# docs/payments.md.
SANDBOX_BANK_KEY = env.str("SANDBOX_BANK_KEY", default="") or (demo_key(VAR_DIR, "sandbox_bank_key") if DEMO else "")
# Those of PAYMENT_VARIANTS that pay by credit: they are not offered where the jurisdiction forbids credit.
PAYMENT_CREDIT_VARIANTS: list[str] = env.list("PAYMENT_CREDIT_VARIANTS", default=[])
PAYMENT_VARIANTS: dict[str, Any] = env.json("PAYMENT_VARIANTS", default={}) or (
    {"sandbox": ("wallet.payments.sandbox.SandboxBank", {"key": SANDBOX_BANK_KEY})} if DEMO else {}
)
# Pays out withdrawals: a class with the methods of wallet.payouts.Provider. Required where deposits are accepted.
PAYOUT_PROVIDER = env.str("PAYOUT_PROVIDER", default="wallet.sandbox_bank.payouts.SandboxPayouts" if DEMO else "")
# Networks other than the public Internet in which operators' servers may be (`wallet.seamless_wallet.reach`).
PARTNER_NETWORKS = env.list("PARTNER_NETWORKS", default=["127.0.0.0/8", "::1/128"] if DEMO else [])
# seconds without a notification about a payment before its state is queried
PAYMENT_ASK_SECONDS = env.int("PAYMENT_ASK_SECONDS", default=120)
PAYMENT_GIVE_UP_SECONDS = env.int("PAYMENT_GIVE_UP_SECONDS", default=1800)
PAYMENT_STUCK_SECONDS = env.int("PAYMENT_STUCK_SECONDS", default=86_400)
PAYMENT_MODEL = "wallet.Payment"
PAYMENT_USES_SSL = HTTPS
PORT = env.str("PORT", default="") or "8000"
HOUSE_HOST = f"127.0.0.1:{PORT}" if DEMO else next(iter(ALLOWED_HOSTS), "localhost")  # used where there is no request
PAYMENT_HOST = env.str("PAYMENT_HOST", default="") or HOUSE_HOST  # where providers reach this server

# --- The dealer ------------------------------------------------------------------------------------------------------

# The dealer is a separate process that draws the seeds and deals the cards; a demo has one in
# DEALER_DIR. See docs/randomness.md.
DEALER = env.str("DEALER", default="")  # the path of its Unix socket, or host:port
DEALER_DIR = VAR_DIR / "dealer" if DEMO and not DEALER else None
if DEALER_DIR:
    DEALER = str(DEALER_DIR / "socket")
DEALER_KEYS = env.list("DEALER_KEYS", default=[])  # its public keys, in hex: only their signatures are valid
# The content of the dealer's file proof.key, only for `manage.py migrate`. May contain several, separated by commas.
DEALER_PROOF_KEY = env.str("DEALER_PROOF_KEY", default="")

# --- The event log ---------------------------------------------------------------------------------------------------

# The signer of the log is a separate process; a demo has one in SIGNER_DIR. See docs/audit.md.
AUDIT_SIGNER = env.str("AUDIT_SIGNER", default="")  # its Unix socket
SIGNER_DIR = VAR_DIR / "signer" if DEMO and not AUDIT_SIGNER else None
if SIGNER_DIR:
    AUDIT_SIGNER = str(SIGNER_DIR / "socket")
RELEASE_SIGNER = env.str("RELEASE_SIGNER", default="")  # public key of releases (`ops.program`)
AUDIT_KEYS = env.str("AUDIT_KEYS", default="")  # trusted public keys, separated by commas
AUDIT_LAG_SECONDS = env.int("AUDIT_LAG_SECONDS", default=60)  # maximum age of an event that no checkpoint covers
AUDIT_CHECKPOINTS_TO = env.list("AUDIT_CHECKPOINTS_TO", default=[])
AUDIT_CHECKPOINT_SECONDS = env.int("AUDIT_CHECKPOINT_SECONDS", default=3600)
AUDIT_WITNESSES = env.list("AUDIT_WITNESSES", default=[])  # each a public key, a space, and an https address
AUDIT_WITNESS_QUORUM = env.int("AUDIT_WITNESS_QUORUM", default=len(AUDIT_WITNESSES))
AUDIT_WITNESS_SECONDS = env.int("AUDIT_WITNESS_SECONDS", default=600)

# --- Logs ------------------------------------------------------------------------------------------------------------

# Prometheus metrics at /metrics; see ops.metrics.collect. prometheus-client reads its folder from the environment.
METRICS = env.bool("METRICS", default=False)
METRICS_FROM = env.list("METRICS_FROM", default=["127.0.0.0/8", "::1/128"])
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
METRICS_LISTEN = env.str("METRICS_LISTEN", default="")  # for worker and beat: a port, or address:port
METRICS_DIR = Path(env.str("METRICS_DIR", default="") or VAR_DIR / "metrics")
if METRICS:
    METRICS_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(METRICS_DIR)
    MIDDLEWARE.insert(MIDDLEWARE.index("ops.logs.trace") + 1, "ops.metrics.collect.measure")

LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"idle_ticks": {"()": "ops.logs.IdleTickFilter"}},
    "formatters": {
        "line": {
            "()": "ops.logs.LineFormatter",
            "processor": "ext://ops.logs.renderer",
            "foreign_pre_chain": "ext://ops.logs.SHARED",
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        **{
            name: {"filters": [] if LOG_LEVEL == "DEBUG" else ["idle_ticks"]}
            for name in ("celery.beat", "celery.worker.strategy", "celery.app.trace")
        },
        # Messages of the servers use the same format as all others.
        **{name: {"handlers": [], "propagate": True} for name in ("django", "uvicorn", "uvicorn.error")},
        "uvicorn.access": {"handlers": [], "propagate": False},  # it would log paths, which contain tickets
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
}
SILENCED_SYSTEM_CHECKS: list[str] = []
