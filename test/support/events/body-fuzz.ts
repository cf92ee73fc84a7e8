// Bodies of add_events as text, written in every way that JSON has.
import type { Random } from "../random.ts";

const TEXTS = [
  ...[
    "",
    "a",
    "status",
    "user.email",
    "\u00e9",
    "\ud83d\ude00",
    "\u2028",
    "\u0000",
    "\n\t\b\f\r",
    '"',
    "\\",
    "/",
    "\u007f",
  ],
  ...[
    "__proto__",
    "toJSON",
    "0",
    "17",
    "ud800",
    "\\ud800",
    "\u001f",
    "Aa",
    "BB",
    "AaAa",
    "BBBB",
    "AaBB",
    "{[",
    "]}",
    ",",
  ],
];
const NUMBERS = [
  ...[
    "0",
    "-0",
    "1",
    "-1",
    "7.5",
    "1.0",
    "1E2",
    "1e-7",
    "0.000001",
    "0.0000001",
    "0.1",
    "-0.25",
    "1.50",
    "200",
    "1e400",
  ],
  ...[
    "12345678901234567890",
    "9007199254740993",
    "123456789012345.6",
    "0.1234567890123456",
    "1e21",
    "1e+21",
    "00",
    "-",
  ],
];
const TIMES = [
  ...["2024-05-01T10:00:00Z", "2024-05-01T10:00:00.000Z", "2024-05-01T10:00:59.999Z", "2024-05-01T10:00:60Z", "", "no"],
  ...["2024-05-01T10:00:00.123456789Z", "2024-05-01T10:00:00.1234567899Z", "2024-05-01T10:00:00.5Z", "2024-5-1T10:00Z"],
  ...["0001-01-01T00:00:00Z", "0001-01-01T00:00:01Z", "1969-07-20T20:17:40.000Z", "2024-05-01t10:00:00+02:00"],
];
const LEVELS = ["info", "warning", "warn", "err", "Fatal", "INFO", "", "informal"];

/** Mostly right where it is `tidy`: what is wrong with a body otherwise hides what may be wrong after it. */
export function bodyText(random: Random, isTidy: boolean): string {
  const events = Array.from({ length: 1 + random.below(4) }, () => eventText(random, isTidy));
  const members = [
    `"project_id"${colon(random)}"app"`,
    `"events"${colon(random)}[${space(random)}${events.join(comma(random))}${space(random)}]`,
  ];
  for (const name of ["strict", "partial"]) {
    const truth = isTidy ? random.pick(["true", "false"]) : value(random, 0);
    if (random.chance(0.1)) members.push(`"${name}"${colon(random)}${truth}`);
  }
  if (random.chance(0.5)) members.reverse();
  if (!isTidy && random.chance(0.05)) members.push(`"more":${value(random, 2)}`);
  return `${space(random)}{${members.join(comma(random))}}${space(random)}`;
}

export function eventText(random: Random, isTidy: boolean): string {
  const members = [
    `"level"${colon(random)}"${isTidy ? random.pick(LEVELS.slice(0, 6)) : random.pick(LEVELS)}"`,
    `"message"${colon(random)}${isTidy ? text(random, "m") : value(random, 0)}`,
  ];
  if (random.chance(0.5)) members.push(`"id"${colon(random)}${isTidy ? text(random, "") : value(random, 0)}`);
  if (random.chance(0.7))
    members.push(`"timestamp"${colon(random)}"${random.pick(isTidy ? TIMES.slice(0, 4) : TIMES)}"`);
  if (random.chance(0.8)) members.push(`"fields"${colon(random)}${random.chance(0.95) ? object(random, 3) : "null"}`);
  if (!isTidy && random.chance(0.05)) members.push(random.pick(members));
  if (!isTidy && random.chance(0.05)) members.push(`"other"${colon(random)}${value(random, 2)}`);
  members.sort(() => random.below(3) - 1);
  return `{${space(random)}${members.join(comma(random))}${space(random)}}`;
}

function object(random: Random, depth: number): string {
  const members = Array.from(
    { length: random.below(5) },
    () => `${text(random, "")}${colon(random)}${value(random, depth)}`,
  );
  return `{${space(random)}${members.join(comma(random))}${space(random)}}`;
}

function value(random: Random, depth: number): string {
  if (depth > 0 && random.chance(0.15)) return object(random, depth - 1);
  if (depth > 0 && random.chance(0.15)) {
    const parts = Array.from({ length: random.below(4) }, () => value(random, depth - 1));
    return `[${space(random)}${parts.join(comma(random))}${space(random)}]`;
  }
  if (random.chance(0.3)) return random.pick(random.chance(0.9) ? NUMBERS.slice(0, -2) : NUMBERS);
  if (random.chance(0.1)) return random.pick(["true", "false", "null"]);
  return text(random, "");
}

/** A text, now and then with escapes that nobody needs and half pairs. */
function text(random: Random, before: string): string {
  const json = JSON.stringify(before + random.pick(TEXTS) + (random.chance(0.3) ? random.pick(TEXTS) : ""));
  if (random.chance(0.9)) return json;
  const odd = random.pick(["\\u0061", "\\/", "\\ud800", "\\u001F", "\\u00E9", "\\ud83d\\ude00", "\\u000a", "\\u0022"]);
  return `${json.slice(0, -1)}${odd}"`;
}

const space = (random: Random) => (random.chance(0.1) ? random.pick([" ", "\n", "\t", "\r\n  "]) : "");
const colon = (random: Random) => `${space(random)}:${space(random)}`;
const comma = (random: Random) => `${space(random)},${space(random)}`;
