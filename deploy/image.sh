#!/bin/sh
# Build the image of deploy/Containerfile without an image registry: on a base of Debian packages,
# with buildah, as root, without a daemon. It needs `apt-get install buildah mmdebstrap`.
#
#     deploy/image.sh [NAME]        NAME: sabot
#
# The image is in buildah's store, where podman finds it. WORK= keeps the base for the next build.
set -eu
cd "$(dirname "$0")/.."

name=${1:-sabot}
work=${WORK:-$(mktemp -d)}
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
authorities=/etc/ssl/certs/ca-certificates.crt # the certificates that this machine trusts
export BUILDAH_ISOLATION=chroot

if [ ! -e "$work/base.tar" ]; then
    mmdebstrap --quiet --variant=minbase --include=ca-certificates,passwd,python3,python3-pip,python3-venv,python3-wheel \
        bookworm "$work/base.part"
    mv "$work/base.part" "$work/base.tar"
fi

base=$(buildah from scratch)
buildah add --quiet "$base" "$work/base.tar" /
buildah add --quiet "$base" "$authorities" "$authorities"
buildah run "$base" -- ln -s python3 /usr/bin/python
buildah run "$base" -- sh -c 'rm /usr/lib/python3*/EXTERNALLY-MANAGED' # as in the base image of the Containerfile
buildah config --env PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin --env PIP_CERT="$authorities" "$base"
buildah commit --quiet --rm "$base" localhost/sabot-base >/dev/null

buildah build --network=host --build-arg BASE=localhost/sabot-base --file deploy/Containerfile --tag "$name" .
