"""Shoes as the dealer of the tests has them: their seeds before they are public, and their endings."""

from games.deals import shoe_binding
from games.models import Shoe, ShoeEnding
from games.shared import shoes
from tests.harness.dealer import the_dealer


def seed_of(shoe: Shoe) -> bytes:
    """Return the seed, which the dealer alone has while the shoe is in play."""
    return the_dealer().shoes.of(shoe_binding(shoe)).seed


def ended(shoe: Shoe) -> Shoe:
    """End a shoe of a shared table and publish its seed."""
    assert shoes.end(shoe, ShoeEnding.RETIRED) == ()
    assert shoes.publish(shoe.pk) == ()
    return Shoe.objects.get(pk=shoe.pk)
