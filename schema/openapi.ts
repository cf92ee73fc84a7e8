import { neededWords, PUBLIC_SCOPE, type RpcSchema, type ValueSchema } from "./rpc-schema.ts";

/** OpenAPI 3.1 of the log service: every operation, and the routes beside them. Source: spec.openapis.org/oas/v3.1.0. */
export function openApi(schema: RpcSchema, version: string): object {
  const paths: Record<string, object> = {};
  for (const [name, { group, summary, scope, input, output, outputIf }] of Object.entries(schema.operations)) {
    paths[`/${name}`] = {
      post: {
        operationId: name,
        tags: [group],
        summary,
        description: neededWords(scope, (text) => `\`${text}\``),
        security: scope === PUBLIC_SCOPE ? [] : [{ token: scope.includes(":") ? [scope] : [] }],
        requestBody: { required: (input.required ?? []).length > 0, content: json(inOpenApi(input)) },
        responses: {
          ...(output !== undefined && { 200: { description: "The answer.", content: json(inOpenApi(output)) } }),
          ...((output === undefined || outputIf !== undefined) && { 204: { description: "Done." } }),
          default: { $ref: "#/components/responses/Error" },
        },
      },
    };
  }
  const { definitions } = schema;
  return {
    openapi: "3.1.0",
    info: { title: schema.title, version, description: schema.description },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths: { ...paths, ...OTHER_PATHS },
    components: {
      schemas: Object.fromEntries(Object.entries(definitions).map(([name, part]) => [name, inOpenApi(part)])),
      responses: {
        Error: { description: "What went wrong.", content: json({ $ref: "#/components/schemas/Error" }) },
      },
      securitySchemes: { token: { type: "http", scheme: "bearer", description: "A token, lgs_..." } },
    },
  };
}

const json = (schema: object) => ({ "application/json": { schema } });

/** The same keywords, with definitions where OpenAPI has them. */
function inOpenApi(schema: ValueSchema): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/definitions/', '"#/components/schemas/'));
}

const failed = { default: { $ref: "#/components/responses/Error" } };
const open = (summary: string, content: object) => ({
  get: { summary, security: [], responses: { 200: { description: "The answer.", content }, ...failed } },
});

const OTHER_PATHS = {
  "/ingest/{project}": {
    post: {
      operationId: "ingest",
      tags: ["events"],
      summary:
        "Stores the lines of a log: JSON objects as events, other lines as messages. An invalid line is skipped.",
      description: "Needs the scope `events:write`.",
      security: [{ token: ["events:write"] }],
      parameters: [{ name: "project", in: "path", required: true, schema: { $ref: "#/components/schemas/ProjectId" } }],
      requestBody: {
        required: true,
        content: {
          "application/x-ndjson": { schema: { type: "string" } },
          "text/plain": { schema: { type: "string" } },
        },
      },
      responses: {
        200: { description: "The answer.", content: json({ $ref: "#/components/schemas/BatchReport" }) },
        ...failed,
      },
    },
  },
  "/tail": {
    get: {
      operationId: "tail",
      tags: ["events"],
      summary: "Streams new events as server-sent events.",
      description:
        "Needs the scope `events:read`. Last-Event-ID resumes after an event. `event: dropped` gives the number of missed events; `event: error` the reason the stream ends, such as a removed token.",
      security: [{ token: ["events:read"] }],
      parameters: [
        { name: "project_id", in: "query", required: true, schema: { $ref: "#/components/schemas/ProjectId" } },
        { name: "query", in: "query", schema: { $ref: "#/components/schemas/Query" } },
        { name: "Last-Event-ID", in: "header", schema: { type: "string" } },
      ],
      responses: {
        200: { description: "Events.", content: { "text/event-stream": { schema: { type: "string" } } } },
        ...failed,
      },
    },
  },
  "/export": {
    get: {
      operationId: "export",
      tags: ["events"],
      summary: "Streams the file that `add_export` has prepared.",
      description:
        "Needs the scope `events:read`. X-Missing-Bytes says how many bytes of events are lost. A response that breaks off is not the whole file.",
      security: [{ token: ["events:read"] }],
      parameters: [{ name: "ticket", in: "query", required: true, schema: { type: "string" } }],
      responses: {
        200: {
          description: "The file.",
          headers: {
            "Content-Disposition": { schema: { type: "string" } },
            "X-Missing-Bytes": { schema: { type: "integer" } },
          },
          content: {
            "application/x-ndjson": { schema: { type: "string" } },
            "text/csv": { schema: { type: "string" } },
          },
        },
        ...failed,
      },
    },
  },
  "/openapi.json": open("This document.", json({ type: "object" })),
  "/reference": open("The reference as a web page.", { "text/html": { schema: { type: "string" } } }),
  "/_health": open("Whether the service is running.", json({ type: "object" })),
  "/_ready": open("Whether the service is ready, and how many events are missing.", json({ type: "object" })),
  "/metrics": open("Metrics, for Prometheus.", { "text/plain": { schema: { type: "string" } } }),
};
