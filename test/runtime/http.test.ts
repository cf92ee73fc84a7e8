// What the pipeline answers, over loopback and in front of a real app. The rows are in vectors/http*.json.
import t from "tap";
import type { Entry } from "../../grammar/entry.ts";
import { checkLogs, checkResponse, httpSuites, sendRow, titleOf } from "../support/http-rows.ts";
import { start } from "../support/runtime.ts";

// Each suite has a proxy and an app of its own.
t.jobs = 3;

for (const { name, rows, ...project } of httpSuites()) {
  t.test(name, async (t) => {
    const server = await start(t, project);
    for (const row of rows) {
      await t.test(titleOf(row), async (t) => {
        const before = server.entries.length;
        checkResponse(t, row, await sendRow(server.port, row));
        if (row.logs === undefined) return;
        await server.entry((entry) => endsRequest(entry) && server.entries.indexOf(entry) >= before);
        checkLogs(t, row, server.entries.slice(before));
      });
    }
  });
}

/** What could not be read as a request makes one entry alone. */
const endsRequest = (entry: Entry) => ["response", "malformed request"].includes(entry.message);
