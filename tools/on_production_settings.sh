#!/bin/sh
# Run a manage.py command with generated production settings and without a database.
set -eu

secret() {
    .venv/bin/python -c 'import base64, secrets; print(base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())'
}
keys() {
    .venv/bin/python -c 'from audit.verification.verify import Key; print(",".join(Key("sabot.example/log", kind, bytes(32)).vkey for kind in (1, 4)))'
}
exec env -i PATH="$PATH" HOME="${HOME:-/}" \
    PYTHONWARNINGS="ignore:Got an error checking a consistent migration history:RuntimeWarning" \
    SECRET_KEY="$(secret)$(secret)" \
    SECOND_FACTOR_KEY="$(secret)" \
    DOCUMENT_KEY="$(secret)" \
    PARTNER_KEY="$(secret)" \
    CREDENTIALS_KEY="$(secret)" \
    DATABASE_URL="postgresql://web:$(secret)@127.0.0.1:1/sabot" \
    DATABASE_OWNER_URL="postgresql://owner:$(secret)@127.0.0.1:1/sabot" \
    AUDIT_SIGNER=/run/sabot-signer/socket \
    DEALER=/run/sabot-dealer/socket \
    DEALER_KEYS="$(printf '00%.0s' $(seq 32))" \
    AUDIT_KEYS="$(keys)" \
    BROKER_URL="redis://:$(secret)@127.0.0.1:1/0" \
    ALLOWED_HOSTS="sabot.example" \
    CSRF_TRUSTED_ORIGINS="https://sabot.example" \
    .venv/bin/python manage.py "$@"
