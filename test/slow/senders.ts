// Loggers with the recipes of the page "Send events": the real packages, built and run as people would.
import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Event } from "../../schema/rpc.generated.ts";
import { requires } from "../support/require.ts";
import { senderWorld } from "../support/senders.ts";

const said = (events: readonly Event[]) => events.map(({ level, message }) => [level, message]);

const NODE_ROWS = [
  [
    "pino",
    `log.warn({ path: "/a" }, "slow");
log.error(new RangeError("too many"), "failed");
log.fatal("over");`,
    [
      ["warning", "slow"],
      ["error", "failed"],
      ["emergency", "over"],
    ],
    ({ fields }: Event) => (fields?.err as { stack: string } | undefined)?.stack,
  ],
  [
    "winston",
    `log.warn("slow", { path: "/a" });
log.error("failed", new RangeError("too many"));
log.debug("is not sent");`,
    [
      ["warning", "slow"],
      ["error", "failed too many"],
    ],
    ({ fields }: Event) => fields?.stack,
  ],
] as const;

/** The folder in which `.ci/run` installed them. */
const packages = process.env.TOOL_TEST_LOGGERS ?? "";
const isLeftOut =
  packages === "" && process.env.TOOL_TEST_REQUIRE !== "all"
    ? "needs pino and winston: npm install --prefix DIR pino winston, then TOOL_TEST_LOGGERS=DIR"
    : false;

t.test("of npm", { skip: isLeftOut }, async (t) => {
  for (const [name, program, expected, traceOf] of NODE_ROWS) {
    const world = await senderWorld(t);
    symlinkSync(join(packages, "node_modules"), join(world.folder, "node_modules"));
    const output = await world.run({ "log.mjs": `${world.recipe(name)}\n${program}\n` }, [process.execPath, "log.mjs"]);
    t.equal(output, "", "nothing goes wrong");
    const events = await world.events();
    t.same(said(events), expected);
    t.equal(events[0]!.fields?.path, "/a");
    t.match(traceOf(events[1]!), /^RangeError: too many\n {4}at .*\n/, "the trace is in its event");
    notOfArrival(t, events);
  }
});

t.test("Go slog", { skip: requires("go") }, async (t) => {
  const world = await senderWorld(t);
  const main = `package main

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

func main() {
	logs := &Logs{}
	defer logs.Flush()
	log := NewLogger(logs)
	log.Warn("slow", "path", "/a", "duration", 1500*time.Microsecond, slog.Group("db", "took", 2*time.Second))
	log.Error("failed", "err", errors.New("too many"))
	log.Log(context.Background(), slog.LevelInfo+2, "between")
}
`;
  await world.run({ "logs.go": world.recipe("Go slog"), "main.go": main, "go.mod": "module shop\n\ngo 1.21\n" }, [
    ...["go", "run", "."],
  ]);
  const events = await world.events();
  t.same(said(events), [
    ["warning", "slow"],
    ["error", "failed"],
    ["info", "between"],
  ]);
  t.same(events[0]!.fields, { path: "/a", duration: 1.5, db: { took: 2000 } }, "in milliseconds");
  t.same(events[1]!.fields, { err: "too many" });
  notOfArrival(t, events);
});

t.test("log4j2", { skip: requires("mvn") }, async (t) => {
  const world = await senderWorld(t);
  const dependency = (artifact: string) =>
    `<dependency><groupId>org.apache.logging.log4j</groupId><artifactId>${artifact}</artifactId><version>2.25.2</version></dependency>`;
  const pom = `<project><modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>shop</artifactId><version>1</version>
<dependencies>${dependency("log4j-core")}${dependency("log4j-layout-template-json")}</dependencies></project>`;
  const program = `import org.apache.logging.log4j.*;
class Shop {
  public static void main(String[] args) {
    Logger log = LogManager.getLogger("shop");
    log.debug("is not sent");
    log.warn("slow");
    log.error("failed", new IllegalStateException("too many"));
    log.fatal("over");
  }
}
`;
  await world.run({ "pom.xml": pom, "Shop.java": program, "log4j2.xml": world.recipe("log4j2") }, [
    ...["mvn", "-q", "dependency:copy-dependencies", "-DoutputDirectory=libs"],
  ]);
  t.ok(readdirSync(join(world.folder, "libs")).length >= 3);
  t.equal(await world.run({}, ["java", "-cp", "libs/*:.", "Shop.java"]), "", "nothing goes wrong");
  const events = await world.events();
  t.same(said(events), [
    ["warning", "slow"],
    ["error", "failed"],
    ["emergency", "over"],
  ]);
  t.match(events[1]!.fields?.["error.stack_trace"], /^java.lang.IllegalStateException: too many\n\tat /);
  notOfArrival(t, events);
});

/** Each time is that of the logger: all would be the same, or later, if it were that of arrival. */
function notOfArrival(t: Test, events: readonly Event[]): void {
  for (const { fields } of events)
    for (const key of ["time", "timestamp", "@timestamp"]) t.notOk(key in (fields ?? {}), `${key} was read`);
}
