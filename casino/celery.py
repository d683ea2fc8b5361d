"""The Celery application. A message is only a hint that something may be due: the state in PostgreSQL decides."""

import os
from typing import Any, Final, Self

from ops import without

with without("yaml"):  # 1 MB for a form of messages that nobody sends
    import kombu
    from celery import Celery
    from celery.app.amqp import AMQP
    from celery.schedules import crontab

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
# Django's checks take a third of a second and touch 20 MB that a forked worker shares; `ops.checks` runs them where
# they matter.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

LONGEST_WAIT: Final = 0.5  # seconds between attempts to reach the broker
EXPIRES: Final = {"expires": 60}
"""Options of frequent tasks: messages older than a minute are dropped, so that an outage of the
workers leaves no backlog that delays shared tables.
"""


class Line(kombu.Connection):
    """Broker connection that reconnects soon after the broker is back, however long it was gone.
    Celery's own waits up to half a minute, during which every shared table waits.
    """

    def ensure_connection(self, *args: Any, **kwargs: Any) -> Self:
        """Connect, retrying at a constant interval."""
        pace = {"interval_start": LONGEST_WAIT, "interval_step": 0, "interval_max": LONGEST_WAIT}
        return super().ensure_connection(*args, **{**pace, **kwargs})


class _Lines(AMQP):
    Connection = Line


app = Celery("sabot", amqp=_Lines)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    # Each minute, all that is new. Beat cannot ask whether there is work: a change of an older leaf leaves no sign.
    "verify what is new": {"task": "audit.tasks.verify_new", "schedule": crontab(), "options": EXPIRES},
    "verify the house": {"task": "audit.tasks.verify_house", "schedule": crontab(hour="5", minute="40")},
    "keep months of events": {"task": "audit.tasks.keep_months", "schedule": crontab(minute="3,33")},
    "keep months of the ledger": {"task": "wallet.tasks.keep_months", "schedule": crontab(minute="3,33")},
    "count months of events": {"task": "audit.tasks.count_months", "schedule": crontab(hour="4", minute="50")},
    "count months of the ledger": {"task": "wallet.tasks.count_months", "schedule": crontab(hour="4", minute="55")},
    "remind of limits": {
        "task": "wallet.tasks.remind_of_limits",
        "schedule": crontab(minute="25"),
        "options": {"expires": 3600},
    },
    "return idle purses": {"task": "games.tasks.return_idle_purses", "schedule": crontab(), "options": EXPIRES},
    "verify finished rounds": {"task": "games.tasks.verify_finished_rounds", "schedule": crontab(), "options": EXPIRES},
    "publish seeds": {"task": "games.tasks.publish_seeds", "schedule": 5.0, "options": EXPIRES},
    "write letters": {"task": "games.tasks.write_letters", "schedule": crontab(), "options": EXPIRES},
    "watch returns": {"task": "games.tasks.check_returns", "schedule": crontab(minute="12,42")},
    "put versions live": {"task": "games.tasks.put_versions_live", "schedule": 5.0, "options": EXPIRES},
    "move live tables": {"task": "games.tasks.tick", "schedule": 1.0, "options": {"expires": 5}},
    "move Chemin de Fer tables": {"task": "games.tasks.tick_chemin", "schedule": 1.0, "options": {"expires": 5}},
    "send payouts": {"task": "wallet.tasks.send_payouts", "schedule": 20.0, "options": EXPIRES},
    "work at the sandbox bank": {"task": "wallet.tasks.work_at_the_sandbox_bank", "schedule": 5.0, "options": EXPIRES},
    "seal the event log": {"task": "audit.tasks.seal", "schedule": 5.0, "options": {"expires": 5}},
    "find what is significant": {
        "task": "audit.tasks.find_significant",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "mail alerts": {"task": "players.tasks.mail_alerts", "schedule": 20.0, "options": {"expires": 20}},
    "mail of approvals": {"task": "players.tasks.mail_approvals", "schedule": crontab(), "options": EXPIRES},
    "watch the seal": {"task": "audit.tasks.check_the_seal", "schedule": 10.0, "options": {"expires": 10}},
    "watch the signer": {"task": "audit.tasks.check_the_signer", "schedule": 30.0, "options": {"expires": 10}},
    "send checkpoints": {"task": "audit.tasks.send_checkpoints", "schedule": 30.0, "options": EXPIRES},
    "ask the witnesses": {"task": "audit.tasks.ask_witnesses", "schedule": 30.0, "options": EXPIRES},
    "set a mark": {"task": "audit.tasks.set_watermark", "schedule": 30.0, "options": {"expires": 10}},
    "sum up hours": {"task": "audit.tasks.sum_up", "schedule": crontab(), "options": EXPIRES},
    "scan the last day": {
        "task": "audit.tasks.scan_significant",
        "schedule": crontab(hour="5", minute="20"),
    },
    "verify the program": {"task": "ops.program.verify_program", "schedule": crontab(hour="5", minute="10")},
    "make reports": {"task": "audit.tasks.make_reports", "schedule": crontab(), "options": EXPIRES},
    "ask for daily reports": {
        "task": "audit.tasks.ask_daily_reports",
        "schedule": crontab(minute="*/10"),
        "options": EXPIRES,
    },
    "make scheduled reports": {
        "task": "players.tasks.make_scheduled_reports",
        "schedule": crontab(),
        "options": EXPIRES,
    },
    "expire approvals": {"task": "audit.tasks.expire_approvals", "schedule": crontab(), "options": EXPIRES},
    "send mail": {"task": "players.tasks.send_mail", "schedule": crontab(), "options": EXPIRES},
    "forget old tries": {"task": "players.tasks.forget_old_tries", "schedule": crontab(minute="23")},
    "forget old calls": {"task": "players.tasks.forget_old_calls", "schedule": crontab(minute="27")},
    "close accounts that are paid out": {
        "task": "accounts.tasks.finish_closing",
        "schedule": crontab(),
        "options": EXPIRES,
    },
    "let go what need not be kept": {"task": "accounts.tasks.expire", "schedule": crontab(hour="4", minute="10")},
    "test cards and shuffles": {"task": "games.tasks.check_randomness", "schedule": crontab(minute="47")},
    "look for markers of harm": {"task": "accounts.tasks.scan_harm_markers", "schedule": crontab(minute="37")},
    "tell of overdue cases": {
        "task": "players.tasks.notify_overdue_cases",
        "schedule": crontab(minute="*/10"),
        "options": EXPIRES,
    },
    "remind of documents": {
        "task": "players.tasks.remind_of_documents",
        "schedule": crontab(minute="23"),
        "options": EXPIRES,
    },
    "read screening lists": {"task": "players.tasks.read_screening_lists", "schedule": crontab(minute="*/10")},
    "end idle sessions": {"task": "players.tasks.end_idle_sessions", "schedule": crontab(), "options": EXPIRES},
    "ask about undecided payments": {
        "task": "wallet.tasks.ask_undecided_payments",
        "schedule": 15.0,
        "options": EXPIRES,
    },
    "send held deposits back": {"task": "wallet.tasks.return_held_deposits", "schedule": 15.0, "options": EXPIRES},
    "tell operators": {"task": "wallet.tasks.send_operator_messages", "schedule": 5.0, "options": {"expires": 5}},
    "announce events": {"task": "wallet.tasks.send_webhooks", "schedule": 5.0, "options": {"expires": 5}},
    "give up bets at operators": {"task": "wallet.tasks.give_up_operator_bets", "schedule": 15.0, "options": EXPIRES},
    "send the sandbox bank's messages": {"task": "wallet.tasks.send_bank_notices", "schedule": 5.0, "options": EXPIRES},
    "clear expired sessions": {
        "task": "players.tasks.clear_expired_sessions",
        "schedule": crontab(hour="4", minute="40"),
    },
}
