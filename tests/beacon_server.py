"""A beacon on this machine that serves published rounds of drand by HTTPS."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.vectors import BEACONS


class BeaconServer(ThreadingHTTPServer):
    """Answers each path with a status and a body; 404 for the others."""

    answers: dict[str, tuple[int, bytes]]
    certificate: Path

    @property
    def url(self) -> str:
        return f"https://localhost:{self.server_port}"

    def publish(self, number: int, **other: object) -> None:
        """Have a round come; *other*: what its answer says instead."""
        said = next(each for each in BEACONS["rounds"] if each["round"] == number) | other
        self.answers[f"/{BEACONS['chain']}/public/{number}"] = 200, json.dumps(said).encode()


class _Handler(BaseHTTPRequestHandler):
    server: BeaconServer

    def do_GET(self) -> None:
        status, body = self.server.answers.get(self.path, (404, b"{}"))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *said: object) -> None:
        """Say nothing."""


@contextmanager
def beacon_server(folder: Path) -> Iterator[BeaconServer]:
    """Serve on this machine, with a certificate in *folder* that nobody trusts by default."""
    certificate = _certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with BeaconServer(("127.0.0.1", 0), _Handler) as server:
        server.answers, server.certificate = {}, certificate
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "beacon.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return path
