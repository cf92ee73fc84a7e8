import { recipes } from "./recipes.ts";
import type { SendPlace, SendWay } from "./send-way.ts";

/** Every way to send events to a project that the service has a route for. */
export function waysToSend(place: SendPlace): readonly SendWay[] {
  const { origin, projectId, token } = place;
  const event = `{"level": "info", "message": "hello", "fields": {"answer": 42}}`;
  return [
    {
      name: "curl",
      isOfEvents: true,
      about: "One call sends up to 10,000 events.",
      text: `curl ${origin}/add_events \\
  -H 'Authorization: Bearer ${token}' \\
  -H 'Content-Type: application/json' \\
  -d '{"project_id": "${projectId}", "events": [
    ${event}]}'`,
    },
    {
      name: "A log file",
      about:
        "Lines of text or JSON, as a program wrote them. Level, message and time are read where loggers write them; a line without a level is info. A JSON array of objects is sent as application/json.",
      text: `curl ${origin}/ingest/${projectId} \\
  -H 'Authorization: Bearer ${token}' \\
  -H 'Content-Type: text/plain' \\
  --data-binary @app.log`,
    },
    {
      name: "tool",
      about: "Runs an app and sends its log: the project is the name in tool.json.",
      text: `TOOL_LOGS_TOKEN=${token} tool start --logs-url ${origin}`,
    },
    {
      name: "JavaScript",
      isOfEvents: true,
      about: "Node 18 or later, Deno, Bun, and browsers.",
      text: `await fetch("${origin}/add_events", {
  method: "POST",
  headers: {
    "Authorization": "Bearer ${token}",
    "Content-Type": "application/json",
  },
  body: JSON.stringify({
    project_id: "${projectId}",
    events: [{ level: "info", message: "hello", fields: { answer: 42 } }],
  }),
});`,
    },
    {
      name: "Python",
      isOfEvents: true,
      about: "Without packages. A whole client is generated from the document at /openapi.json.",
      text: `import json, urllib.request

events = [{"level": "info", "message": "hello", "fields": {"answer": 42}}]
urllib.request.urlopen(urllib.request.Request(
    "${origin}/add_events",
    json.dumps({"project_id": "${projectId}", "events": events}).encode(),
    {"Authorization": "Bearer ${token}", "Content-Type": "application/json"},
))`,
    },
    ...recipes(place),
  ];
}
