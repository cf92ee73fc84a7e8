"""A plain HTTP server on PORT. Lines on stdout become log entries, JSON lines structured ones."""

import json
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

CITIES = {"oslo": -2.5, "lima": 19.0, "pune": 27.5}


def log(level, message, **fields):
    print(json.dumps({"level": level, "message": message, "fields": fields}), flush=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/":
            return self.answer(200, {"cities": sorted(CITIES)})
        city = url.path.removeprefix("/weather/")
        if city not in CITIES:
            log("warn", "unknown city", city=city)
            return self.answer(404, {"error": f"no weather for {city}"})
        degrees = CITIES[city]
        if parse_qs(url.query).get("unit") == ["f"]:
            degrees = degrees * 9 / 5 + 32
        log("info", "weather read", city=city, degrees=degrees)
        self.answer(200, {"city": city, "degrees": degrees})

    def answer(self, status, value):
        body = json.dumps(value).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """The proxy logs each request; a second line for it would say nothing new."""


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
