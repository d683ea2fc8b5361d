"""The first migrations, on an empty database in one step.

Django renders the models of the whole project again after each operation. With 160 models that takes 30 seconds of
processor time on an empty database, where rendering each model once is enough, and none if the database gets its
tables from the models as they are.
"""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from django.apps import apps
from django.apps.registry import Apps
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import Migration, RunPython
from django.db.migrations.operations import AddConstraint, AddField, AddIndex, CreateModel
from django.db.migrations.operations.fields import FieldOperation
from django.db.migrations.operations.models import IndexOperation, ModelOperation
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState, StateApps
from django.db.models import Model


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
            self.create_tables(models, schema_editor)
            schema_editor.execute(self.sql(), params=None)
            _create_what_refers(schema_editor)
        schema_editor.execute("\n".join(statements), params=None)
        return project_state

    def create_tables(self, models: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
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

    def sql(self) -> str:
        """Return the SQL file."""
        return Path(inspect.getfile(type(self))).with_suffix(".sql").read_text()

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


class RowsMigration(Migration):
    """Inserts rows by SQL, and changes no table."""


def can_build(plan: Sequence[Migration]) -> bool:
    """Return whether an empty database after *plan* has the tables of the models, and what first migrations add.

    Python of libraries' migrations converts rows, of which an empty database has none. Anything else that does not
    change a model, such as an extension or SQL next to the state, is in no model.
    """
    ours = {each.app_label for each in plan if isinstance(each, InitialMigration)}
    later = [each for each in plan if not isinstance(each, InitialMigration | RowsMigration)]
    return all(
        isinstance(operation, ModelOperation | FieldOperation | IndexOperation)
        or (isinstance(operation, RunPython) and each.app_label not in ours)
        for each in later
        for operation in each.operations
    )


def build(plan: Sequence[Migration], schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Apply *plan* to an empty database, in a transaction, by way of the models as they are."""
    initial = [each for each in plan if isinstance(each, InitialMigration)]
    with _collect(schema_editor) as statements:
        for model in _other_models(plan, schema_editor.connection):
            schema_editor.create_model(model)
        for each in initial:
            each.create_tables(apps, schema_editor)
            schema_editor.execute(each.sql(), params=None)
        _create_what_refers(schema_editor)
    schema_editor.execute("\n".join(statements), params=None)
    for migration in plan:
        if isinstance(migration, RowsMigration):
            migration.apply(ProjectState(), schema_editor)
    recorder = MigrationRecorder(schema_editor.connection)
    recorder.ensure_schema()  # a first migration that was given up may have left the table, without rows
    recorder.migration_qs.bulk_create(recorder.Migration(app=each.app_label, name=each.name) for each in plan)


def _other_models(plan: Sequence[Migration], connection: BaseDatabaseWrapper) -> Iterator[type[Model]]:
    """Yield the models that no initial migration creates: those of libraries, and the user."""
    created = {
        apps.get_model(each.app_label, operation.name)
        for each in plan
        if isinstance(each, InitialMigration)
        for operation in each.operations
        if isinstance(operation, CreateModel)
    }
    for label in dict.fromkeys(each.app_label for each in plan):
        for model in apps.get_app_config(label).get_models():
            if model not in created and model._meta.can_migrate(connection):
                yield model


def _create_what_refers(schema_editor: BaseDatabaseSchemaEditor) -> None:
    for statement in schema_editor.deferred_sql:  # indexes and foreign keys
        schema_editor.execute(statement, params=None)
    schema_editor.deferred_sql.clear()


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
