"""Texts for the events of games in the report of alterations: tables, rules, voided rounds,
chat.
"""

from dataclasses import replace

from audit.reports.alterations import Change, Data, added, became, changed, register, said


def ready() -> None:
    """Register the event kinds of games with the report of significant events and alterations."""
    register(
        "Tables",
        {
            "table.opened": ("Table opened", changed("closed", "open")),
            "table.paused": ("Table paused", changed("open", "paused")),
            "table.went_on": ("Table resumed after a pause", changed("paused", "open")),
            "table.closed": ("Table closed", _closed),
            "table.version": ("Rules, limits or timing of a table", _version),
            "table.scheduled": ("Rules, limits or timing of a table scheduled", _scheduled),
            "table.schedule_withdrawn": ("Scheduled change withdrawn", changed("waiting", "withdrawn")),
            "table.schedule_failed": ("Scheduled change failed", changed("waiting", "failed")),
            "rules.stored": ("Game rules changed with a release", said),
            "table.chat_language": ("Chat language of a table", said),
            "table.reopened": ("Table resumed after a stop", changed("stopped", "in play")),
            "table.broken_up": ("Table broken up", became("in play", "players")),
            "incident.opened": ("Table stopped by an incident", _incident),
            "incident.ruled": ("Ruling on an incident", became("awaits a ruling", "ruling")),
        },
    )
    register(
        "Rounds",
        {
            "round.cancelled": ("Round cancelled before the deal", _cancelled),
            "round.voided": ("Round voided", _voided),
        },
    )
    register(
        "Chat",
        {
            "chat.named": ("Chat name chosen", changed(None, None)),
            "chat.name_taken": ("Chat name removed", changed("in use", "removed")),
            "chat.removed": ("Chat message removed", changed("visible", "removed")),
            "chat.retained": ("Reported chat message kept", changed("reported", "visible")),
            "chat.banned": (
                "Chat ban, all tables or one table",
                added("ban", "length", "live_table"),
            ),
            "chat.ban_lifted": ("Chat ban lifted", _ban_lifted),
        },
    )
    register("RTP", {"returns.stop_policy": ("Effect of RTP alarms", said)})
    register("Collusion reports", {"play.report_decided": ("Collusion report decided", became("open", "finding"))})


def _version(data: Data) -> Change:
    return replace(said(data), asked_by=str(data.get("asked_by", "")))


def _closed(data: Data) -> Change:
    return Change(data.get("before", "open"), "closed", str(data.get("reason", "")))


def _scheduled(data: Data) -> Change:
    return Change("requested", {"due": data.get("due")}, str(data.get("reason", "")), str(data.get("asked_by", "")))


def _incident(data: Data) -> Change:
    parts = {name: data.get(name) for name in ("incident", "kind", "done")}
    return Change("in play", parts, str(data.get("cause", "")))


def _voided(data: Data) -> Change:
    parts = {name: data.get(name) for name in ("cards", "count", "sha256")}
    return Change("played" if data.get("cards") else "not dealt", {"voided": True} | parts, str(data.get("reason", "")))


def _ban_lifted(data: Data) -> Change:
    return Change({"ban": data.get("ban")}, None)


def _cancelled(data: Data) -> Change:
    return Change(data.get("phase"), "cancelled", str(data.get("reason", "")))
