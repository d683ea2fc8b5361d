"""The auditor's verification: signatures, keys, checkpoints and proofs by their specifications."""

import hashlib

import pytest

from audit.verification import verify
from audit.verification.verify import Checkpoint, Key, Unproven, is_signed, keys_of, tile_path
from tests.audit.signing import NOON, ORIGIN, TIME, Pen, Pens

# RFC 8032, 7.1: public key, message, signature.
VECTORS = {
    "TEST 1": (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        b"",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    "TEST 2": (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        b"\x72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    "TEST 3": (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        b"\xaf\x82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    "TEST SHA(abc)": (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").digest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
}
ORDER = 2**252 + 27742317777372353535851937790883648493
ROOT = hashlib.sha256(b"a root").digest()

# The example of Go's package golang.org/x/mod/sumdb/note.
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_TEXT = b"If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
GO_LINE = "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="


@pytest.fixture(scope="module")
def pens():
    return Pens()


@pytest.fixture(scope="module")
def keys(pens):
    return keys_of(pens.keys)


class TestSignatures:
    @pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
    def test_are_those_of_the_rfc_and_no_others(self, vector):
        public, message, signature = bytes.fromhex(vector[0]), vector[1], bytes.fromhex(vector[2])
        assert is_signed(public, message, signature)
        assert not is_signed(public, message + b"x", signature)
        for at in (0, 31, 32, 63):
            changed = bytearray(signature)
            changed[at] ^= 1
            assert not is_signed(public, message, bytes(changed))

    def test_have_one_spelling(self):
        public, message, signature = VECTORS["TEST 2"]
        plain = bytes.fromhex(signature)
        again = (int.from_bytes(plain[32:], "little") + ORDER).to_bytes(32, "little")
        assert not is_signed(bytes.fromhex(public), message, plain[:32] + again)
        assert not is_signed(bytes.fromhex(public), message, plain + b"\0")

    @pytest.mark.parametrize("public", [b"\x02" + bytes(31), b"\xff" * 32, bytes(31), b"\x01" + bytes(30) + b"\x80"])
    def test_under_what_is_no_key_are_none(self, public):
        assert not is_signed(public, b"", bytes.fromhex(VECTORS["TEST 1"][2]))


class TestKeys:
    def test_are_read_and_written_as_go_writes_them(self):
        key = Key.of(GO_KEY)
        assert (key.name, key.kind, key.hash.hex(), key.vkey) == ("PeterNeumann", verify.LOG, "c74f20a3", GO_KEY)
        data = verify.decoded(GO_LINE.split(" ")[2])
        assert is_signed(key.public, GO_TEXT, data[4:])
        assert key.line(data[4:]) == GO_LINE

    def test_that_carry_the_time_are_of_another_kind_and_have_another_hash(self, pens, keys):
        assert [key.kind for key in keys] == [verify.LOG, verify.TIME]
        assert [key.vkey for key in keys] == [pens.log.vkey, pens.time.vkey]
        assert Key(ORIGIN, verify.TIME, keys[0].public).hash != keys[0].hash

    @pytest.mark.parametrize(
        "vkey",
        ["", "a+b", GO_KEY.replace("c74f", "c74e"), GO_KEY.replace("ARpc", "AhpA"), "a b+00000000+AA==", "+00+AA"],
    )
    def test_that_are_none_are_refused(self, vkey):
        with pytest.raises(Unproven):
            Key.of(vkey)

    def test_may_stand_among_remarks(self, pens):
        assert keys_of(f"# of the house\n\n  {pens.log.vkey}  \n") == [Key.of(pens.log.vkey)]


class TestCheckpoints:
    def test_say_which_tree_and_when(self, pens, keys):
        checkpoint = Checkpoint.of(pens.note(7, ROOT), keys)
        assert checkpoint == Checkpoint(verify.Tree(ORIGIN, 7, ROOT), NOON)
        assert Checkpoint.of(pens.note(7, ROOT), keys[:1]).seconds is None

    def test_may_bear_signatures_that_nobody_here_knows(self, pens, keys):
        stranger = Pen("witness.test", TIME)
        note = pens.note(7, ROOT)
        assert Checkpoint.of(note + stranger.sign(note.partition("\n\n")[0] + "\n", NOON), keys).tree.size == 7

    def test_are_nothing_without_the_key_of_the_log(self, pens, keys):
        for other in (Pens(), Pens(log=Pen("other.test")), Pens(time=pens.time)):
            with pytest.raises(
                Unproven, match=f"no key given for {ORIGIN} has signed the tree of 7 leaves; it is signed by"
            ):
                Checkpoint.of(other.note(7, ROOT), keys)
        witnessed = pens.note(7, ROOT).splitlines(keepends=True)
        with pytest.raises(Unproven, match="no key given"):
            Checkpoint.of("".join([*witnessed[:4], witnessed[5]]), keys)

    def test_of_another_log_are_refused(self, pens, keys):
        with pytest.raises(Unproven, match=r"no key given for other\.test has signed"):
            Checkpoint.of(pens.note(7, ROOT, origin="other.test"), keys)

    def test_without_the_time_of_a_key_that_gives_it_are_refused(self, pens, keys):
        with pytest.raises(Unproven, match="bears no time"):
            Checkpoint.of("".join(pens.note(7, ROOT).splitlines(keepends=True)[:5]), keys)

    @pytest.mark.parametrize(("old", "new"), [("\n7\n", "\n8\n"), ("sabot.test", "sabot.text")])
    def test_are_what_was_signed(self, pens, keys, old, new):
        note = pens.note(7, ROOT).replace(old, new)
        with pytest.raises(Unproven, match=r"is wrong|no key given"):
            Checkpoint.of(note, keys)

    def test_with_a_wrong_time_are_refused(self, pens, keys):
        body = pens.note(7, ROOT).partition("\n\n")[0] + "\n"
        line = pens.time.sign(body, NOON)
        signature = verify.decoded(line.split(" ")[2].strip())
        later = keys[1].line((NOON + 60).to_bytes(8, "big") + signature[12:])
        with pytest.raises(Unproven, match=rf"the signature of {ORIGIN} \({keys[1].hash.hex()}\) on the tree of 7"):
            Checkpoint.of(f"{body}\n{pens.log.sign(body, NOON)}{later}\n", keys)

    @pytest.mark.parametrize(
        "note",
        [
            "",
            "text without signatures\n",
            f"{ORIGIN}\n7\nAAAA\n\n— {ORIGIN} AAAAAAAA\n",
            f"{ORIGIN}\n07\n{'A' * 43}=\n\n— {ORIGIN} AAAAAAAA\n",
            f"{ORIGIN}\n7\n{'A' * 43}=\n\n- {ORIGIN} AAAAAAAA\n",
            f"{ORIGIN}\n7\n{'A' * 43}=\n\n— {ORIGIN} AAAAAAAA",
            f"{ORIGIN}\r\n7\n{'A' * 43}=\n\n— {ORIGIN} AAAAAAAA\n",
            f"{ORIGIN}\n٧\n{'A' * 43}=\n\n— {ORIGIN} AAAAAAAA\n",
        ],
    )
    def test_that_are_not_written_as_such_are_refused(self, keys, note):
        with pytest.raises(Unproven):
            Checkpoint.of(note, keys)


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ((0, 0), "tile/0/000"),
        ((3, 999), "tile/3/999"),
        ((1, 1000), "tile/1/x001/000"),
        ((0, 1234067), "tile/0/x001/x234/067"),
        (("entries", 67, 12), "tile/entries/067.p/12"),
    ],
)
def test_tiles_lie_where_tlog_tiles_has_them(place, path):
    assert tile_path(*place) == path
