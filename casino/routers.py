"""Database router: only the owner of the tables may migrate them; everything else uses the login role."""


class OwnerMigrates:
    """Allows migrations on the alias ``owner`` only."""

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool:
        """Return whether *db* may be migrated."""
        return db == "owner"
