"""Receive webhooks of a Sabot house: verify the signature, and print each event once.

    WEBHOOK_SECRET=… python3 receive_webhook.py 9000

The house calls http://this-machine:9000/ in a demo; put a server with HTTPS in front of it otherwise.
The signature is HMAC-SHA256 over time, method, path and body, and a call older than a minute is
refused, so nobody can repeat one. Events come at least once: their delivery number tells repetitions.
"""

import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()
WINDOW = 60  # seconds
seen: set[int] = set()  # a real receiver keeps these in its database


def is_genuine(path: str, body: bytes, at: str, signature: str) -> bool:
    """Return whether the house has signed this call within the last minute."""
    if not at.isascii() or not at.isdigit() or abs(time.time() - int(at)) > WINDOW:
        return False
    due = hmac.new(SECRET, f"{at}\nPOST\n{path}\n".encode() + body, "sha256").hexdigest()
    # After a replacement of the secret, calls have a signature of the new and of the old one for a day.
    return any(hmac.compare_digest(due.encode(), each.encode()) for each in signature.split(" "))


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 to a genuine call and 401 to others."""

    def do_POST(self) -> None:
        """Verify the call, then act on the event, then answer: without an answer it comes again."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        at, signature = self.headers.get("Sabot-Time", ""), self.headers.get("Sabot-Signature", "")
        genuine = is_genuine(self.path, body, at, signature)
        if genuine:
            event = json.loads(body)
            if event["delivery"] not in seen:
                seen.add(event["delivery"])
                print(event["kind"], event["on"], "event", event["event"], "of", event["at"], flush=True)
        self.send_response(204 if genuine else 401)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Print events only."""


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
    print("listening on port", server.server_port, flush=True)
    server.serve_forever()
