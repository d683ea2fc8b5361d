"""The first migration of an app, applied in one step.

Django renders the models of the whole project again after each operation. With 160 models that takes 30 seconds of
processor time on an empty database, where rendering each model once is enough.
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import Migration
from django.db.migrations.operations import AddConstraint, AddField, AddIndex, CreateModel
from django.db.migrations.state import ProjectState, StateApps


class InitialMigration(Migration):
    """Creates the tables of all models, then runs the SQL file next to the migration, for what Django cannot declare.

    The tables are created as they are after the last operation: `AddField`, `AddIndex` and `AddConstraint`, which close
    cycles between models, are part of them.
    """

    initial = True
    partitioned: ClassVar[dict[str, str]] = {}
    """The models whose tables are kept by months, each with the column by whose range they are partitioned."""

    def apply(
        self, project_state: ProjectState, schema_editor: BaseDatabaseSchemaEditor, collect_sql: bool = False
    ) -> ProjectState:
        """Apply the migration and return the state after it."""
        models = self._render(project_state)
        with _collect(schema_editor) as statements:
            self._create_tables(models, schema_editor)
            schema_editor.execute(Path(inspect.getfile(type(self))).with_suffix(".sql").read_text(), params=None)
            for statement in schema_editor.deferred_sql:  # indexes and foreign keys
                schema_editor.execute(statement, params=None)
            schema_editor.deferred_sql.clear()
        schema_editor.execute("\n".join(statements), params=None)
        return project_state

    def _create_tables(self, models: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
        """Create the tables of all models. Raises TypeError for an operation that does not belong here."""
        create_table = schema_editor.sql_create_table
        for operation in self.operations:
            if isinstance(operation, CreateModel):
                if not operation.options.get("managed", True):
                    continue  # a view, which the SQL file creates
                if key := self.partitioned.get(operation.name):
                    schema_editor.sql_create_table = f"{create_table} PARTITION BY RANGE ({key})"
                schema_editor.create_model(models.get_model(self.app_label, operation.name))
                schema_editor.sql_create_table = create_table
            elif not isinstance(operation, AddField | AddIndex | AddConstraint):
                raise TypeError(f"{self}: {operation.describe()} belongs into a later migration")

    def _render(self, project_state: ProjectState) -> StateApps:
        """Apply the operations to the state and render the models of this app; those of others stay as they are."""
        project_state.clear_delayed_apps_cache()
        rendered = project_state.apps
        project_state.is_delayed = False  # few models were rendered again here; at the end all would be
        del project_state.__dict__["apps"]  # Django would render after each operation
        for operation in self.operations:
            operation.state_forwards(self.app_label, project_state)
        rendered.render_multiple([state for (app, _), state in project_state.models.items() if app == self.app_label])
        project_state.__dict__["apps"] = rendered
        return rendered


@contextmanager
def _collect(schema_editor: BaseDatabaseSchemaEditor) -> Iterator[list[str]]:
    """Yield a list to which the statements go that *schema_editor* would execute: some 180 for each app, which are
    sent as one.
    """
    collects, before = schema_editor.collect_sql, getattr(schema_editor, "collected_sql", [])
    statements: list[str] = []
    schema_editor.collect_sql, schema_editor.collected_sql = True, statements
    try:
        yield statements
    finally:
        schema_editor.collect_sql, schema_editor.collected_sql = collects, before
