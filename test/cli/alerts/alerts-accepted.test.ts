// The `logs` that tool validate accepts, held against what the service accepts: of both, the same is wrong.
import fc from "fast-check";
import t, { type Test } from "tap";
import { asConfig } from "../../../cli/alerts/as-config.ts";
import { parseDuration } from "../../../grammar/units/duration.ts";
import { checkConfig } from "../../../schema/index.ts";
import { MEMBERS } from "../../../schema/notification-members.ts";
import type { NotificationInput } from "../../../schema/rpc.generated.ts";
import { startTestService } from "../../support/service.ts";

type Values = Readonly<Record<string, unknown>>;

const isValid = (logs: object) =>
  checkConfig(JSON.stringify({ name: "hello", logs })).problems.every(({ severity }) => severity !== "error");

const OPS = { ops: { type: "email", email_addresses: ["ops@example.com"] } };

/** Durations as minutes, which the service takes. */
function asInput({ interval, repeat, ...others }: Values): Values {
  const minutes = (text: unknown) => {
    const read = parseDuration(String(text));
    return read.ok ? read.value / 60_000 : text;
  };
  return {
    severity: "error",
    ...others,
    ...(interval !== undefined && { interval: minutes(interval) }),
    ...(repeat !== undefined && { repeat: minutes(repeat) }),
  };
}

async function open(t: Test) {
  const service = await startTestService(t, { limits: { requestsPerSecond: 100_000, requestBurst: 100_000 } });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const add = async (kind: "alert" | "notification", input: object) => {
    const { status, json } = await service.call(`add_${kind}`, { [kind]: { project_id: "app", ...input } });
    if (status === 200) await service.call(`remove_${kind}`, { project_id: "app", [`${kind}_id`]: json.id });
    return { isTaken: status === 200, message: json?.message };
  };
  const { json } = await service.call("add_notification", {
    notification: { project_id: "app", name: "ops", ...OPS.ops },
  });
  return {
    alert: async (name: string, values: Values) => ({
      isValid: isValid({ notifications: OPS, alerts: { [name]: { ...values, notify: "ops" } } }),
      ...(await add("alert", { ...asInput(values), name, notification_id: json.id })),
    }),
    notification: async (values: Values) => {
      const { needed, holds } = MEMBERS[values.type as NotificationInput["type"]];
      const secret = holds === "address" ? "https://hooks.example.com/x" : "0123456789abcdef0123456789abcdef";
      return {
        isValid: isValid({
          notifications: { ops: holds === "recipients" ? values : { ...values, [needed]: "$A_SECRET" } },
        }),
        ...(await add("notification", { ...values, name: "n", ...(holds !== "recipients" && { [needed]: secret }) })),
      };
    },
  };
}

const ALERT = { query: "error", operator: ">", threshold: 1, interval: "5m" };

t.test("one value of an alert after the other", async (t) => {
  const { alert } = await open(t);
  const rows: readonly (readonly [name: string, values: Values, isTaken: boolean])[] = [
    ["errors", {}, true],
    ["\u{1f4a5}".repeat(255), {}, true],
    ["\u{1f4a5}".repeat(256), {}, false],
    ["x".repeat(256), {}, false],
    ["a", { description: "\u{1f4a5}".repeat(4_096) }, true],
    ["a", { description: "x".repeat(4_097) }, false],
    ["a", { interval: "1d" }, true],
    ["a", { interval: "1441m" }, false],
    ["a", { interval: "90s" }, false],
    ["a", { repeat: "7d" }, true],
    ["a", { repeat: "10081m" }, false],
    ["a", { threshold: 1.5 }, false],
    ["a", { threshold: -1 }, false],
    ["a", { query: "| limit 5" }, false],
    ["a", { query: "status >= 500 | count by path" }, true],
    ["a", { query: `a = ${"x".repeat(16_384)}` }, false],
  ];
  for (const [name, values, isTaken] of rows) {
    const answer = await alert(name, { ...ALERT, ...values });
    t.match(
      answer,
      { isTaken, isValid: isTaken },
      `${name.slice(0, 10)} ${JSON.stringify(values).slice(0, 60)} ${answer.message}`,
    );
  }
});

t.test("notifications", async (t) => {
  const { notification } = await open(t);
  const email = (...email_addresses: string[]) => ({ type: "email", email_addresses });
  const sms = (...sms_numbers: string[]) => ({ type: "sms", sms_numbers });
  const many = (count: number) => Array.from({ length: count }, (_, i) => `a${i}@example.com`);
  const rows: readonly (readonly [values: Values, isTaken: boolean])[] = [
    [email("ops@example.com"), true],
    [email("\u00e9@ex\u00e4mple.com"), true],
    [email("a.b+c@a-b.example.com"), true],
    [email("a@-b.com"), false],
    [email("a@b-.com"), false],
    [email("a@exa_mple.com"), false],
    [email("a.@example.com"), false],
    [email("a..b@example.com"), false],
    [email("a\u0000@example.com"), false],
    [email("a\u200b@example.com"), false],
    [email(`${"a".repeat(65)}@example.com`), false],
    [email("a@127.0.0.1"), false],
    [email("a@b@example.com"), false],
    [email(...many(100)), true],
    [email(...many(101)), false],
    [sms("+12125550123"), true],
    [sms("12125550123x"), false],
    [{ type: "slack", slack_channel: "#ops" }, true],
    [{ type: "slack", slack_channel: "x".repeat(255) }, true],
    [{ type: "slack", slack_channel: "x".repeat(256) }, false],
    [{ type: "webhook" }, true],
    [{ type: "pagerduty" }, true],
  ];
  for (const [values, isTaken] of rows) {
    const answer = await notification(values);
    t.match(answer, { isTaken, isValid: isTaken }, `${JSON.stringify(values).slice(0, 80)} ${answer.message}`);
  }
});

t.test("alerts of any values", async (t) => {
  const { alert } = await open(t);
  const oneOf = (...values: unknown[]) => fc.constantFrom(...values);
  const values = fc.record(
    {
      query: oneOf(
        "error",
        "x | count by path",
        "| timeseries 1m by path",
        "x | limit 5",
        "x | sort level",
        "(",
        "a | b",
      ),
      operator: oneOf(">", ">=", "<", "<=", "=", "!="),
      threshold: oneOf(0, 10, 2 ** 53 - 1, 1e300, "5", -1),
      interval: oneOf("1m", "1h", "1d", "2d", "30s"),
      severity: oneOf("info", "notice", "critical", "fatal"),
      for: oneOf(1, 60, 61, 1.5),
      recover: oneOf(1, 60, 61, -1),
      repeat: oneOf("1h", "7d", "8d"),
      limit: oneOf(1, 100, 101),
      muted: oneOf(true, false, "no"),
      description: oneOf("x", "x\ny"),
    },
    { requiredKeys: ["query", "operator"] },
  );
  await fc.assert(
    fc.asyncProperty(values, async (one) => {
      const { isValid, isTaken } = await alert("a", { ...one });
      return isValid === isTaken;
    }),
    { numRuns: 30 },
  );
});

t.test("names of records that tool.json cannot have", (t) => {
  const notification = (id: string, name: string, type: "webhook" | "slack" = "webhook") =>
    ({ id, name, type, project_id: "app" }) as never;
  const long = "x".repeat(255);
  const { logs, secrets } = asConfig({
    alerts: [],
    searches: [],
    notifications: [
      notification("1", "ops a"),
      notification("2", "ops-a"),
      notification("3", "ops.a", "slack"),
      notification("4", long),
      notification("5", long),
      notification("6", " "),
    ],
  });
  t.same(Object.keys(logs.notifications), ["ops a", "ops-a", "ops.a", long, `${"x".repeat(253)}-2`, "unnamed"]);
  t.same(
    secrets.slice(0, 3).map(({ name }) => name),
    ["OPS_A_WEBHOOK", "OPS_A_WEBHOOK_2", "OPS_A_WEBHOOK_3"],
  );
  t.equal(new Set(secrets.map(({ name }) => name)).size, 6, "each secret has a name of its own");
  t.ok(isValid(logs));
  t.end();
});
