// The edits of test/language-server/edit-fuzz.test.ts, more of them: EDIT_FUZZ_COUNT texts (100), drawn by EDIT_FUZZ_SEED.
// `npm run fuzz:edits` makes 2,000.
import t from "tap";
import { fuzzEdits } from "../support/edit-fuzz.ts";
import { startLsp } from "../support/lsp-client.ts";

const count = Number(process.env.EDIT_FUZZ_COUNT ?? 100);
const seed = Number(process.env.EDIT_FUZZ_SEED ?? 1);

t.test(`${count} edited texts`, async (t) => {
  const client = startLsp();
  try {
    await client.initialize({ capabilities: { textDocument: { diagnostic: {} } } });
    t.same(await fuzzEdits(client, count, seed), []);
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
