"""What of tables and their versions takes two people."""

from audit import approvals
from games.versions import asking, describing, executing


def ready() -> None:
    """Let it be asked for."""
    for kind, describe in (
        (asking.VERSION, describing.describe_version),
        (asking.TABLE, describing.describe_table),
    ):
        approvals.register(kind, execute=executing.execute, permission=asking.DECIDE, describe=describe)
