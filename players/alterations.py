"""Texts for the alterations report: events that change accounts, limits, exclusions and identity."""

from audit.reports.alterations import Change, Data, added, became, changed, register, said


def ready() -> None:
    """Register the events of this app with the report of events and alterations."""
    register(
        "Accounts",
        {
            "player.registered": ("Player registered", added("jurisdiction", "currency", "terms")),
            "terms.agreed": ("Terms accepted", became(None, "terms")),
            "staff.employed": ("Staff account created", _employed),
            "staff.roles_changed": ("Staff roles changed", said),
            "staff.disabled": ("Staff account disabled", said),
            "staff.enabled": ("Staff account enabled", said),
            "staff.factors_reset": ("Staff second factors reset", said),
            "account.closing": ("Account closure started", changed("open", "closing")),
            "account.locked": ("Account locked", changed("open", "locked")),
            "account.unlocked": ("Account unlocked", changed("locked", "open")),
            "account.closed": ("Account closed", changed("closing", "closed")),
            "account.let_in": ("Closed account allowed to log in", changed("closed", "closed, may log in")),
            "login.unlocked": ("Log-in unlocked", changed("locked", "open", reason="by")),
            "password.changed": ("Password changed", changed("another password", "a password")),
            "password.reset": ("Password reset", changed("another password", "a password")),
            "address.changed": ("E-mail address changed", changed("another address", "an address")),
            "authenticator.added": ("Authenticator app added", changed(None, "an authenticator app")),
            "authenticator.removed": ("Authenticator app removed", changed("an authenticator app", None)),
            "passkey.added": ("Passkey added", changed(None, "a passkey")),
            "passkey.removed": ("Passkey removed", changed("a passkey", None)),
            "recovery_codes.made": ("Recovery codes generated", changed("other codes", "codes")),
            "token.made": ("API token created", added("token", "scopes", "days")),
            "staff.token_made": ("Staff API token created", added("token", "scopes", "days")),
            "token.revoked": ("API token revoked", changed("holds", "revoked")),
            "service.forgotten": ("Conversation deleted by retention", added("conversation", "topic")),
        },
    )
    register(
        "KYC",
        {
            "identity.submitted": ("Identity documents submitted", added("submission", "document", "parts")),
            "identity.verified": ("Identity verified", changed("submitted", "verified")),
            "identity.refused": ("Identity refused", changed("submitted", "refused")),
            "duplicate.resolved": ("Possible duplicate resolved", became("open", "resolution")),
        },
    )
    register(
        "Limits",
        {
            "limits.changed": ("Limit set, changed or removed", _limit),
            "limits.withdrawn": ("Pending limit change withdrawn", _limit),
            "limits.declined": ("Limit offer declined", changed("offered", "declined")),
            "reality_check.chosen": ("Reality check interval", _interval),
        },
    )
    register(
        "Exclusions",
        {
            "player.excluded": ("Player excluded or paused", added("kind", "begun", "until")),
            "exclusion.lifted": ("Exclusion lifted", _lifted),
        },
    )
    register("Markers of harm", {"marker.closed": ("Marker closed", became("open", "outcome"))})


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
