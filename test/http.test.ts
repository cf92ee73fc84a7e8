// What the pipeline answers, over loopback and in front of a real app. The rows stand in vectors/http.json.
import t from "tap";
import { checkResponse, isResponse, logsOf, send, suites, titleOf } from "./support/http-rows.ts";
import { start } from "./support/runtime.ts";

for (const { name, rows, ...project } of suites) {
  t.test(name, async (t) => {
    const server = await start(t, project);
    for (const row of rows) {
      await t.test(titleOf(row), async (t) => {
        const before = server.entries.length;
        checkResponse(t, row, await send(server.port, row));
        if (row.logs !== undefined) {
          await server.entry((entry) => isResponse(entry) && server.entries.indexOf(entry) >= before);
          t.same(logsOf(server.entries.slice(before)), row.logs);
        }
      });
    }
  });
}
