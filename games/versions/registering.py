"""What of tables and their versions takes two people."""

from audit import approvals
from games.versions import asking, describing, executing


def ready() -> None:
    """Let it be asked for."""
    approvals.register(
        asking.VERSION,
        title="other version of a table",
        then="It goes live when it is said above. A round in progress ends under the version that it was staked under.",
        execute=executing.execute,
        permission=asking.DECIDE,
        describe=describing.describe_version,
    )
    approvals.register(
        asking.TABLE,
        title="new table",
        then="The table is made, and opened if a moment is said above. Else it stays closed until somebody opens it.",
        execute=executing.execute,
        permission=asking.DECIDE,
        describe=describing.describe_table,
    )
