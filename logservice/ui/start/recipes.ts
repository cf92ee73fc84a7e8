import type { SendPlace, SendWay } from "./send-way.ts";

/** The texts for loggers and agents with which their level, time, message and errors arrive as they were meant. */
export function recipes({ origin, projectId, token }: SendPlace): readonly SendWay[] {
  const place = { url: `${origin}/ingest/${projectId}`, origin, projectId, token };
  const ofPlace = [pino, winston, pythonLogging, slog, log4j];
  return [...ofPlace.map((recipe) => recipe(place)), nginx, vector(place), fluentBit(place)];
}

interface IngestPlace extends SendPlace {
  readonly url: string;
}

const pino = ({ url, token }: IngestPlace): SendWay => ({
  name: "pino",
  about: "Beside what else the app logs to. An error that is logged is one event with its trace.",
  text: `import pino from "pino";
${nodeSender(url, token)}
const log = pino(logs);
`,
});

const winston = ({ url, token }: IngestPlace): SendWay => ({
  name: "winston",
  about: "A logger that sends what it logs. An error that is logged is one event with its trace.",
  text: `import winston from "winston";
${nodeSender(url, token)}
const { combine, errors, timestamp, json } = winston.format;
const log = winston.createLogger({
  format: combine(errors({ stack: true }), timestamp(), json()),
  transports: [new winston.transports.Stream({ stream: logs })],
});
`,
});

const pythonLogging = ({ url, token }: IngestPlace): SendWay => ({
  name: "Python logging",
  about: "Without packages. A traceback is a field of its event, and so is what extra= adds.",
  text: `import json, logging, logging.handlers, sys, threading, time, urllib.request
from datetime import datetime, timezone

class Json(logging.Formatter):
    OWN = {*vars(logging.makeLogRecord({})), "message", "asctime"}

    def format(self, record):
        line = {k: v for k, v in vars(record).items() if k not in self.OWN}
        line["time"] = datetime.fromtimestamp(record.created, timezone.utc).isoformat()
        line["level"] = record.levelname
        line["message"] = record.getMessage()
        line["logger"] = record.name
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)

class Logs(logging.handlers.BufferingHandler):
    """Sends once a second and at the end; what cannot be sent is tried again."""

    def __init__(self):
        super().__init__(0)
        self.setFormatter(Json())
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            time.sleep(1)
            self.flush()

    def shouldFlush(self, record):
        return False

    def flush(self):
        with self.lock:
            batch, self.buffer = self.buffer[:1000], self.buffer[1000:]
        if not batch:
            return
        body = "\\n".join(map(self.format, batch)).encode()
        headers = {"Authorization": "Bearer ${token}", "Content-Type": "application/x-ndjson"}
        request = urllib.request.Request("${url}", body, headers)
        try:
            urllib.request.urlopen(request, timeout=10).close()
        except OSError as error:
            print("log not sent:", error, file=sys.stderr)
            with self.lock:
                self.buffer = (batch + self.buffer)[-100_000:]
            return
        self.flush()

logging.basicConfig(level=logging.INFO, handlers=[Logs(), logging.StreamHandler()])
`,
});

const slog = ({ url, token }: IngestPlace): SendWay => ({
  name: "Go slog",
  about:
    "Durations are sent in milliseconds, as queries compare them: slog's own JSON has them in nanoseconds. Call Flush before the program ends.",
  text: `package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"
)

// Logs sends lines once a second; what cannot be sent is tried again.
type Logs struct {
	mutex sync.Mutex
	lines []byte
}

func (l *Logs) Write(line []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.lines = append(l.lines, line...)
	return len(line), nil
}

func (l *Logs) Flush() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.lines) == 0 {
		return
	}
	request, _ := http.NewRequest("POST", "${url}", bytes.NewReader(l.lines))
	request.Header.Set("Authorization", "Bearer ${token}")
	request.Header.Set("Content-Type", "application/x-ndjson")
	client := http.Client{Timeout: 10 * time.Second}
	answer, err := client.Do(request)
	if err != nil {
		fmt.Fprintln(os.Stderr, "log not sent:", err)
	} else if answer.Body.Close(); answer.StatusCode != 200 {
		fmt.Fprintln(os.Stderr, "log not sent:", answer.Status)
	} else {
		l.lines = nil
	}
}

func NewLogger(logs *Logs) *slog.Logger {
	go func() {
		for range time.Tick(time.Second) {
			logs.Flush()
		}
	}()
	return slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Value.Kind() == slog.KindDuration {
				a.Value = slog.Float64Value(float64(a.Value.Duration()) / 1e6)
			}
			return a
		},
	}))
}
`,
});

const log4j = ({ url, token }: IngestPlace): SendWay => ({
  name: "log4j2",
  about:
    "As log4j2.xml, with log4j-core and log4j-layout-template-json. An exception is one event with its stack trace.",
  text: `<Configuration>
  <Appenders>
    <Http name="Http" url="${url}">
      <Property name="Authorization" value="Bearer ${token}"/>
      <JsonTemplateLayout eventTemplateUri="classpath:EcsLayout.json"/>
    </Http>
    <Async name="Logs">
      <AppenderRef ref="Http"/>
    </Async>
  </Appenders>
  <Loggers>
    <Root level="info">
      <AppenderRef ref="Logs"/>
    </Root>
  </Loggers>
</Configuration>
`,
});

const nginx: SendWay = {
  name: "nginx",
  about:
    "Writes each request as JSON with its own time, in the http block of nginx.conf. Vector or Fluent Bit sends the file. request_time is in seconds, as nginx counts it.",
  text: `map $status $log_level {
  ~^5     error;
  ~^4     warning;
  default info;
}
log_format json_lines escape=json
  '{"time":$msec,"level":"$log_level","message":"$request","method":"$request_method",'
  '"path":"$uri","query":"$args","status":$status,"body_bytes_sent":$body_bytes_sent,'
  '"request_time":$request_time,"ip":"$remote_addr","user_agent":"$http_user_agent"}';
access_log /var/log/nginx/access.json json_lines;
`,
};

const vector = ({ url, token }: IngestPlace): SendWay => ({
  name: "Vector",
  about: "Sends the lines of files as they were written: level, time and message are read here.",
  text: `sources:
  app:
    type: file
    include: [/var/log/app/*.log]
sinks:
  logs:
    type: http
    inputs: [app]
    uri: ${url}
    auth: { strategy: bearer, token: ${token} }
    encoding: { codec: text }
    framing: { method: newline_delimited }
    compression: gzip
`,
});

function fluentBit({ origin, projectId, token }: IngestPlace): SendWay {
  const { protocol, hostname, port } = new URL(origin);
  const isTls = protocol === "https:";
  return {
    name: "Fluent Bit",
    about: "Sends lines of files, as JSON or text. Version 3.2 or later; an event keeps its own time if it has one.",
    text: `parsers:
  - name: json_line
    format: json
pipeline:
  inputs:
    - name: tail
      path: /var/log/app/*.log
      parser: json_line
  filters:
    - name: modify
      match: "*"
      rename: log message
  outputs:
    - name: http
      match: "*"
      host: ${hostname}
      port: ${port || (isTls ? 443 : 80)}
      tls: ${isTls ? "on" : "off"}
      uri: /ingest/${projectId}
      header: Authorization Bearer ${token}
      format: json_lines
      json_date_key: observed_timestamp
      json_date_format: iso8601
`,
  };
}

/** A stream that sends lines, for loggers that write to one. */
const nodeSender = (url: string, token: string) => `import { Writable } from "node:stream";

// Sends lines once a second and before the program ends by itself; what cannot be sent is tried again.
const lines = [];
let timer;
async function send() {
  const batch = lines.splice(0, 1_000);
  const answer = await fetch("${url}", {
    method: "POST",
    headers: { Authorization: "Bearer ${token}", "Content-Type": "application/x-ndjson" },
    body: batch.join(""),
  }).catch((error) => error);
  if (!answer.ok) {
    console.error("log not sent:", answer.status ?? answer.cause ?? answer);
    if (lines.length < 100_000) lines.unshift(...batch);
  }
  timer = lines.length > 0 ? setTimeout(send, 1_000) : undefined;
  // The program may end meanwhile.
  if (!answer.ok) timer?.unref();
}
const logs = new Writable({
  decodeStrings: false,
  write(line, _, done) {
    lines.push(line);
    timer ??= setTimeout(send, 1_000);
    done();
  },
});
`;
