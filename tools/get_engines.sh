#!/bin/sh
# Ensure that there are browsers of the other two engines for tests/browser/test_engines.py: Firefox,
# and the small browser of WebKitGTK with its driver and a screen that nobody sees. If they cannot be
# installed, those tests fail and say how to get them.
set -eu

has_all() {
    { command -v firefox-esr || command -v firefox; } >/dev/null && command -v WebKitWebDriver >/dev/null &&
        command -v Xvfb >/dev/null
}

if has_all; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Firefox and WebKitGTK for the tests of other engines …"
    export DEBIAN_FRONTEND=noninteractive
    {
        apt-get update
        apt-get install -y --no-install-recommends firefox-esr webkit2gtk-driver xvfb fonts-dejavu-core
    } >/dev/null || true
fi
if ! has_all; then
    echo "Firefox or WebKitGTK is missing; the tests of other engines will fail. As root: apt-get install firefox-esr webkit2gtk-driver xvfb" >&2
fi
