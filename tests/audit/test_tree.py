"""The tree of the tiles is that of RFC 6962, which this file implements again from the
specification.
"""

import random
from functools import cache
from hashlib import sha256

import pytest

from audit import tree
from audit.verification.verify import EMPTY, HASH, Unproven, demand_extended, demand_included, leaf_hash
from tests.harness.sweeps import sample

ALL_UP_TO = 600
LARGE = 65_536
LEAVES = [leaf_hash(str(number).encode()) for number in range(LARGE + 2)]
CHANCE = random.Random(6962)
SIZES_AROUND_TILES = [1, 2, 3, 254, 255, 256, 257, 511, 512, 513]


class RetainedData(dict[tuple[int, int], bytes]):
    """Tiles in memory."""

    def read(self, level: int, number: int) -> bytes:
        return self.get((level, number), b"")

    def grow(self, size: int, more: list[bytes]) -> None:
        for place, hashes in tree.extend(self, size, more).items():
            assert hashes.startswith(self.read(*place)), "the earlier content of a tile remains"
            self[place] = hashes


@cache
def mth(begin: int, end: int) -> bytes:
    """MTH of RFC 6962, 2.1, over D[begin:end]."""
    if begin == end:
        return sha256().digest()
    if end - begin == 1:
        return LEAVES[begin]
    middle = begin + k(end - begin)
    return sha256(b"\x01" + mth(begin, middle) + mth(middle, end)).digest()


def k(n: int) -> int:
    """Return the largest power of two smaller than n."""
    power = 1
    while power * 2 < n:
        power *= 2
    return power


def path(m: int, begin: int, end: int) -> list[bytes]:
    """PATH of RFC 6962, 2.1.1."""
    if end - begin == 1:
        return []
    middle = begin + k(end - begin)
    if m < middle - begin:
        return [*path(m, begin, middle), mth(middle, end)]
    return [*path(m - (middle - begin), middle, end), mth(begin, middle)]


def subproof(m: int, begin: int, end: int, *, whole: bool) -> list[bytes]:
    """SUBPROOF of RFC 6962, 2.1.2."""
    if m == end - begin:
        return [] if whole else [mth(begin, end)]
    middle = begin + k(end - begin)
    if m <= middle - begin:
        return [*subproof(m, begin, middle, whole=whole), mth(middle, end)]
    return [*subproof(m - (middle - begin), middle, end, whole=False), mth(begin, middle)]


@pytest.fixture(scope="module")
def small() -> RetainedData:
    """The first 600 leaves, one after another."""
    tiles = RetainedData()
    for size in range(ALL_UP_TO):
        tiles.grow(size, LEAVES[size : size + 1])
    return tiles


@pytest.fixture(scope="module")
def large() -> RetainedData:
    """A tree past the first tile of the third level, built in steps of all sizes."""
    tiles, size = RetainedData(), 0
    while size < len(LEAVES):
        step = CHANCE.choice([1, 7, 255, 256, 257, 3000])
        tiles.grow(size, LEAVES[size : size + step])
        size = min(size + step, len(LEAVES))
    return tiles


def test_roots_of_all_trees_up_to_600_leaves_are_those_of_the_rfc(small):
    assert tree.root(small, 0) == EMPTY == mth(0, 0)
    assert [tree.root(small, size) for size in range(1, ALL_UP_TO + 1)] == [
        mth(0, size) for size in range(1, ALL_UP_TO + 1)
    ]


@pytest.mark.parametrize("size", sample(SIZES_AROUND_TILES, 1))
def test_every_leaf_and_every_earlier_tree_is_proven_as_the_rfc_has_it(small, size):
    for leaf in range(size):
        proof = tree.inclusion_proof(small, leaf, size)
        assert proof == path(leaf, 0, size)
        demand_included(leaf=leaf, size=size, hashed=LEAVES[leaf], proof=proof, root=mth(0, size))
    for old in range(1, size + 1):
        proof = tree.consistency_proof(small, old, size)
        assert proof == subproof(old, 0, size, whole=True)
        demand_extended(old=old, size=size, proof=proof, old_root=mth(0, old), root=mth(0, size))


@pytest.mark.sweep
@pytest.mark.parametrize(
    "size", sample([LARGE - 1, LARGE, LARGE + 1, *(CHANCE.randrange(600, LARGE) for _ in range(20))], 4)
)
def test_large_trees_are_those_of_the_rfc(large, size):
    assert tree.root(large, size) == mth(0, size)
    for leaf in (0, 255, 256, size - 1, *(CHANCE.randrange(size) for _ in range(10))):
        assert tree.inclusion_proof(large, leaf, size) == path(leaf, 0, size)
    for old in (1, 255, 256, 257, size - 1, size, *(CHANCE.randrange(1, size) for _ in range(10))):
        assert tree.consistency_proof(large, old, size) == subproof(old, 0, size, whole=True)


def test_tiles_are_those_of_tlog_tiles(large):
    size = len(LEAVES)
    widths = {place: len(hashes) // HASH for place, hashes in large.items()}
    assert widths == {
        **{(0, number): 256 for number in range(256)},
        (0, 256): 2,
        (1, 0): 256,
        (2, 0): 1,
    }
    assert large[0, 3] == b"".join(LEAVES[768:1024])
    assert large[1, 0][HASH : 2 * HASH] == mth(256, 512)
    assert large[2, 0] == mth(0, LARGE)
    assert tree.subtree_hashes(large, 0, size) == [mth(0, LARGE), mth(LARGE, size)]


def test_an_empty_tree_is_extended_by_every_tree(small):
    assert tree.consistency_proof(small, 0, 300) == []
    assert tree.extend(RetainedData(), 0, []) == {}


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda tiles: tree.inclusion_proof(tiles, 5, 5), "there is no leaf 5 in a tree of 5"),
        (lambda tiles: tree.inclusion_proof(tiles, -1, 5), "there is no leaf -1 in a tree of 5"),
        (lambda tiles: tree.consistency_proof(tiles, 6, 5), "a tree of 5 leaves does not extend one of 6"),
        (lambda tiles: tree.root(tiles, 601), "tile 2 of level 0 has 88 hashes, not 89"),
        (lambda tiles: tree.root(tiles, 1024), "tile 0 of level 1 has 2 hashes, not 4"),
        (lambda tiles: tree.extend(tiles, 602, [EMPTY]), "tile 2 of level 0 has 88 hashes, not 90"),
    ],
)
def test_what_the_tiles_do_not_hold_is_named(small, ask, why):
    with pytest.raises(Unproven, match=f"^{why}$"):
        ask(small)
