"""The Celery application. A message is only a hint that something is due: PostgreSQL decides."""

import os

from celery import Celery
from celery.schedules import crontab

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")

app = Celery("sabot")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    "verify the ledger": {"task": "wallet.tasks.verify_ledger", "schedule": crontab(minute="17")},
    "return idle purses": {"task": "games.tasks.return_idle_purses", "schedule": crontab()},
    "replay finished rounds": {"task": "games.tasks.replay_finished_rounds", "schedule": crontab()},
    "expire approvals": {"task": "audit.tasks.expire_approvals", "schedule": crontab()},
    "send mail": {"task": "players.tasks.send_mail", "schedule": crontab()},
    "clear expired sessions": {
        "task": "players.tasks.clear_expired_sessions",
        "schedule": crontab(hour="4", minute="40"),
    },
}
