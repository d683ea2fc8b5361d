"""The secrets check finds each kind of secret. The test generates them, so that no file contains one."""

import base64
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SCAN = [sys.executable, str(PROJECT / "tools" / "find_secrets.py")]
CHANCE = base64.b64encode(bytes((each * 89 + 41) % 256 for each in range(40))).decode()
HEX = bytes((each * 89 + 41) % 256 for each in range(24)).hex()
PLANTED = {
    "a key in a setting": f'SECOND_FACTOR_KEY = "{CHANCE}"\n',
    "a token without a name": f'send("{HEX}")\n',
    "a password": 'PASSWORD = "Tr0ub4dor-and-three"\n',
    "a password in an address": 'URL = "postgresql://web:x9-Qr.77@db.example/sabot"\n',  # pragma: allowlist secret
    "a private key": "-----BEGIN " + "PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA\n",
    "an identity of backups": "AGE-SECRET-" + "KEY-1" + HEX.upper()[:29] * 2 + "\n",
    "a key of the signer": "PRIVATE+" + f"KEY+sabot.example/log+1a2b3c4d+{CHANCE[:44]}\n",
    "a token of a program": "Authorization: Bearer sabot_" + CHANCE[:43].replace("+", "-").replace("/", "_") + "\n",
    **{
        f"{name} in an environment": f"{name}=" + CHANCE[:43].replace("+", "-").replace("/", "_") + "\n"
        for name in ("SECRET_KEY", "SECOND_FACTOR_KEY", "DOCUMENT_KEY", "PARTNER_KEY", "CREDENTIALS_KEY")
    },
    "a key of a cloud": 'use("AKIA' + "QYLPMN5HHHFPZAM2" + '")\n',
    "a token of a forge": "token: ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx" + "\n",
}


def test_a_planted_secret_of_each_kind_is_found(tmp_path):
    files = {name: tmp_path / f"{number}.py" for number, name in enumerate(PLANTED)}
    for name, file in files.items():
        file.write_text(f"# The first line is harmless.\n{PLANTED[name]}")
    found = subprocess.run([*SCAN, *map(str, files.values())], capture_output=True, text=True, cwd=PROJECT)
    assert found.returncode == 1, found.stderr
    assert [name for name, file in files.items() if f"{file.name}:2: " not in found.stderr] == []
    assert [name for name, file in files.items() if not file.read_text().startswith("# The first line")] == []


@pytest.mark.sweep
def test_other_text_is_ignored(tmp_path):
    file = tmp_path / "settings.py"
    file.write_text('KEY = env.str("SECOND_FACTOR_KEY", default="")\nNAME = "a-name-of-some-length-in-words"\n')
    found = subprocess.run([*SCAN, str(file)], capture_output=True, text=True, cwd=PROJECT)
    assert (found.returncode, found.stderr) == (0, "")


def test_the_check_works():
    assert "\t$(PY) tools/find_secrets.py\n" in (PROJECT / "Makefile").read_text()
