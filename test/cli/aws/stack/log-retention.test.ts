// How long CloudWatch keeps the log of an app: a new log group, one that was there, and what apply asks.
import { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import t from "tap";
import { openCloud } from "../../../../cli/aws/clients.ts";
import { changeRetention, makeLogGroup, retentionChange, retentionInPlan } from "../../../../cli/aws/log-retention.ts";
import { retentionLines } from "../../../../cli/output/stack-text.ts";
import { toolSchema } from "../../../../schema/index.ts";
import { startAws } from "../../../support/aws/index.ts";
import { openApp } from "../../../support/deployed-app.ts";
import { slow } from "../../../support/slow.ts";
import { TestClock } from "../../../support/test-clock.ts";

const GROUP = "/aws/lambda/app";
const { signal } = new AbortController();

async function open(t: Parameters<typeof startAws>[0]) {
  const aws = await startAws(t);
  const cloud = openCloud({
    env: aws.env,
    clock: new TestClock(),
    region: aws.region,
    profile: undefined,
    sandbox: undefined,
  });
  const client = new CloudWatchLogs(aws.client);
  const groups = async () => (await client.describeLogGroups({ logGroupNamePrefix: GROUP })).logGroups ?? [];
  return { cloud, client, groups };
}

t.test("a new log is kept for 30 days, or as tool.json says", async (t) => {
  for (const [retention, days] of [
    [undefined, 30],
    ["7d", 7],
    ["3653d", 3653],
  ] as const) {
    const { cloud, groups } = await open(t);
    await makeLogGroup(cloud, { name: "app", ...(retention && { logs: { retention } }) }, { signal });
    t.match(await groups(), [{ logGroupName: GROUP, retentionInDays: days }], retention ?? "by default");
  }
});

t.test("a log that was there stays as it is", async (t) => {
  const { cloud, client, groups } = await open(t);
  await client.createLogGroup({ logGroupName: GROUP });
  await makeLogGroup(cloud, { name: "app" }, { signal });
  t.equal((await groups())[0]!.retentionInDays, undefined);
  t.equal(await retentionChange(cloud, { name: "app" }, signal), undefined, "nothing is written");
});

t.test("each retention that tool.json may have is one of the platform", async (t) => {
  const { cloud, client, groups } = await open(t);
  await client.createLogGroup({ logGroupName: GROUP });
  const logs = (toolSchema as { definitions: Record<string, { properties: Record<string, { enum?: string[] }> }> })
    .definitions.logs!;
  for (const retention of logs.properties.retention!.enum!.toReversed() as "30d"[]) {
    const config = { name: "app", logs: { retention } };
    const change = await retentionChange(cloud, config, signal);
    // The last one is what a log without a policy has.
    if (change !== undefined) await changeRetention(cloud, "app", change, signal);
    const days = (await groups())[0]!.retentionInDays;
    t.equal(days === undefined ? "forever" : `${days}d`, retention);
    t.equal(await retentionChange(cloud, config, signal), undefined, "done");
  }
});

t.test("only what is shortened is asked for", (t) => {
  for (const [before, after, asks] of [
    [undefined, 30, true],
    [30, 7, true],
    [7, 30, false],
    [30, undefined, false],
  ] as const) {
    t.equal(retentionInPlan("app", { before, after }).needsConfirmation, asks, `${before} to ${after}`);
  }
  t.end();
});

t.test("a change of the log alone is said", (t) => {
  for (const [before, after, line] of [
    [undefined, 30, "changed: retention of the log, for ever -> 30 days"],
    [30, 7, "changed: retention of the log, 30 days -> 7 days"],
    [7, undefined, "changed: retention of the log, 7 days -> for ever"],
  ] as const) {
    const change = retentionInPlan("app", { before, after });
    t.same(retentionLines([{ ...change, about: "stage of the gateway" }, change]), [line]);
  }
  t.end();
});

t.test("apply shortens the log of an app when it is told to", slow(), async (t) => {
  const { aws, app, configure } = await openApp(t, {});
  const client = new CloudWatchLogs(aws.client);
  const days = async () =>
    (await client.describeLogGroups({ logGroupNamePrefix: GROUP })).logGroups?.[0]?.retentionInDays;
  t.equal((await app.tool(["deploy"])).code, 0);
  t.equal(await days(), 30, "made by the deploy");
  configure({ logs: { retention: "7d" } });
  const plan = await app.tool(["stack", "plan"]);
  t.match(plan.stdout, /retention of the log/);
  const refused = await app.tool(["stack", "apply"]);
  t.equal(refused.code, 2);
  t.match(refused.stderr, /this shortens retention of the log, and there is no terminal to confirm it/);
  t.equal(await days(), 30);
  t.equal((await app.tool(["stack", "apply", "--yes"])).code, 0);
  t.equal(await days(), 7);
});
