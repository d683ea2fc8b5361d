#!/bin/sh
# See that there is a Chromium for the browser tests, and its headless shell, in which they look at all pages in less
# time. Where there can be no Chromium, those tests fail and say how to get it.
set -eu

has_one() {
    for name in "${CHROMIUM:-chromium}" chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" >/dev/null && return 0
    done
    return 1
}

if has_one && command -v chromium-headless-shell >/dev/null; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium for the browser tests …"
    export DEBIAN_FRONTEND=noninteractive
    {
        apt-get update
        has_one || apt-get install -y --no-install-recommends chromium fonts-dejavu-core
        apt-get install -y --no-install-recommends chromium-headless-shell
    } >/dev/null || true
fi
if ! has_one; then
    echo "No Chromium found; the browser tests will fail. As root: apt-get install chromium fonts-dejavu-core" >&2
fi
