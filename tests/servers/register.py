"""A second implementation of a register of excluded people, configured by its dotted path as a national one is."""

from players.protection.registers import CLEAR, Finding, Person, RegisterUnreachable


class ListedRegister:
    """Knows the people a test has listed; out of reach where a test says so."""

    name = "listed"
    listed: set[int] = set()
    is_within_reach = True
    asked = 0

    def check(self, person: Person) -> Finding:
        """Answer from the list."""
        type(self).asked += 1
        if not self.is_within_reach:
            raise RegisterUnreachable
        return Finding(is_excluded=True) if person.player_id in self.listed else CLEAR


PATH = f"{__name__}.{ListedRegister.__name__}"
