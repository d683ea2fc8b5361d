"""Texts for the events of games in the report of alterations: tables, rules, voided rounds,
chat.
"""

from dataclasses import replace

from audit.reports.alterations import Change, Data, added, became, moved, register, said


def ready() -> None:
    """Register the event kinds of games with the report of significant events and alterations."""
    register(
        "Tables",
        {
            "table.opened": ("A table was opened", moved("closed", "open")),
            "table.paused": ("A table was paused", moved("open", "paused")),
            "table.went_on": ("A table that paused goes on", moved("paused", "open")),
            "table.closed": ("A table was closed", _closed),
            "table.version": ("Rules, limits or pace of a table", _version),
            "table.scheduled": ("Rules, limits or pace of a table wait for their time", _scheduled),
            "table.schedule_withdrawn": ("What waited for its time was withdrawn", moved("waiting", "withdrawn")),
            "table.schedule_failed": ("What waited for its time could not be done", moved("waiting", "failed")),
            "rules.kept": ("The program has other rules of a game", said),
            "table.chat_language": ("The language of a table’s chat", said),
            "table.reopened": ("A stopped table goes on", moved("stopped", "in play")),
            "table.broken_up": ("The guests of a table were sent home", became("in play", "guests")),
            "incident.opened": ("Play stopped because of an incident", _incident),
            "incident.ruled": ("An incident was ruled on", became("awaits a ruling", "ruling")),
        },
    )
    register(
        "Rounds",
        {
            "round.cancelled": ("A round was cancelled before its deal", _cancelled),
            "round.voided": ("A round was annulled", _voided),
        },
    )
    register(
        "Chat",
        {
            "chat.named": ("A player took a name for the chat", moved(None, None)),
            "chat.name_taken": ("A name in the chat was taken away", moved("in use", "taken away")),
            "chat.removed": ("A message was removed", moved("in view", "removed")),
            "chat.kept": ("A reported message was left", moved("reported", "in view")),
            "chat.banned": (
                "A player may not write in chats, or in that of one table",
                added("ban", "length", "live_table"),
            ),
            "chat.ban_lifted": ("A player may write in chats again", _ban_lifted),
        },
    )
    register("Returns", {"returns.stop_policy": ("Whether an alarm closes tables", said)})
    register("Reports of guests", {"play.report_decided": ("A report of play was decided", became("open", "finding"))})


def _version(data: Data) -> Change:
    return replace(said(data), asked_by=str(data.get("asked_by", "")))


def _closed(data: Data) -> Change:
    return Change(data.get("before", "open"), "closed", str(data.get("reason", "")))


def _scheduled(data: Data) -> Change:
    return Change("asked for", {"due": data.get("due")}, str(data.get("reason", "")), str(data.get("asked_by", "")))


def _incident(data: Data) -> Change:
    parts = {name: data.get(name) for name in ("incident", "kind", "done")}
    return Change("in play", parts, str(data.get("cause", "")))


def _voided(data: Data) -> Change:
    parts = {name: data.get(name) for name in ("cards", "count", "sha256")}
    return Change(
        "played" if data.get("cards") else "not dealt", {"annulled": True} | parts, str(data.get("reason", ""))
    )


def _ban_lifted(data: Data) -> Change:
    return Change({"ban": data.get("ban")}, None)


def _cancelled(data: Data) -> Change:
    return Change(data.get("phase"), "cancelled", str(data.get("reason", "")))
