// How numbers are written on the pages, against Intl, which is too slow for the first painting.
import fc from "fast-check";
import t from "tap";
import {
  bytes,
  count,
  duration,
  eventCountText,
  lengthText,
  missingText,
  number,
  perText,
} from "../../../logservice/ui/kit/numbers.ts";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const digits = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 6 });

t.test("counts and numbers are as Intl writes them", (t) => {
  for (const value of [0, 1, 12, 999, 1000, 18_211, 1e6, 2 ** 53, 1e21, 123e300, -5, -1234.5678, Infinity, NaN])
    t.equal(number(value), Number.isInteger(value) ? whole.format(value) : digits.format(value), String(value));
  for (const value of [0.5, 0.000_001, 1.5e-7, 3.25e-300, 1234.5678, 0.1 + 0.2])
    t.equal(number(value), digits.format(value));
  const integers = fc.sample(fc.maxSafeInteger(), { seed: 3, numRuns: 500 });
  t.same(
    integers.map(count),
    integers.map((value) => whole.format(value)),
  );
  // Doubles just beside a half differ: one rounds what is stored, the other what it is printed as.
  const doubles = fc
    .sample(fc.double({ noNaN: true, noDefaultInfinity: true }), { seed: 3, numRuns: 500 })
    .filter((value) => !/5$/.test(String(value).split("e")[0]!.slice(0, 9)));
  t.same(
    doubles.map(number),
    doubles.map((value) => (Number.isInteger(value) ? whole : digits).format(value || 0)),
  );
  t.equal(count(-0), "0");
  t.end();
});

t.test("one event is no plural", (t) => {
  t.same([0, 1, 2, 18_211].map(eventCountText), ["0 events", "1 event", "2 events", "18,211 events"]);
  t.end();
});

t.test("bytes that an answer lacks may be missing: nobody knows that they are lost", (t) => {
  t.equal(missingText(4_100_000), "About 4.1 MB of events may be missing.");
  t.equal(missingText(0.5, "in this range"), "About 0.5 B of events in this range may be missing.");
  t.end();
});

t.test("sizes and durations have three digits that matter", (t) => {
  t.same([0, 999, 1_000, 4_100_000, 999_499, 999_500, 5e15].map(bytes), [
    ...["0 B", "999 B", "1 KB", "4.1 MB", "999 KB", "1 MB", "5,000 TB"],
  ]);
  t.same([0, 0.1234, 12.345, 999.4, 999.5, 1_280, 99_499, 99_500].map(duration), [
    ...["0 ms", "0.123 ms", "12.3 ms", "999 ms", "1 s", "1.28 s", "99.5 s", "1 min 40 s"],
  ]);
  t.same([300_000, 3_600_000, 7_200_000, 86_400_000, 172_800_000, 180_000_000].map(lengthText), [
    ...["5 min", "1 hour", "2 hours", "1 day", "2 days", "2 d 2 h"],
  ]);
  t.same([500, 1_000, 60_000, 300_000, 3_600_000, 86_400_000].map(perText), [
    ...["per 500 ms", "per second", "per minute", "per 5 min", "per hour", "per day"],
  ]);
  t.end();
});
