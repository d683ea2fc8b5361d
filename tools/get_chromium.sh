#!/bin/sh
# See that there is a Chromium for the browser tests. Where there cannot be one, those tests fail and say how to get it.
set -eu

for name in "${CHROMIUM:-chromium}" chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium for the browser tests …"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null ||
        echo "Chromium could not be installed; the browser tests will fail." >&2
else
    echo "No Chromium found; the browser tests will fail. As root: apt-get install chromium fonts-dejavu-core" >&2
fi
