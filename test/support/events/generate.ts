// Events as programs write them, from a seed: the same ones on every machine.
import { LEVEL_SPELLINGS, LEVELS } from "../../../grammar/query/index.ts";
import type { NewEvent } from "../../../logservice/events/store.ts";
import { type Random, randomOf } from "../random.ts";

/** Events of requests and jobs, `spacingMs` apart, with fields of mixed types, lists, rare paths and odd keys among them. */
export function oddEvents(count: number, seed: number, beginMs: number, spacingMs: number): NewEvent[] {
  const random = randomOf(seed);
  return Array.from({ length: count }, (_, i) => oddEvent(random, i, beginMs + i * spacingMs));
}

function oddEvent(random: Random, i: number, atMs: number): NewEvent {
  // Some arrive late, and some clocks are finer or elsewhere.
  const ms = random.chance(0.05) ? atMs - random.below(3_600_000) : atMs;
  const plain = new Date(ms).toISOString();
  const timestamp = random.chance(0.9)
    ? plain
    : random.pick([
        plain.replace("Z", "123Z"),
        plain.replace("Z", "+00:00"),
        `${plain.slice(0, 19)}.000000001Z`,
        plain.slice(0, 19) + "Z",
      ]);
  const spelling = random.pick(LEVEL_SPELLINGS[random.pick(LEVELS)]);
  const level = random.chance(0.7)
    ? spelling
    : [...spelling].map((letter) => (random.chance(0.5) ? letter : letter.toUpperCase())).join("");
  const status = random.pick([200, 200, 200, 201, 301, 404, 500, 503]);
  const fields: Record<string, unknown> = {
    status,
    duration: random.below(100_000) / 8,
    method: random.pick(["GET", "GET", "POST", "PUT"]),
    path: random.pick(["/", "/account/billing", "/health", "/héalth", "/a_b%c"]),
    cached: random.chance(0.3),
    user: { id: random.below(500), email: `user${random.below(50)}@example.com` },
  };
  if (random.chance(0.3)) fields.stage = random.pick(["production", "staging", "pr-12"]);
  if (random.chance(0.2)) fields.tags = random.pick([["a"], ["a", "b"], [], ["b", 1, true], [["c"], 2]]);
  if (random.chance(0.2)) fields.mixed = random.pick<unknown>(["5", 5, true, null, "five", ["5", 6], { deep: 1 }]);
  if (random.chance(0.1)) fields["odd key"] = { "a.b": random.pick([1, "x"]), "": "empty", "star*": 1 };
  if (random.chance(0.05)) fields.level = "of the fields";
  if (random.chance(0.05)) fields.error = { message: '*failed*\n"twice"', stack: ["at a", "at b"] };
  if (random.chance(0.01)) fields[`rare${random.below(5)}`] = random.pick<unknown>([1, "1", false, null]);
  if (random.chance(0.02)) fields.Status = "other case";
  if (random.chance(0.02)) fields.big = random.pick([1e21, 5e-7, -0.5, 9007199254740991]);
  const message = random.pick([
    "request",
    "job done",
    "timeout after 5 s",
    "",
    "日本 \u{1f600}",
    'say "hi"\u0000\\',
    `number ${i}`,
  ]);
  return { ...(random.chance(0.2) && { id: `own-${seedless(i)}` }), timestamp, level, message, fields };
}

const seedless = (i: number) => i.toString(16).padStart(6, "0");
