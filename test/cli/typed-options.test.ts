// The options of a command: what the table says about its words and flags, as types and as values. The lines after
// `@ts-expect-error` are rows, too: a build fails if the compiler takes one of them.
import t from "tap";
import { readArgv } from "../../cli/argv.ts";
import type { CommandTable, OptionsOf } from "../../cli/command-row.ts";
import { readOptions } from "../../cli/read-options.ts";
import { type CommandName, describeTable, type Options, TABLE } from "../../cli/table.ts";

const CAR = {
  "rent <car> [days]": {
    summary: "",
    flags: {
      "-o, --open": "A switch",
      "--no-seats": "A switch that is on",
      "-c, --color <name>": "A text",
      "--fuel <kind>": { about: "A text with a default", default: "diesel" },
      "-n, --wheels <number>": { about: "A number", number: { from: 1, of: "wheels", example: 4 } },
      "--doors <number>": { about: "Doors", default: 5, number: { from: 0, of: "doors", example: 3 } },
      "--trip-to <town...>": "A text that may be repeated",
    },
    examples: [],
  },
  "rent all [car...]": { summary: "", examples: [] },
} as const satisfies CommandTable;

/** Whether two types are the same, members and modifiers included. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only for `true`. */
function holds<_Claim extends true>(): void {}

t.test("types follow from the table", (t) => {
  holds<
    Same<
      OptionsOf<typeof CAR, "rent">,
      {
        readonly car: string;
        readonly days: string | undefined;
        readonly open: boolean;
        readonly seats: boolean;
        readonly color: string | undefined;
        readonly fuel: string;
        readonly wheels: number | undefined;
        readonly doors: number;
        readonly "trip-to": readonly string[];
      }
    >
  >();
  holds<Same<OptionsOf<typeof CAR, "rent all">, { readonly car: readonly string[] }>>();
  holds<Same<Options<"prune">, { readonly stage: string; readonly retain: number; readonly sandbox: boolean }>>();
  holds<Same<Options<"service token">["scope"], readonly string[]>>();
  // @ts-expect-error: a text is no number
  holds<Same<Options<"prune">["retain"], string>>();

  const options = {} as Options<"logs">;
  // @ts-expect-error: the table has no such flag
  options.colour;
  // @ts-expect-error: a flag of another command
  options.retain;
  // @ts-expect-error: it may be absent
  options.since?.length satisfies number;
  // @ts-expect-error: a switch has no text
  options.follow satisfies string;
  // @ts-expect-error: it may be repeated
  options.file satisfies string;
  // @ts-expect-error: commands do not change what they were asked
  options.follow = true;

  type Run<Name extends CommandName> = (options: Options<Name>) => void;
  ((_: { readonly stage: string }) => {}) satisfies Run<"url">;
  // @ts-expect-error: a command that reads a flag that the table lacks
  ((_: { readonly stage: string; readonly copies: number }) => {}) satisfies Run<"url">;
  // @ts-expect-error: a command that reads a flag as another kind
  ((_: { readonly open: string }) => {}) satisfies Run<"url">;
  // @ts-expect-error: a command that does not expect that it is absent
  ((_: { readonly query: string }) => {}) satisfies Run<"logs">;
  // @ts-expect-error: no command of the table
  ({}) as Options<"lgos">;

  const number = { from: 1, of: "wheels", example: 4 };
  ({
    a: { summary: "", flags: { "--x <n>": { about: "", default: 3, number } }, examples: [] },
  }) satisfies CommandTable;
  // @ts-expect-error: a flag begins with dashes
  ({ a: { summary: "", flags: { open: "" }, examples: [] } }) satisfies CommandTable;
  ({
    // @ts-expect-error: the default of a number is a number
    a: { summary: "", flags: { "--x <n>": { about: "", default: "3", number } }, examples: [] },
  }) satisfies CommandTable;
  // @ts-expect-error: a text has no default number
  ({ a: { summary: "", flags: { "--x <n>": { about: "", default: 3 } }, examples: [] } }) satisfies CommandTable;
  // @ts-expect-error: a command has examples
  ({ a: { summary: "" } }) satisfies CommandTable;
  t.end();
});

t.test("values follow from the table", (t) => {
  const absent = {
    car: "vw",
    days: undefined,
    open: false,
    seats: true,
    color: undefined,
    fuel: "diesel",
    wheels: undefined,
    doors: 5,
    "trip-to": [],
  };
  const rows: [argv: string[], change: object | string][] = [
    [["rent", "--", "vw"], {}],
    [["rent", "--", "vw", "3"], { days: "3" }],
    [["rent", "--", "--open", "-3"], { car: "--open", days: "-3" }],
    [["rent", "--open", "--no-seats", "--", "vw"], { open: true, seats: false }],
    [["rent", "--color=1e3", "--fuel=0x10", "--", "007"], { car: "007", color: "1e3", fuel: "0x10" }],
    [["rent", "--color=true", "--", "vw"], { color: "true" }],
    [["rent", "--wheels=4", "--doors=0", "--", "vw"], { wheels: 4, doors: 0 }],
    [["rent", "--trip-to=rome", "--", "vw"], { "trip-to": ["rome"] }],
    [["rent", "--trip-to=1", "--trip-to=rome", "--", "vw"], { "trip-to": ["1", "rome"] }],
    [["rent", "--wheels=0", "--", "vw"], '--wheels "0": not a number of wheels; write --wheels 4'],
    [["rent", "--wheels=04", "--", "vw"], '--wheels "04": not a number of wheels; write --wheels 4'],
    [["rent", "--wheels=1e3", "--", "vw"], '--wheels "1e3": not a number of wheels; write --wheels 4'],
    [["rent", "--doors=-1", "--", "vw"], '--doors "-1": not a number of doors; write --doors 3'],
    [["rent", "--doors=999999999999999", "--", "vw"], { doors: 999_999_999_999_999 }],
    [
      ["rent", "--doors=1000000000000000", "--", "vw"],
      '--doors "1000000000000000": not a number of doors; write --doors 3',
    ],
  ];
  for (const [argv, expected] of rows) {
    const read = readOptions(CAR, "rent", argv);
    const got = read.ok ? read.value : read.problems.map(({ message, hint }) => `${message}; ${hint}`).join("\n");
    t.strictSame(got, typeof expected === "string" ? expected : { ...absent, ...expected }, argv.join(" "));
  }
  for (const words of [[], ["vw"], ["vw", "bmw", "--open"]]) {
    const read = readOptions(CAR, "rent all", ["rent", "all", "--", ...words]);
    t.strictSame(read, { ok: true, value: { car: words } }, `rent all ${words.join(" ")}`);
  }
  t.end();
});

t.test("every command gets each of its words and flags", (t) => {
  for (const command of describeTable()) {
    const words = [...command.usage.matchAll(/[<[]([\w-]+)/g)].map(([, word]) => word!);
    const flags = command.flags.map(({ long }) => long.replace(/^no-/, ""));
    const written = command.flags.map(({ long, value }) => (value === undefined ? `--${long}` : `--${long}=7`));
    const needed = Array.from({ length: command.minWords }, (_, i) => `word${i}`);
    for (const argv of [
      [...command.name.split(" "), ...needed],
      [...command.name.split(" "), ...written, ...needed],
    ]) {
      const result = readArgv(argv, describeTable());
      // `tool help` and its words are read before any command.
      if (result.kind === "help") continue;
      if (result.kind !== "command") return t.fail(`${argv.join(" ")}: ${result.kind}`);
      const read = readOptions(TABLE, command.name as CommandName, result.argv);
      if (!read.ok) return t.fail(`${argv.join(" ")}: ${read.problems[0]!.message}`);
      t.strictSame(Object.keys(read.value).sort(), [...words, ...flags].sort(), argv.join(" "));
    }
  }
  t.end();
});
