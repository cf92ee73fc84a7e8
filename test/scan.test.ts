// The scan of `tool logs`: that the prefilter, the partial reader, blocks, segments and threads change nothing but the time.
import t from "tap";
import { comparePrefilter } from "./support/scan-fuzz.ts";

t.test("20,000 pairs of a query and a line: the prefilter loses no line and adds none", (t) => {
  const { pairs, selected, planned, differ } = comparePrefilter(20_000, 1);
  t.same(differ.slice(0, 10), []);
  t.ok(selected > pairs / 20 && selected < pairs / 2, `${selected} of ${pairs} selected`);
  t.ok(planned > pairs / 3, `${planned} of ${pairs} with a prefilter`);
  t.end();
});
