#!/bin/sh
# Ensure that there is a Chromium for the browser tests: the headless shell, which halves their
# time, or any other. If none can be installed, those tests fail and say how to get it.
set -eu

has_any() {
    for name in "${CHROMIUM:-chromium}" chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" >/dev/null && return 0
    done
    return 1
}

if command -v chromium-headless-shell >/dev/null; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium for the browser tests …"
    export DEBIAN_FRONTEND=noninteractive
    {
        apt-get update
        apt-get install -y --no-install-recommends chromium-headless-shell fonts-dejavu-core || has_any ||
            apt-get install -y --no-install-recommends chromium fonts-dejavu-core
    } >/dev/null || true
fi
if ! has_any && ! command -v chromium-headless-shell >/dev/null; then
    echo "No Chromium found; the browser tests will fail. As root: apt-get install chromium-headless-shell fonts-dejavu-core" >&2
fi
