"""Check that the faults of a drill hit money; otherwise the drill has tested nothing."""

from collections.abc import Iterator, Mapping

from tests.drill.commits import Action, Fate
from tests.drill.postman import WAYS, Way
from wallet.models import PaymentState, WithdrawalStatus

ENDS: tuple[str, ...] = (PaymentState.CREDITED.value, WithdrawalStatus.PAID.value, WithdrawalStatus.RETURNED.value)


def missed(
    ways: Mapping[Way, int], states: Mapping[str, int], cuts: Mapping[tuple[Action, Fate], int], repeated: int
) -> Iterator[str]:
    """Yield what did not happen: a call-back of each kind, a payment that ended each way, and, for every call of
    an API client that was done and whose answer was lost, a repeated answer. All with counts.
    """
    yield from (f"no call-back came {way}" for way in WAYS if not ways.get(way))
    yield from (f"no payment is {state}" for state in ENDS if not states.get(state))
    lost = cuts.get((Action.CALL, Fate.DONE), 0)
    if repeated < lost:
        yield f"{lost} calls were done and their answers lost, {repeated} were told again"
