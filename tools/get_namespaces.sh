#!/bin/sh
# Ensure that root has the tools for network namespaces, which the drill of many machines uses for
# its network. If they cannot be installed, that drill fails and says how to get them. Other users
# do not need them.
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
