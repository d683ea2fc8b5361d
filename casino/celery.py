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
    "move live tables": {"task": "games.tasks.tick", "schedule": 1.0, "options": {"expires": 5}},
    "send payouts": {"task": "wallet.tasks.send_payouts", "schedule": 20.0},
    "work at the sandbox bank": {"task": "wallet.tasks.work_at_the_sandbox_bank", "schedule": 5.0},
    "expire approvals": {"task": "audit.tasks.expire_approvals", "schedule": crontab()},
    "send mail": {"task": "players.tasks.send_mail", "schedule": crontab()},
    "forget old tries": {"task": "players.tasks.forget_old_tries", "schedule": crontab(minute="23")},
    "close accounts that are paid out": {"task": "casino.tasks.finish_closing", "schedule": crontab()},
    "forget whose closed accounts were": {"task": "casino.tasks.erase_due", "schedule": crontab(hour="4", minute="10")},
    "look for markers of harm": {"task": "casino.tasks.look_for_markers", "schedule": crontab(minute="37")},
    "end idle sessions": {"task": "players.tasks.end_idle_sessions", "schedule": crontab()},
    "ask about undecided payments": {"task": "wallet.tasks.ask_undecided_payments", "schedule": 15.0},
    "send the sandbox bank's messages": {"task": "wallet.tasks.send_bank_notices", "schedule": 5.0},
    "forget old conversations": {
        "task": "players.tasks.forget_old_conversations",
        "schedule": crontab(hour="4", minute="50"),
    },
    "clear expired sessions": {
        "task": "players.tasks.clear_expired_sessions",
        "schedule": crontab(hour="4", minute="40"),
    },
}
