"""Texts for the alterations report: events that change accounts, limits, exclusions and identity."""

from audit.reports.alterations import Change, Data, added, became, moved, register, said


def ready() -> None:
    """Register the events of this app with the report of events and alterations."""
    register(
        "Accounts",
        {
            "player.registered": ("A player registered", added("jurisdiction", "currency", "terms")),
            "terms.agreed": ("A player agreed to terms", became(None, "terms")),
            "staff.employed": ("Somebody was given a staff account", _employed),
            "staff.roles_changed": ("A member of staff was given other roles", said),
            "staff.disabled": ("An account of staff was disabled", said),
            "staff.enabled": ("An account of staff was enabled", said),
            "staff.factors_reset": ("The second factors of a member of staff were reset", said),
            "account.closing": ("An account is being closed", moved("open", "closing")),
            "account.locked": ("An account was locked", moved("open", "locked")),
            "account.unlocked": ("A locked account was opened", moved("locked", "open")),
            "account.closed": ("An account was closed", moved("closing", "closed")),
            "account.let_in": ("The owner of a closed account was let in", moved("closed", "closed, may log in")),
            "login.unlocked": ("The lock of a log-in was opened", moved("locked", "open", reason="by")),
            "password.changed": ("A password was changed", moved("another password", "a password")),
            "password.reset": ("A password was set anew", moved("another password", "a password")),
            "address.changed": ("An e-mail address was changed", moved("another address", "an address")),
            "authenticator.added": ("An authenticator app was set up", moved(None, "an authenticator app")),
            "authenticator.removed": ("An authenticator app was removed", moved("an authenticator app", None)),
            "passkey.added": ("A passkey was added", moved(None, "a passkey")),
            "passkey.removed": ("A passkey was removed", moved("a passkey", None)),
            "recovery_codes.made": ("New recovery codes were made", moved("other codes", "codes")),
            "token.made": ("A token for a program was made", added("token", "scopes", "days")),
            "staff.token_made": ("Somebody of staff made a token for a program", added("token", "scopes", "days")),
            "token.revoked": ("A token for a program was revoked", moved("holds", "revoked")),
            "service.forgotten": ("A conversation was deleted after its time", added("conversation", "topic")),
        },
    )
    register(
        "Identity",
        {
            "identity.submitted": ("A player sent in who they are", added("submission", "document", "parts")),
            "identity.verified": ("Who a player is was confirmed", moved("submitted", "verified")),
            "identity.refused": ("Who a player is was not confirmed", moved("submitted", "refused")),
            "duplicate.resolved": ("It was decided whether two players are one", became("open", "resolution")),
        },
    )
    register(
        "Limits",
        {
            "limits.changed": ("A limit was set, changed or removed", _limit),
            "limits.withdrawn": ("A waiting change of a limit was withdrawn", _limit),
            "limits.declined": ("Limits were offered and declined", moved("offered", "declined")),
            "reality_check.chosen": ("How often a player is told of time and money", _interval),
        },
    )
    register(
        "Exclusions",
        {
            "player.excluded": ("A player was excluded or takes a pause", added("kind", "begun", "until")),
            "exclusion.lifted": ("An exclusion was lifted", _lifted),
        },
    )
    register("Markers of harm", {"marker.closed": ("A flag was closed", became("open", "outcome"))})


def _limit(data: Data) -> Change:
    change = said(data)
    which = {name: data.get(name) for name in ("source", "kind", "period")}
    after = which | {"limit": _or_none(change.after), "from": data.get("effective_at")}
    return Change(which | {"limit": _or_none(change.before)}, after, change.reason)


def _or_none(limit: object) -> str:
    return "none" if limit is None else str(limit)


def _interval(data: Data) -> Change:
    return Change({"minutes": data.get("minutes_before")}, {"minutes": data.get("minutes")})


def _employed(data: Data) -> Change:
    now = {"roles": data.get("roles"), "person": data.get("person")}
    return Change(None, now, str(data.get("reason", "")), str(data.get("asked_by", "")))


def _lifted(data: Data) -> Change:
    number = {"exclusion": data.get("exclusion")}
    return Change(number, None, str(data.get("reason", "")), str(data.get("asked_by", "")))
