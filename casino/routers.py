"""Only the owner of the tables may migrate them; everything else runs on the login role."""


class OwnerMigrates:
    """Database router: migrations on the alias ``owner`` alone."""

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool:
        """Say whether *db* may be migrated."""
        return db == "owner"
