// The lines that users see while the cloud throttles calls.

import t from "tap";
import { openCloud } from "../../../cli/aws/clients.ts";
import { deployProgress } from "../../../cli/output/deploy-progress.ts";
import { type ProgressEvent, THROTTLED } from "../../../cli/platform/progress.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { THROTTLING } from "../../support/aws/failures.ts";
import { startAws } from "../../support/aws/index.ts";
import { openApp } from "../../support/deployed-app.ts";
import { slow } from "../../support/slow.ts";
import { TestClock } from "../../support/test-clock.ts";

t.test("each attempt that is throttled is told, and that it is over", async (t) => {
  const rows = [
    ["lambda", "ListFunctions", THROTTLING.lambda],
    ["s3", "ListBuckets", THROTTLING.s3],
    ["cloudformation", "DescribeStacks", THROTTLING.query],
    ["acm", "ListCertificates", THROTTLING.any],
  ] as const;
  for (const [service, operation, error] of rows) {
    const aws = await startAws(t);
    const cloud = openCloud({ env: aws.env, clock: systemClock, region: aws.region, sandbox: undefined });
    const events: string[] = [];
    const stop = cloud.onThrottling({ throttled: () => events.push("throttled"), resumed: () => events.push("over") });
    const call = async () => {
      if (service === "lambda") return (await cloud.lambda()).listFunctions();
      if (service === "s3") return (await cloud.s3()).listBuckets();
      if (service === "acm") return (await cloud.acm()).listCertificates();
      return (await cloud.cloudFormation()).describeStacks();
    };
    aws.controls.failures.plan({ service, operation, error, times: 2 });
    await call();
    t.same(events.splice(0), ["throttled", "throttled", "over"], `${service}.${operation}`);
    await call();
    aws.controls.failures.plan({
      service,
      operation,
      error: { code: "ServiceUnavailable", status: 503 },
      drop: "before",
    });
    await call().catch(() => {});
    t.same(events, [], "other failures are not");
    aws.controls.failures.clear();
    aws.controls.failures.plan({ service, operation, error });
    stop();
    await call();
    t.same(events, [], "nobody listens any more");
  }
});

t.test("the line of a terminal, and lines elsewhere", async (t) => {
  const linesFor = (isTerminal: boolean, events: readonly ProgressEvent[]) => {
    const written: string[] = [];
    const write = async (more: string) => void written.push(more);
    const stderr = { isTerminal, columns: 120, color: false, write };
    const progress = deployProgress({
      io: { stderr, clock: new TestClock() },
      verbose: false,
      say: (line: string) => write(`${line}\n`),
    } as never);
    for (const event of events) progress.report(event);
    progress.end();
    return written.join("").replaceAll("\r", "").replaceAll("\u001b[K", "");
  };
  const throttled = { kind: "throttled", isOver: false } as const;
  const over = { kind: "throttled", isOver: true } as const;
  const begin = { kind: "begin", phase: "publish" } as const;
  const end = { kind: "end", phase: "publish" } as const;
  const rows: [name: string, events: ProgressEvent[], terminal: string, elsewhere: string][] = [
    ["before any phase", [throttled, over], `${THROTTLED}\n`, `${THROTTLED}\n`],
    [
      "in a phase",
      [begin, throttled, over, end],
      `⠋ publish (0s)⠋ publish (0s): ${THROTTLED}⠋ publish (0s)publish (0ms)\n`,
      `publish: ${THROTTLED}\npublish (0ms)\n`,
    ],
    [
      "again and again",
      [begin, throttled, throttled, over, throttled, over, end],
      `⠋ publish (0s)⠋ publish (0s): ${THROTTLED}⠋ publish (0s): ${THROTTLED}⠋ publish (0s)⠋ publish (0s): ${THROTTLED}⠋ publish (0s)publish (0ms)\n`,
      `publish: ${THROTTLED}\npublish (0ms)\n`,
    ],
  ];
  for (const [name, events, terminal, elsewhere] of rows) {
    t.equal(linesFor(true, events), terminal, `${name}, on a terminal`);
    t.equal(linesFor(false, events), elsewhere, `${name}, elsewhere`);
  }
});

t.test("by the real command", slow(), async (t) => {
  const { aws, app } = await openApp(t, {});
  const throttle = (service: "lambda" | "cloudformation", operation: string) =>
    aws.controls.failures.plan({
      service,
      operation,
      error: service === "lambda" ? THROTTLING.lambda : THROTTLING.query,
    });
  throttle("lambda", "CreateFunction");
  const first = await app.tool([]);
  t.match([first.code, first.stderr], [0, `publish: ${THROTTLED}\n`]);
  t.match(first.stdout, /^https:.*\n$/, "stdout is the address alone");
  app.write({ "more.txt": "more" });
  throttle("lambda", "GetAlias");
  const look = await app.tool(["deploy", "--format", "json"]);
  t.match([look.code, look.stderr], [0, new RegExp(`^${THROTTLED}$`, "m")], "the first look");
  t.equal(JSON.parse(look.stdout).outcome, "updated");
  for (const argv of [["rollback"], ["deploys"], ["prune"]]) {
    throttle("lambda", argv[0] === "rollback" ? "UpdateAlias" : "ListAliases");
    const { code, stderr } = await app.tool(argv);
    t.match([code, stderr], [0, `${THROTTLED}\n`], `${argv[0]}`);
    aws.controls.failures.clear();
  }
  throttle("cloudformation", "DescribeStacks");
  const status = await app.tool(["stack"]);
  t.match([status.code, status.stderr], [0, `${THROTTLED}\n`], "stack");
  const quiet = await app.tool([]);
  t.notMatch(quiet.stderr, "throttled");
});
