"""What of tables and their versions takes two people."""

from audit import approvals
from games.change_requests import descriptions, execution, requests


def ready() -> None:
    """Let it be asked for."""
    approvals.register(
        requests.VERSION,
        title="other version of a table",
        then="It goes live when it is said above. A round in progress ends under the version that it was staked under.",
        execute=execution.execute,
        permission=requests.DECIDE,
        describe=descriptions.describe_version,
    )
    approvals.register(
        requests.TABLE,
        title="new table",
        then="The table is made, and opened if a moment is said above. Else it stays closed until somebody opens it.",
        execute=execution.execute,
        permission=requests.DECIDE,
        describe=descriptions.describe_table,
    )
