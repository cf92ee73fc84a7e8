// Every operation over HTTP: what it answers, what it needs, who may ask, whose records it shows. The rows are made of
// schema/rpc.schema.json, so that an operation without them is an error here.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import t from "tap";
import { newToken } from "../../logservice/access/token.ts";
import { operations } from "../../logservice/rpc/operations.ts";
import type { Scope } from "../../schema/rpc.generated.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import { ANY_SCOPE, PERSON_SCOPE, PUBLIC_SCOPE, resolveRef, type ValueSchema } from "../../schema/rpc-schema.ts";
import { root } from "../support/cli.ts";
import { BODIES, makeWorld, type Name } from "../support/operation-bodies.ts";
import { SCOPES, startTestService, type TestService } from "../support/service.ts";

const TEAM_SCOPES = ["team:read", "team:write", "team:owner", "billing:write"];

const names = Object.keys(rpcSchema.operations) as Name[];

/** A token that may do an operation: that of a new owner for what is for people. */
function tokenFor(service: TestService, name: Name): Promise<string> | string {
  const { scope } = rpcSchema.operations[name]!;
  if (scope !== PERSON_SCOPE && !TEAM_SCOPES.includes(scope)) return service.owner;
  return service.person(`${name}@example.com`, "owner");
}

/** The operations that a world of one record refuses; and SQL, for which the oracle has no engine. */
const OTHER_ANSWERS: Partial<Record<Name, readonly [status: number, type: string]>> = {
  query: [400, "bad_request"],
  remove_token: [404, "not_found"],
  remove_notification: [409, "conflict"],
  retry_delivery: [404, "not_found"],
  test_alert: [502, "notification_failed"],
  rotate_webhook_secret: [409, "conflict"],
  confirm_notification: [409, "conflict"],
  confirm_sign_in: [404, "not_found"],
  remove_team: [409, "conflict"],
  add_member_link: [404, "not_found"],
  accept_invite: [404, "not_found"],
  update_member: [404, "not_found"],
  remove_member: [404, "not_found"],
  remove_ci_token: [404, "not_found"],
  add_subscription: [409, "conflict"],
  change_card: [409, "conflict"],
  remove_subscription: [409, "conflict"],
};

function outputOf(name: Name): ValueSchema | undefined {
  const { output } = rpcSchema.operations[name]!;
  return output && resolveRef(output, rpcSchema);
}

t.test("a client that is not ours calls every operation", (t) => {
  // The client itself is run by slow tests alone.
  const client = readFileSync(join(root, "test/slow/service-python.py"), "utf8");
  const missing = names.filter((name) => !client.includes(`"${name}"`));
  t.same(missing, []);
  t.end();
});

t.test("every operation has a scope, a handler and a row here", (t) => {
  for (const name of names) {
    t.ok(
      [...SCOPES, ANY_SCOPE, PERSON_SCOPE, PUBLIC_SCOPE, ...TEAM_SCOPES].includes(rpcSchema.operations[name]!.scope),
      `${name}: ${rpcSchema.operations[name]!.scope}`,
    );
  }
  t.same(Object.keys(operations).sort(), [...names].sort());
  t.same(Object.keys(BODIES).sort(), [...names].sort());
  t.end();
});

for (const engine of ["oracle", "duckdb"] as const) {
  t.test(`a valid body, answered as the schema says (${engine})`, async (t) => {
    const service = await startTestService(t, { engine });
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: "rpc", definitions: rpcSchema.definitions });
    const kept = await makeWorld(service);
    for (const name of names) {
      const world = name.startsWith("remove_") ? await makeWorld(service) : kept;
      const { json, status, text, headers } = await service.call(
        name,
        BODIES[name](world),
        await tokenFor(service, name),
      );
      const other = engine === "duckdb" && name === "query" ? undefined : OTHER_ANSWERS[name];
      if (other !== undefined) {
        t.same([status, json.type], other, `${name}: ${text}`);
        continue;
      }
      const output = outputOf(name);
      if (output === undefined) {
        t.equal(status, 204, `${name}: ${text}`);
        t.equal(text, "", name);
        continue;
      }
      t.equal(status, 200, `${name}: ${text}`);
      t.equal(headers["content-type"], "application/json", name);
      const refs = JSON.parse(JSON.stringify(closed(output)).replaceAll('"#/', '"rpc#/'));
      const validate = ajv.compile(refs);
      t.ok(validate(json), `${name}: ${JSON.stringify(validate.errors)} ${text}`);
    }
    t.same(service.logged, []);
  });
}

/** No key that the schema does not know, at the outermost level at least. */
function closed(schema: ValueSchema): object {
  return { ...schema, additionalProperties: false };
}

interface Place {
  readonly path: readonly string[];
  readonly schema: ValueSchema;
  readonly isRequired: boolean;
  /** Whether it is part of a change, of which only the members that name the record are read by themselves. */
  readonly isChange: boolean;
}

/** The members of an input, one level into its record. */
function placesOf(name: Name): Place[] {
  const places: Place[] = [];
  const visit = (schema: ValueSchema, path: readonly string[], isChange: boolean) => {
    for (const [key, member] of Object.entries(schema.properties ?? {})) {
      const own = resolveRef(member, rpcSchema);
      places.push({ path: [...path, key], schema: own, isRequired: schema.required?.includes(key) ?? false, isChange });
      if (own.properties !== undefined) visit(own, [...path, key], member.$ref?.endsWith("Update") ?? false);
    }
  };
  visit(rpcSchema.operations[name]!.input, [], false);
  return places;
}

function withValue(body: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  const copy = { ...(body as Record<string, unknown>) };
  if (rest.length > 0) copy[key!] = withValue(copy[key!], rest, value);
  else if (value === undefined) delete copy[key!];
  else copy[key!] = value;
  return copy;
}

t.test("each required member missing, or zero", async (t) => {
  const service = await startTestService(t);
  const world = await makeWorld(service);
  for (const name of names) {
    const token = await tokenFor(service, name);
    for (const { path, schema, isRequired } of placesOf(name)) {
      if (!isRequired) continue;
      const zeros: unknown[] = [undefined, null];
      if (schema.type === "string") zeros.push("");
      if (schema.type === "integer") zeros.push(0);
      if (schema.format === "date-time") zeros.push("0001-01-01T00:00:00Z");
      for (const zero of zeros) {
        const { status, json } = await service.call(name, withValue(BODIES[name](world), path, zero), token);
        t.same(
          [status, json],
          [400, { type: "invalid", message: `${path.join(".")}: is required` }],
          `${name} ${path.join(".")} = ${zero}`,
        );
      }
    }
  }
});

t.test("each member of a wrong type", async (t) => {
  const service = await startTestService(t);
  const world = await makeWorld(service);
  const wrong: Record<string, unknown> = {
    string: 5,
    integer: "5",
    boolean: "yes",
    array: {},
    object: [],
    number: "5",
  };
  for (const name of names) {
    const token = await tokenFor(service, name);
    for (const { path, schema } of placesOf(name)) {
      const [type] = [schema.type ?? "string"].flat() as string[];
      const { status, json } = await service.call(name, withValue(BODIES[name](world), path, wrong[type!]), token);
      t.same([status, json.type], [400, "invalid"], `${name} ${path.join(".")}: ${JSON.stringify(json)}`);
      t.ok(json.message.startsWith(`${path.join(".")}: must be `), json.message);
    }
  }
});

t.test("unknown members are ignored, bodies that are no object refused", async (t) => {
  const service = await startTestService(t);
  const world = await makeWorld(service);
  for (const name of names) {
    if (OTHER_ANSWERS[name] !== undefined || name.startsWith("remove_")) continue;
    const token = () => tokenFor(service, name);
    const more = { ...BODIES[name](world), nobody_knows: [{}], __proto: 1 };
    const { status, text } = await service.call(name, more, await token());
    t.ok(status === 200 || status === 204, `${name}: ${text}`);
    for (const body of [[], "text", 5, null, true]) {
      const { json } = await service.call(name, body, await token());
      t.same(
        json,
        { type: "bad_request", message: "the body must be a JSON object" },
        `${name} ${JSON.stringify(body)}`,
      );
    }
  }
});

const FOR_PEOPLE: ReadonlySet<string> = new Set([PERSON_SCOPE, ...TEAM_SCOPES]);

t.test("scopes: all but the one that is needed, and only that one", async (t) => {
  const service = await startTestService(t);
  const without = new Map<Scope, string>();
  const only = new Map<Scope, string>();
  for (const scope of SCOPES) {
    without.set(scope, await service.token(SCOPES.filter((one) => one !== scope)));
    only.set(scope, await service.token([scope]));
  }
  const kept = await makeWorld(service);
  for (const name of names) {
    const world = name.startsWith("remove_") ? await makeWorld(service) : kept;
    const scope = rpcSchema.operations[name]!.scope as Scope;
    if (FOR_PEOPLE.has(scope)) {
      const refused = await service.call(name, BODIES[name](world), service.owner);
      const message = "this is for people only: sign in (tool team login)";
      t.same([refused.status, refused.json], [403, { type: "forbidden", message }], `${name} with every scope`);
      continue;
    }
    if ((scope as string) === PUBLIC_SCOPE) {
      const { status } = await service.send({ path: `/${name}`, body: JSON.stringify(BODIES[name](world)) });
      t.equal(status, OTHER_ANSWERS[name]?.[0] ?? 200, `${name} without a token`);
      continue;
    }
    if ((scope as string) === ANY_SCOPE) {
      for (const [one, token] of only)
        t.equal((await service.call(name, {}, token)).status, 200, `${name} with ${one}`);
      t.equal((await service.call(name, {}, newToken())).status, 401, `${name} without a token of ours`);
      continue;
    }
    const refused = await service.call(name, {}, without.get(scope));
    t.same(
      [refused.status, refused.json],
      [403, { type: "forbidden", message: `this token lacks the scope ${scope}` }],
      `${name} without ${scope}`,
    );
    const { status, text } = await service.call(name, BODIES[name](world), only.get(scope));
    const granted =
      name === "add_token" ? 403 : (OTHER_ANSWERS[name]?.[0] ?? (rpcSchema.operations[name]!.output ? 200 : 204));
    t.equal(status, granted, `${name} with ${scope} alone: ${text}`);
  }
  // The routes beside the operations. A tail that is granted does not end: test/logservice/service-wire.test.ts has it.
  const routes: [method: string, path: string, scope: Scope, granted: number | undefined][] = [
    ["POST", `/ingest/${kept.project}`, "events:write", 200],
    ["GET", `/tail?project_id=${kept.project}`, "events:read", undefined],
  ];
  for (const [method, path, scope, granted] of routes) {
    const send = (token: string) =>
      service.send({
        method,
        path,
        headers: { authorization: `Bearer ${token}` },
        ...(method === "POST" && { body: "x" }),
      });
    for (const other of SCOPES) {
      if (other !== scope) t.equal((await send(only.get(other)!)).status, 403, `${path} with ${other} alone`);
    }
    if (granted !== undefined) t.equal((await send(only.get(scope)!)).status, granted, `${path} with ${scope} alone`);
  }
});

t.test("without a token, with a wrong one, with a removed one", async (t) => {
  const service = await startTestService(t);
  const removed = await service.token(SCOPES);
  t.equal((await service.call("remove_token", { token_id: removed })).status, 204);
  const rows: [string, Record<string, string>][] = [
    ["none", {}],
    ["no scheme", { authorization: service.owner }],
    ["another scheme", { authorization: `Basic ${service.owner}` }],
    ["a slip", { authorization: `Bearer ${service.owner.slice(0, -1)}${service.owner.endsWith("0") ? "1" : "0"}` }],
    ["a long one", { authorization: `Bearer ${"x".repeat(10_000)}` }],
    ["removed", { authorization: `Bearer ${removed}` }],
  ];
  for (const name of names) {
    if (rpcSchema.operations[name]!.scope === PUBLIC_SCOPE) continue;
    for (const [title, headers] of rows) {
      const { status, json, headers: answered } = await service.send({ path: `/${name}`, headers, body: "{}" });
      t.same([status, json.type, answered["www-authenticate"]], [401, "unauthorized", "Bearer"], `${name}: ${title}`);
    }
  }
});

t.test("another project's records are not there", async (t) => {
  const service = await startTestService(t);
  const mine = await makeWorld(service);
  const theirs = await makeWorld(service);
  for (const name of names) {
    const body = BODIES[name](mine);
    for (const { path } of placesOf(name)) {
      // The audit tells of projects that were removed, too.
      if (path.at(-1) !== "project_id" || name === "add_events" || name === "get_audit") continue;
      const unknown = await service.call(name, withValue(body, path, "nobody"));
      t.same([unknown.status, unknown.json.type], [404, "not_found"], `${name} of a project that is not there`);
      const hasId = /_(alert|notification|search)$/.test(name) && !name.startsWith("add_");
      if (!hasId) continue;
      const others = await service.call(name, withValue(body, path, theirs.project));
      // An alert that is only looked at names a notification of the first project, which a replay does not look at.
      const expected =
        name === "test_alert" ? [400, "invalid"] : name === "preview_alert" ? [200, undefined] : [404, "not_found"];
      t.same([others.status, others.json.type], expected, `${name} with the id of another project`);
    }
  }
  const events = await service.call("add_events", { ...BODIES.add_events(mine), project_id: "nobody" });
  t.same([events.status, events.json.type], [404, "not_found"]);
  for (const world of [mine, theirs]) {
    const alert = await service.call("get_alert", { project_id: world.project, alert_id: world.alert });
    t.equal(alert.json.alert.threshold, 3, "nothing was changed");
  }
});

t.test("other methods", async (t) => {
  const service = await startTestService(t);
  for (const name of names) {
    for (const method of ["GET", "PUT", "DELETE", "HEAD"]) {
      const { status, headers, json } = await service.send({ method, path: `/${name}` });
      t.same([status, headers.allow, headers["content-type"]], [405, "POST", "application/json"], `${method} ${name}`);
      if (method !== "HEAD") t.equal(json.type, "bad_request");
    }
  }
});
