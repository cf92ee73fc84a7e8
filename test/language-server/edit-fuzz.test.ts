// Random edits through the running server; test/slow/edit-fuzz.ts makes more of them.
import t from "tap";
import { fuzzEdits } from "../support/edit-fuzz.ts";
import { startLsp } from "../support/lsp-client.ts";
import { slow } from "../support/slow.ts";

const ROUNDS = 40;

t.test(`after edits every answer is that of a file opened fresh: ${ROUNDS} texts`, slow(), async (t) => {
  const client = startLsp();
  try {
    await client.initialize({ capabilities: { textDocument: { diagnostic: {} } } });
    t.same(await fuzzEdits(client, ROUNDS, 7), []);
    t.same(
      client.received.filter(({ method }) => method === "window/logMessage"),
      [],
      "nothing failed inside",
    );
    t.equal(await client.stop(), 0, "ends well");
  } finally {
    client.child.kill();
  }
});
