"""Settings, all from the environment.

Two ways to run. *Demo* (``SABOT_DEMO=1``, implied where no ``DATABASE_URL`` is set): keys are made once and kept in
``var/``, PostgreSQL and the broker are embedded unless configured, demo players exist. *Production* (everything
else): every secret and address must be given, and `ops.checks` refuses to start where one is missing or weak.
"""

import os
from pathlib import Path
from typing import Any

import environ
from csp.constants import NONCE, NONE, SELF
from kombu import Queue

from backoffice.lists.theme import UNFOLD as UNFOLD  # the lists of the back office
from casino.keys import demo_key
from ops import embedded
from ops.environment import Environment

env = Environment()

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.str("SABOT_VAR", default=str(BASE_DIR / "var"))).resolve()

EMBEDDED = not env.str("DATABASE_URL", default="")
DEMO = env.bool("SABOT_DEMO", default=EMBEDDED)
DEBUG = env.bool("DEBUG", default=False)

SECRET_KEY = env.str("SECRET_KEY", default="") or (demo_key(VAR_DIR, "secret_key") if DEMO else "")
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])  # earlier ones: what they signed still holds
# Unspent seeds are encrypted with this key, which the database never sees: 32 bytes, URL-safe base64. Each of these
# three may name several, separated by commas: the first one encrypts, all of them decrypt (`players.key_rotation`).
SEED_KEY = env.str("SEED_KEY", default="") or (demo_key(VAR_DIR, "seed_key") if DEMO else "")
# What players send in to show who they are is encrypted with keys derived from this one, of the same make.
DOCUMENT_KEY = env.str("DOCUMENT_KEY", default="") or (demo_key(VAR_DIR, "document_key") if DEMO else "")
# The secrets that the house shares with partners of the seamless wallet are encrypted with this one, of the same make.
PARTNER_KEY = env.str("PARTNER_KEY", default="") or (demo_key(VAR_DIR, "partner_key") if DEMO else "")

# Public keys of age for which backups are encrypted (`ops.backup.encrypting`).
BACKUP_RECIPIENTS = env.list("BACKUP_RECIPIENTS", default=[])

ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"] if DEMO else [])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

# --- Applications ----------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "casino",
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
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "casino.static_files.StaticFiles",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "unfold.apps.BasicAppConfig",
    "django.contrib.admin.apps.SimpleAdminConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "casino.middleware.guard_all",
    "django.middleware.gzip.GZipMiddleware",  # pages, and files in a demo; a production house has its files compressed
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "ops.tracing.trace",  # pages and calls; a file that is served writes no line
    "casino.middleware.keep_nothing",
    "casino.middleware.refuse_garbled",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "players.middleware.SessionTime",
    "players.middleware.show_local_time",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
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
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "casino.context.house",
            ],
        },
    },
]

# Processes that share the port, each with WEB_THREADS threads: Python computes in one thread of a process at a time.
WEB_PROCESSES = env.int("WEB_PROCESSES", default=1 if DEMO else len(os.sched_getaffinity(0)))
WEB_THREADS = env.int("WEB_THREADS", default=16)
# Seconds that a web process which is told to stop serves on, as not ready, until whoever sends requests has noticed.
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


# A database's machine that is gone answers nothing: then a connection fails after some ten seconds, and not after as
# long as the kernel tries. An address may say otherwise: ?connect_timeout=2.
_PATIENCE = {"connect_timeout": 5, "keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3} | {
    "tcp_user_timeout": 11_000
}


def _database(url: str, **options: object) -> dict[str, object]:
    """One alias: server-side binding and prepared statements made the ORM 1.2 to 1.8 times faster when measured."""
    config: dict[str, Any] = dict(environ.Env.db_url_config(url)) if url else {"NAME": ""}
    return config | {
        "ENGINE": "ops.postgresql",
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": _PATIENCE
        | options
        | config.get("OPTIONS", {})
        | {"server_side_binding": True, "prepare_threshold": 3},
    }


# "default" is the role that web and workers log in with; "owner" owns the tables and runs migrations. Both are one
# database.
DATABASES = {"default": _database(DATABASE_URL), "owner": _database(DATABASE_OWNER_URL)}
# A streaming replica that answers what the lobby shows and what reports say; see audit.replica.
REPLICA_URL = env.str("REPLICA_URL", default="")
REPLICA_LAG_SECONDS = env.float("REPLICA_LAG_SECONDS", default=5.0)  # behind, and the primary answers
if REPLICA_URL:
    DATABASES["replica"] = _database(
        REPLICA_URL,
        connect_timeout=2,
        tcp_user_timeout=2000,
        application_name="sabot replica",
        options="-c default_transaction_read_only=on",
    ) | {"CONN_HEALTH_CHECKS": False}  # what fails is asked of the primary
DATABASE_ROUTERS = ["casino.routers.OwnerMigrates"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": CACHE_URL}
    if CACHE_URL
    else {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}
}

CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 300,
    "polling_interval": 10,  # seconds for which a worker waits for a message before it asks again
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
# What seals goes by a queue of its own, so that one worker alone need reach the signer. One that is told of no queue
# takes both.
CELERY_TASK_QUEUES = [Queue("celery"), Queue("seal")]
CELERY_TASK_DEFAULT_QUEUE = "celery"
CELERY_TASK_ROUTES = {"audit.tasks.seal": "seal", "audit.tasks.watch_the_signer": "seal"}

# --- People ----------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "players.User"
AUTHENTICATION_BACKENDS = ["players.login.backend.HouseBackend"]
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
    "confirm_email_verification_code": "players.login.account_forms.ConfirmAddressForm",
    "add_email": "players.login.account_forms.NewAddressForm",
    "change_password": "players.login.account_forms.ChangePasswordForm",
    "reset_password": "players.login.account_forms.ForgottenPasswordForm",
    "confirm_password_reset_code": "players.login.account_forms.ConfirmResetForm",
    "reset_password_from_key": "players.login.account_forms.NewPasswordForm",
    "reauthenticate": "players.login.account_forms.ReauthenticateForm",
}
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
ACCOUNT_EMAIL_VERIFICATION_SUPPORTS_RESEND = True
ACCOUNT_PASSWORD_RESET_BY_CODE_ENABLED = True
ACCOUNT_PASSWORD_RESET_BY_CODE_TIMEOUT = 15 * 60
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_PRESERVE_USERNAME_CASING = False
ACCOUNT_ADAPTER = "accounts.logout.HouseAdapter"
# Wrong passwords of one name are counted in the database (`players.login.locks`); "login_failed" counts wrong second
# factors.
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "5/5m/key",
    "password_failed": "20/5m/ip",
    "signup": "20/m/ip",
    "unlock": "20/m/ip",
    # Mails with a code to one address, whoever asks for them: who registers with somebody else's mails them, too.
    "confirm_email": "1/10s/key,5/h/key",
    "code": "6/15m/key",  # tries of the codes mailed to one address, whichever session they come from
    "reset_password": "20/m/ip,3/5m/key",
}
ACCOUNT_SESSION_REMEMBER = False
PLAYER_IDLE_SECONDS = env.int("PLAYER_IDLE_SECONDS", default=9 * 60)  # without an action: then a session ends
STAFF_IDLE_SECONDS = env.int("STAFF_IDLE_SECONDS", default=30 * 60)
MFA_ADAPTER = "players.login.second_factor.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "players.login.second_factor_forms.AuthenticateForm",
    "reauthenticate": "players.login.second_factor_forms.ReauthenticateForm",
    "activate_totp": "players.login.second_factor_forms.ActivateForm",
    "add_webauthn": "players.login.second_factor_forms.AddPasskeyForm",
    "edit_webauthn": "players.login.second_factor_forms.RenamePasskeyForm",
}
MFA_TOTP_TOLERANCE = 1  # steps of half a minute; no code counts twice all the same
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # nobody is logged in whose address is not verified
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = DEMO  # browsers give passkeys to http://localhost as well
FORMS_PER_SECOND = env.int("FORMS_PER_SECOND", default=25)  # of a player, or an address, over two seconds
# What a demo house writes is read at /demo/outbox/ and leaves it for nowhere.
vars().update(env.email_url("EMAIL_URL", default="dummymail://" if DEMO else "smtp://localhost:25"))
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="") or env.str(
    "SUPPORT_EMAIL", default="service@sabot.example"
)

# Registers of excluded people that are asked before play, by jurisdiction: "SE=path.to.Register,DE=path.to.Register".
PLAYER_REGISTERS = env.dict("SABOT_REGISTERS", default={})
# Minutes of play after which a player is told of time and money spent, where they have chosen no interval themselves.
REALITY_CHECK_MINUTES = env.int("REALITY_CHECK_MINUTES", default=60)

# How long after its deadline a round of a shared table counts as standing still: then the table stops.
LIVE_LATE_SECONDS = env.int("LIVE_LATE_SECONDS", default=120)

# Whether a visitor may watch and play with play chips, without an account. The session engine is one that keeps what it
# knows on the server: a guest's sealed seed lies there.
GUEST_PLAY = env.bool("SABOT_GUEST_PLAY", default=DEMO)
SESSION_ENGINE = "players.login.session_store"

# --- Language, time --------------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("sv", "Svenska"), ("da", "Dansk"), ("ro", "Română"), ("de", "Deutsch"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

SUPPORT_EMAIL = env.str("SUPPORT_EMAIL", default="service@sabot.example" if DEMO else "")  # shown on every rules page

# Who runs the house, as reports are headed, and the clocks by which its own days begin.
OPERATOR_NAME = env.str("OPERATOR_NAME", default="") or ("Sabot (demo)" if DEMO else next(iter(ALLOWED_HOSTS), ""))
OPERATOR_TIME_ZONE = env.str("OPERATOR_TIME_ZONE", default="UTC")

# --- Static files ----------------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", default="") or VAR_DIR / "static")
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = DEMO
WHITENOISE_MAX_AGE = 0 if DEMO else 60
WHITENOISE_AUTOREFRESH = DEMO  # a file edited under a running demo house is served as it is now
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEMO
        else "casino.static_files.StaticStorage"
    },
}

# --- Security --------------------------------------------------------------------------------------------------------

HTTPS = env.bool("HTTPS", default=not DEMO)
TRUST_PROXY = env.bool("TRUST_PROXY", default=False)  # one proxy in front, which sets X-Forwarded-Proto and -For
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
# A browser takes a cookie of this prefix from this host alone, and over HTTPS: no neighbour's subdomain can plant one.
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"
CSRF_COOKIE_NAME = "__Host-csrftoken" if HTTPS else "csrftoken"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
SESSION_COOKIE_AGE = 12 * 3600
CSRF_FAILURE_VIEW = "casino.views.csrf_failure"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200  # ten bets in five currencies, each with two ends, are the largest form
DATA_UPLOAD_MAX_NUMBER_FILES = 3
# Three documents of at most 8 MB, and the form around them. They stay in memory: a temporary file would lie on the disk
# unencrypted.
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
    "DESCRIPTION": "Play, wallet and compliance for other programs. docs/api.md begins with an example.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": [],
    "COMPONENT_SPLIT_REQUEST": True,
    "PATH_CONVERTER_OVERRIDES": {"mode": {"type": "string", "enum": ["real", "free"]}},
    # What may be said stands with each field, once.
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enum_id_removal"],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
}

# --- Payments --------------------------------------------------------------------------------------------------------

# Which providers there are, as django-payments has it: {"name": ["module.Class", {…}]}, JSON. New deposits go through
# the first one; the others are there for what was begun with them. See docs/payments.md.
SANDBOX_BANK_KEY = env.str("SANDBOX_BANK_KEY", default="") or (demo_key(VAR_DIR, "sandbox_bank_key") if DEMO else "")
PAYMENT_VARIANTS: dict[str, Any] = env.json("PAYMENT_VARIANTS", default={}) or (
    {"sandbox": ("wallet.payments.sandbox.SandboxBank", {"key": SANDBOX_BANK_KEY})} if DEMO else {}
)
# What pays withdrawals out: a class with the methods of wallet.payouts.Provider. A house that takes deposits needs one.
PAYOUT_PROVIDER = env.str("PAYOUT_PROVIDER", default="wallet.sandbox_bank.payouts.SandboxPayouts" if DEMO else "")
# Where operators whose players play here may be besides the public network (`wallet.seamless_wallet.reach`).
PARTNER_NETWORKS = env.list("PARTNER_NETWORKS", default=["127.0.0.0/8", "::1/128"] if DEMO else [])
PAYMENT_ASK_SECONDS = env.int("PAYMENT_ASK_SECONDS", default=120)  # how long nothing is heard before the house asks
PAYMENT_GIVE_UP_SECONDS = env.int("PAYMENT_GIVE_UP_SECONDS", default=1800)
PAYMENT_MODEL = "wallet.Payment"
PAYMENT_USES_SSL = HTTPS
PORT = env.str("PORT", default="") or "8000"
HOUSE_HOST = f"127.0.0.1:{PORT}" if DEMO else next(iter(ALLOWED_HOSTS), "localhost")  # where no request says it
PAYMENT_HOST = env.str("PAYMENT_HOST", default="") or HOUSE_HOST  # where providers reach the house

# --- The event log ---------------------------------------------------------------------------------------------------

# The signer of the log is a process of its own; a demo house has one in SIGNER_DIR. See docs/audit.md.
AUDIT_SIGNER = env.str("AUDIT_SIGNER", default="")  # its unix socket
SIGNER_DIR = VAR_DIR / "signer" if DEMO and not AUDIT_SIGNER else None
if SIGNER_DIR:
    AUDIT_SIGNER = str(SIGNER_DIR / "socket")
AUDIT_KEYS = env.str("AUDIT_KEYS", default="")  # whose signatures are believed, separated by commas
AUDIT_LAG_SECONDS = env.int("AUDIT_LAG_SECONDS", default=60)  # how old an event may be that no checkpoint covers
AUDIT_CHECKPOINTS_TO = env.list("AUDIT_CHECKPOINTS_TO", default=[])
AUDIT_CHECKPOINT_SECONDS = env.int("AUDIT_CHECKPOINT_SECONDS", default=3600)

# --- Logs ------------------------------------------------------------------------------------------------------------

# What Prometheus reads at /metrics; see ops.metrics.collect. Prometheus-client reads its folder from the environment.
METRICS = env.bool("METRICS", default=False)
METRICS_FROM = env.list("METRICS_FROM", default=["127.0.0.0/8", "::1/128"])
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
METRICS_LISTEN = env.str("METRICS_LISTEN", default="")  # of worker and beat: a port, or address:port
METRICS_DIR = Path(env.str("METRICS_DIR", default="") or VAR_DIR / "metrics")
if METRICS:
    METRICS_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(METRICS_DIR)
    MIDDLEWARE.insert(MIDDLEWARE.index("ops.tracing.trace") + 1, "ops.metrics.collect.measure")

LOG_LEVEL = env.str("LOG_LEVEL", default="INFO")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"news": {"()": "ops.logs.News"}},
    "formatters": {
        "line": {
            "()": "structlog.stdlib.ProcessorFormatter",
            "processor": "ext://ops.logs.renderer",
            "foreign_pre_chain": "ext://ops.logs.SHARED",
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        **{
            name: {"filters": [] if LOG_LEVEL == "DEBUG" else ["news"]}
            for name in ("celery.beat", "celery.worker.strategy", "celery.app.trace")
        },
        # What the servers say of themselves comes in lines as everything else does.
        **{name: {"handlers": [], "propagate": True} for name in ("django", "uvicorn", "uvicorn.error")},
        "uvicorn.access": {"handlers": [], "propagate": False},  # it would write paths, with tickets in them
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
}
SILENCED_SYSTEM_CHECKS: list[str] = []
