#!/bin/sh
# Create .venv with the first suitable Python, or print in one line what is missing.
set -eu

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

if new_enough .venv/bin/python && .venv/bin/python -m pip --version >/dev/null 2>&1; then
    touch .venv/made
    exit 0
fi
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11; do
    if new_enough "$python"; then
        if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            echo "$python has no venv module: apt install python3-venv" >&2
            exit 1
        fi
        echo "Making .venv with $("$python" --version) …"
        "$python" -m venv --clear .venv
        touch .venv/made
        exit 0
    fi
done
found=$("${PYTHON:-python3}" --version 2>/dev/null || echo "nothing")
echo "Sabot needs Python 3.11 or newer and found $found: apt install python3 python3-venv" >&2
exit 1
