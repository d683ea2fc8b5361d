#!/bin/sh
# See that root has the tools for network namespaces, of which the drill of many machines makes its cables. Where there
# can be none, that drill fails and says how to get them; who is not root needs none.
set -eu

PATH="$PATH:/usr/sbin:/sbin"
if [ "$(id -u)" != 0 ] || { command -v ip && command -v unshare && command -v setpriv; } >/dev/null; then
    exit 0
fi
if command -v apt-get >/dev/null; then
    echo "Installing iproute2 and util-linux for the drill of many machines …"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update && apt-get install -y --no-install-recommends iproute2 util-linux; } >/dev/null || true
fi
if ! command -v ip >/dev/null; then
    echo "No cable can be pulled without iproute2 and util-linux; the drill of many machines will fail." >&2
fi
