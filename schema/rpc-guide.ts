/**
 * The parts of the reference besides the operations: how a request is made, and the routes that are not operations.
 * Each section has an example for a shell and one for Node.js or a browser; test/logservice/service-reference.test.ts
 * runs them.
 */
export interface GuideSection {
  readonly id: string;
  readonly title: string;
  /** Paragraphs; text between backticks is code. */
  readonly text: readonly string[];
  readonly curl: string;
  readonly javascript: string;
}

export const RPC_GUIDE: readonly GuideSection[] = [
  {
    id: "authorisation",
    title: "Authorisation",
    text: [
      "Every operation, `/ingest`, `/tail` and `/export` need a token: `Authorization: Bearer lgs_...`. `tool service init` prints the first one; `tool service token add` and `add_token` create more, each with its own scopes. An unknown token is 401, a missing scope 403; the message names the scope.",
      "A token acts for one team, and what belongs to another team is not there. Operations that are for people only, such as inviting members, need the token of `tool team login` or a session in a browser; a person in several teams names one in the header `X-Team`.",
      "The examples read the address from `LOGS_URL` and the token from `TOOL_LOGS_TOKEN`, and use a project `my_app`. An operation is a POST with a JSON object; an error is `{type, message}`.",
    ],
    curl: `curl -sS --fail-with-body "$LOGS_URL/get_projects" \\
  -H "Authorization: Bearer $TOOL_LOGS_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{}'`,
    javascript: `const { LOGS_URL, TOOL_LOGS_TOKEN } = process.env;
const response = await fetch(\`\${LOGS_URL}/get_projects\`, {
  method: "POST",
  headers: { Authorization: \`Bearer \${TOOL_LOGS_TOKEN}\`, "Content-Type": "application/json" },
  body: "{}",
});
const answer = await response.json();
if (!response.ok) throw new Error(\`\${answer.type}: \${answer.message}\`);
console.log(answer.projects);`,
  },
  {
    id: "add-project",
    title: "A project",
    text: [
      "Events belong to a project. The other examples use this one, `my_app`, so run this first. It needs `projects:write`; an id that is taken is 409.",
    ],
    curl: `curl -sS --fail-with-body "$LOGS_URL/add_project" \\
  -H "Authorization: Bearer $TOOL_LOGS_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"project": {"id": "my_app", "name": "My app"}}'`,
    javascript: `const { LOGS_URL, TOOL_LOGS_TOKEN } = process.env;
const response = await fetch(\`\${LOGS_URL}/add_project\`, {
  method: "POST",
  headers: { Authorization: \`Bearer \${TOOL_LOGS_TOKEN}\`, "Content-Type": "application/json" },
  body: JSON.stringify({ project: { id: "my_app", name: "My app" } }),
});
const answer = await response.json();
if (!response.ok) throw new Error(\`\${answer.type}: \${answer.message}\`);
console.log(answer.id);`,
  },
  {
    id: "idempotency-key",
    title: "Idempotency-Key",
    text: [
      "A batch that is retried, because its response was lost, is stored once if both attempts have the same `Idempotency-Key`: any text of up to 255 characters, unique to the batch, remembered for a day. The same key with another body is 409. `add_events` and `/ingest` take it; an `id` in each event does the same for events.",
      "A batch is stored whole or not at all, unless it has `partial`: then the response is `{accepted, errors}`, and a retry gets the same one.",
    ],
    curl: `curl -sS --fail-with-body "$LOGS_URL/add_events" \\
  -H "Authorization: Bearer $TOOL_LOGS_TOKEN" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: batch-1-of-web-7" \\
  -d '{"project_id": "my_app", "partial": true, "events": [
        {"level": "info", "message": "signed in", "fields": {"user": {"id": 7}}},
        {"level": "error", "message": "payment failed", "fields": {"status": 502}}]}'`,
    javascript: `const { LOGS_URL, TOOL_LOGS_TOKEN } = process.env;
const key = crypto.randomUUID();
const send = () =>
  fetch(\`\${LOGS_URL}/add_events\`, {
    method: "POST",
    headers: {
      Authorization: \`Bearer \${TOOL_LOGS_TOKEN}\`,
      "Content-Type": "application/json",
      "Idempotency-Key": key,
    },
    body: JSON.stringify({
      project_id: "my_app",
      partial: true,
      events: [{ level: "info", message: "signed in", fields: { user: { id: 7 } } }],
    }),
  });
// The same key: the event counts once, however often it is sent.
const response = await send().catch(send);
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());`,
  },
  {
    id: "gzip",
    title: "Compressed bodies",
    text: [
      "A body may be compressed: `Content-Encoding: gzip`, `deflate` or `br`. It may have 5 MiB as sent and 20 MiB decompressed.",
    ],
    curl: `echo '{"project_id": "my_app", "events": [{"level": "info", "message": "compressed"}]}' |
  gzip |
  curl -sS --fail-with-body "$LOGS_URL/add_events" \\
    -H "Authorization: Bearer $TOOL_LOGS_TOKEN" \\
    -H "Content-Type: application/json" \\
    -H "Content-Encoding: gzip" \\
    --data-binary @-`,
    javascript: `const { LOGS_URL, TOOL_LOGS_TOKEN } = process.env;
const batch = { project_id: "my_app", events: [{ level: "info", message: "compressed" }] };
const packed = new Blob([JSON.stringify(batch)]).stream().pipeThrough(new CompressionStream("gzip"));
const response = await fetch(\`\${LOGS_URL}/add_events\`, {
  method: "POST",
  headers: {
    Authorization: \`Bearer \${TOOL_LOGS_TOKEN}\`,
    "Content-Type": "application/json",
    "Content-Encoding": "gzip",
  },
  body: await new Response(packed).arrayBuffer(),
});
if (!response.ok) throw new Error(await response.text());
console.log(response.status);`,
  },
  {
    id: "ingest",
    title: "POST /ingest/<project>",
    text: [
      "Takes raw log lines (`application/x-ndjson` or `text/plain`, at most 10,000). A line that is a JSON object is an event, any other a message; lines of a stack's trace are one. A JSON array of objects, sent as `application/json`, is that many events. Needs `events:write`.",
      "Answers `{accepted, errors: [{index, message}]}`: invalid lines are skipped, and `index` counts lines, or elements of the array, from 0.",
    ],
    curl: `printf '%s\\n' '{"level": "warning", "message": "slow", "duration": 812}' 'a plain line' |
  curl -sS --fail-with-body "$LOGS_URL/ingest/my_app" \\
    -H "Authorization: Bearer $TOOL_LOGS_TOKEN" \\
    -H "Content-Type: application/x-ndjson" \\
    --data-binary @-`,
    javascript: `const { LOGS_URL, TOOL_LOGS_TOKEN } = process.env;
const lines = [JSON.stringify({ level: "warning", message: "slow", duration: 812 }), "a plain line"];
const response = await fetch(\`\${LOGS_URL}/ingest/my_app\`, {
  method: "POST",
  headers: { Authorization: \`Bearer \${TOOL_LOGS_TOKEN}\`, "Content-Type": "application/x-ndjson" },
  body: lines.join("\\n"),
});
if (!response.ok) throw new Error(await response.text());
const { accepted, errors } = await response.json();
console.log(accepted, errors);`,
  },
  {
    id: "tail",
    title: "GET /tail",
    text: [
      "Streams new events as server-sent events: `project_id`, and `query` to select. Needs `events:read`. `Last-Event-ID` resumes after an event. An event `dropped` gives the number of missed events (null if unknown), an event `error` the reason the stream ends.",
    ],
    curl: `curl -sS --fail-with-body -N -G "$LOGS_URL/tail" \\
  -H "Authorization: Bearer $TOOL_LOGS_TOKEN" \\
  --data-urlencode "project_id=my_app" \\
  --data-urlencode "query=level >= info"`,
    javascript: `const { LOGS_URL, TOOL_LOGS_TOKEN } = process.env;
const parameters = new URLSearchParams({ project_id: "my_app", query: "level >= info" });
const response = await fetch(\`\${LOGS_URL}/tail?\${parameters}\`, {
  headers: { Authorization: \`Bearer \${TOOL_LOGS_TOKEN}\` },
});
if (!response.ok) throw new Error(await response.text());
let text = "";
for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
  text += chunk;
  const frames = text.split("\\n\\n");
  text = frames.pop();
  for (const frame of frames) {
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    if (data !== undefined && !/^event: /m.test(frame)) console.log(JSON.parse(data).message);
  }
}`,
  },
  {
    id: "export",
    title: "GET /export",
    text: [
      "Streams a file of all events that match, newest first. `add_export` prepares it, with the same range and query as `search`, and answers a ticket for one download within 60 seconds by the same token. `ndjson` is an event per line, `csv` has the columns time, level, message and `fields`; a query with stages gives the rows of `aggregate`.",
      "`X-Missing-Bytes` says how many bytes of events are lost, if any. A response that breaks off is not the whole file: `curl` then ends with an error, and `fetch` rejects while the body is read. Wait after 429: two exports of a token are sent at once.",
    ],
    curl: `ticket=$(curl -sS --fail-with-body "$LOGS_URL/add_export" \\
  -H "Authorization: Bearer $TOOL_LOGS_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"project_id": "my_app", "start": "2020-01-01T00:00:00Z", "stop": "2100-01-01T00:00:00Z",
       "query": "level >= info", "format": "csv", "fields": ["status"]}' |
  sed 's/.*"ticket":"\\([^"]*\\)".*/\\1/')
curl -sS --fail-with-body "$LOGS_URL/export?ticket=$ticket" \\
  -H "Authorization: Bearer $TOOL_LOGS_TOKEN" \\
  -o events.csv
head -n 1 events.csv`,
    javascript: `const { LOGS_URL, TOOL_LOGS_TOKEN } = process.env;
const Authorization = \`Bearer \${TOOL_LOGS_TOKEN}\`;
const made = await fetch(\`\${LOGS_URL}/add_export\`, {
  method: "POST",
  headers: { Authorization, "Content-Type": "application/json" },
  body: JSON.stringify({
    project_id: "my_app",
    start: "2020-01-01T00:00:00Z",
    stop: "2100-01-01T00:00:00Z",
    query: "level >= info",
    format: "csv",
    fields: ["status"],
  }),
});
if (!made.ok) throw new Error(await made.text());
const { ticket } = await made.json();
const file = await fetch(\`\${LOGS_URL}/export?ticket=\${ticket}\`, { headers: { Authorization } });
if (!file.ok) throw new Error(await file.text());
// Rejects if the response breaks off.
for await (const chunk of file.body) process.stdout.write(chunk);`,
  },
  {
    id: "metrics",
    title: "GET /metrics",
    text: [
      "Metrics in the Prometheus text format. No token is needed, nor for `/_health`, `/_ready`, `/openapi.json` and this page.",
    ],
    curl: `curl -sS --fail-with-body "$LOGS_URL/metrics"`,
    javascript: `const response = await fetch(\`\${process.env.LOGS_URL}/metrics\`);
if (!response.ok) throw new Error(await response.text());
const lines = (await response.text()).split("\\n");
console.log(lines.filter((line) => line.startsWith("logservice_requests_total")));`,
  },
];
