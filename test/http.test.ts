// What the pipeline answers, over loopback and in front of a real app. The rows stand in vectors/http*.json.
import t from "tap";
import type { Entry } from "../grammar/entry.ts";
import { bytesOf, checkResponse, httpSuites, type Row, titleOf } from "./support/http-rows.ts";
import { ask, askRaw, type RawResponse, start } from "./support/runtime.ts";

for (const { name, rows, ...project } of httpSuites()) {
  t.test(name, async (t) => {
    const server = await start(t, project);
    for (const row of rows) {
      await t.test(titleOf(row), async (t) => {
        const before = server.entries.length;
        checkResponse(t, row, await send(server.port, row));
        if (row.logs === undefined) return;
        await server.entry((entry) => endsRequest(entry) && server.entries.indexOf(entry) >= before);
        const own = server.entries.slice(before).filter((entry) => !["request", "response"].includes(entry.message));
        t.same(
          own.map(({ level, message }) => `${level} ${message}`),
          row.logs,
        );
      });
    }
  });
}

function send(port: number, row: Row): Promise<RawResponse> {
  const { request, headers, body } = row;
  if (typeof request !== "string") return askRaw(port, bytesOf(request));
  const [method = "", path = ""] = request.split(" ");
  return ask(port, { method, path, ...(headers && { headers }), ...(body !== undefined && { body }) });
}

/** What could not be read as a request makes one entry alone. */
const endsRequest = (entry: Entry) => ["response", "malformed request"].includes(entry.message);
