// Who may do what: every operation with every kind of credential. The table is written by hand from what roles and tokens
// are meant to be allowed, and asks the code about nothing.
import { randomUUID } from "node:crypto";
import t from "tap";
import { readNetworks } from "../../logservice/access/client-address.ts";
import { newToken } from "../../logservice/access/token.ts";
import { addToken } from "../../logservice/access/tokens.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import { ask, bearer, type Credential, ciToken, ingest, openTail, session } from "../support/credentials.ts";
import { BODIES, makeWorld, type Name, type World } from "../support/operation-bodies.ts";
import { SCOPES, startTestService, type TestService } from "../support/service.ts";

/**
 * For each operation: what a token needs, the lowest role that may do it, whether a token of CI may, and what is answered
 * to whoever may. A need that begins with `team:` or `billing:`, and `person`, are for people alone; `any` takes every credential and
 * `public` none. The role `person` is anybody who is signed in, also outside of all teams.
 */
const TABLE = `
  get_projects              projects:read        member   ci  200
  add_project               projects:write       admin    -   200
  update_project            projects:write       admin    -   204
  remove_project            projects:write       admin    -   404
  get_project_stats         projects:read        member   ci  200
  get_usage                 projects:read        member   ci  200
  add_events                events:write         member   ci  200
  ingest                    events:write         member   ci  200
  tail                      events:read          member   -   200
  search                    events:read          member   -   200
  get_count                 events:read          member   -   200
  get_timeseries            events:read          member   -   200
  get_level_timeseries      events:read          member   -   200
  aggregate                 events:read          member   -   200
  add_export                events:read          member   -   200
  query                     events:read          member   -   400
  get_discovered_fields     events:read          member   -   200
  get_string_field_stats    events:read          member   -   200
  get_boolean_field_stats   events:read          member   -   200
  get_numeric_field_stats   events:read          member   -   200
  get_alerts                alerts:read          member   -   200
  get_alert                 alerts:read          member   -   200
  add_alert                 alerts:write         member   -   200
  update_alert              alerts:write         member   -   204
  remove_alert              alerts:write         member   -   404
  test_alert                alerts:write         member   -   502
  preview_alert             alerts:write         member   -   200
  get_alert_episodes        alerts:read          member   -   200
  get_notifications         notifications:read   member   -   200
  get_notification          notifications:read   member   -   200
  add_notification          notifications:write  member   -   200
  check_notification        notifications:read   member   -   204
  update_notification       notifications:write  member   -   204
  remove_notification       notifications:write  member   -   404
  get_deliveries            notifications:read   member   -   200
  retry_delivery            notifications:write  member   -   404
  rotate_webhook_secret     notifications:write  member   -   409
  confirm_notification      notifications:write  member   -   409
  get_searches              searches:read        member   -   200
  add_search                searches:write       member   -   200
  update_search             searches:write       member   -   204
  remove_search             searches:write       member   -   404
  get_tokens                tokens:read          admin    -   200
  add_token                 tokens:write         admin    -   200
  remove_token              tokens:write         admin    -   404
  get_audit                 tokens:read          admin    -   200
  get_instance_config       any                  person   ci  200
  start_sign_in             public               public   -   200
  poll_sign_in              public               public   -   200
  confirm_sign_in           public               public   -   404
  get_account               any                  person   ci  200
  get_teams                 person               person   -   200
  accept_invite             person               person   -   404
  get_members               team:read            member   -   200
  update_team               team:write           admin    -   204
  add_member                team:write           admin    -   200
  add_member_link           team:write           admin    -   404
  update_member             team:write           admin    -   404
  remove_member             team:write           admin    -   404
  get_ci_tokens             team:write           admin    -   200
  add_ci_token              team:write           admin    -   200
  remove_ci_token           team:write           admin    -   404
  remove_team               team:owner           owner    -   409
  get_subscription          any                  member   ci  200
  add_subscription          billing:write        owner    -   409
  change_card               billing:write        owner    -   409
  remove_subscription       billing:write        owner    -   409
  add_team                  person               person   -   200
  sign_out                  person               person   -   204
`;

interface Row {
  readonly name: Name | "ingest" | "tail";
  readonly need: string;
  readonly role: string;
  readonly isForCi: boolean;
  readonly status: number;
}

const rows: readonly Row[] = TABLE.trim()
  .split("\n")
  .map((line) => {
    const [name, need, role, ci, status] = line.trim().split(/ +/) as [Row["name"], string, string, string, string];
    return { name, need, role, isForCi: ci === "ci", status: Number(status) };
  });

const ROLES = ["member", "admin", "owner"];
const FIRST = "owner";
const OTHER = "other";

/** Answers to a credential: the message of a refusal, or undefined if it may do the operation. */
type May = (row: Row) => readonly [status: number, message: string] | undefined;

interface Asker {
  readonly title: string;
  /** Makes the credential, which may be asked for more than once. */
  readonly credential: () => Promise<Credential> | Credential;
  readonly may: May;
  /** Whose project the bodies speak of; that of the first team unless told otherwise. */
  readonly team?: string;
}

const forPeople = ({ need }: Row) => /^(?:person$|team:|billing:)/.test(need);

function byToken(isAllowed: (row: Row) => boolean): May {
  return (row) => {
    if (row.need === "public" || row.need === "any") return undefined;
    if (forPeople(row)) return [403, "this is for people only: sign in (tool team login)"];
    return isAllowed(row) ? undefined : [403, `this token lacks the scope ${row.need}`];
  };
}

function byRole(role: string): May {
  return ({ name, need, role: least }) => {
    if (least === "public" || least === "person" || ROLES.indexOf(role) >= ROLES.indexOf(least)) return undefined;
    if (name === "remove_member") return [403, "members may remove only themselves: ask an admin"];
    const who = least === "owner" ? "an owner" : "an owner or admin";
    return [403, `your role in this team is ${role}, which lacks ${need}: ask ${who}`];
  };
}

/** A refusal of everything but what needs no credential. */
const refused =
  (status: number, message: string): May =>
  ({ need }) =>
    need === "public" ? undefined : [status, message];

const UNKNOWN = refused(401, "this token is not known: it may have been removed");
const ENDED = refused(401, "the session has ended: sign in again");

async function askersOf(service: TestService): Promise<readonly Asker[]> {
  const { records, person } = service;
  const now = new Date().toISOString();
  const long = "2020-01-01T00:00:00Z";
  const api = (scopes: Parameters<TestService["token"]>[0]) => async () => bearer(await service.token(scopes));
  const ofRole = (role: "member" | "admin" | "owner"): readonly Asker[] => {
    const may = byRole(role);
    const cookie = async (email: string) => {
      await person(email, role);
      return session(service, email);
    };
    // Each is a person of its own, since each adds a team of its own.
    const named = async () => ({ ...(await cookie(`named.${role}@example.com`)), "x-team": FIRST });
    return [
      {
        title: `${role}, command line`,
        may,
        credential: async () => bearer(await person(`${role}@example.com`, role)),
      },
      { title: `${role}, session`, may, credential: () => cookie(`cookie.${role}@example.com`) },
      { title: `${role}, session with X-Team`, may, credential: named },
    ];
  };
  const both = "both@example.com";
  const inBoth = (more: Credential) => async () => {
    await person(both, "member");
    await person(both, "admin", OTHER);
    return { ...(await session(service, both)), ...more };
  };
  const several = "X-Team: is required: you are in several teams or in none; get_teams lists them";
  const needsTeam: May = ({ role }) => (ROLES.includes(role) ? [400, several] : undefined);
  const idle = async () => {
    await person("idle@example.com", "owner");
    const thirteenHoursMs = 13 * 3_600_000;
    return session(service, "idle@example.com", Date.now() - thirteenHoursMs);
  };
  const unused = async () => {
    await person("unused@example.com", "owner");
    const user = await records.db.selectFrom("users").select("id").where("email", "=", "unused@example.com").execute();
    const command = { team: FIRST, kind: "command", by: user[0]!.id, scopes: [] } as const;
    return bearer((await addToken(records.db, command, long)).secret);
  };
  const removed = async () => {
    const token = await service.token(SCOPES);
    await service.call("remove_token", { token_id: token });
    return bearer(token);
  };
  const removedMember = async () => {
    const token = await person("gone@example.com", "member");
    await records.db
      .deleteFrom("memberships")
      .where("user_id", "in", (db) => db.selectFrom("users").select("id").where("email", "=", "gone@example.com"))
      .execute();
    return bearer(token);
  };
  const foreign = (whose: string) => refused(403, `${whose} "absent"`);
  const pageOfOthers = { origin: "https://example.com" };
  const otherPage = refused(403, "a request with a cookie must come from a page of this service");
  return [
    { title: "an API token of every scope", may: byToken(() => true), credential: api(SCOPES) },
    ...SCOPES.map((scope) => ({
      title: `an API token of ${scope}`,
      may: byToken(({ need }) => need === scope),
      credential: api([scope]),
    })),
    {
      title: "a token of CI",
      may: byToken(({ isForCi }) => isForCi),
      credential: async () => bearer((await ciToken(service, FIRST)).secret),
    },
    ...ofRole("member"),
    ...ofRole("admin"),
    ...ofRole("owner"),
    { title: "member of two, as member", may: byRole("member"), credential: inBoth({ "x-team": FIRST }) },
    { title: "member of two, as admin", may: byRole("admin"), credential: inBoth({ "x-team": OTHER }), team: OTHER },
    { title: "member of two, without X-Team", may: needsTeam, credential: inBoth({}) },
    {
      title: "X-Team of strangers",
      may: foreign("you are not in the team"),
      credential: inBoth({ "x-team": "absent" }),
    },
    {
      title: "a token with X-Team of strangers",
      may: foreign("this token is not of the team"),
      credential: async () => ({ ...(await api(SCOPES)()), "x-team": "absent" }),
    },
    {
      title: "no credential",
      may: refused(401, "a token is needed: send the header Authorization: Bearer <token>"),
      credential: () => ({}),
    },
    { title: "an unknown token", may: UNKNOWN, credential: () => bearer(newToken()) },
    { title: "a removed token", may: UNKNOWN, credential: removed },
    { title: "the token of a removed member", may: UNKNOWN, credential: removedMember },
    {
      title: "an expired token of CI",
      may: refused(401, "this token has expired: its time was set when it was made; make another one"),
      credential: async () => bearer((await ciToken(service, FIRST, now)).secret),
    },
    { title: "a token of the command line, unused for years", may: UNKNOWN, credential: unused },
    { title: "an idle session", may: ENDED, credential: idle },
    {
      title: "a session that was signed out",
      may: ENDED,
      credential: async () => {
        const [, cookie] = [await person("out@example.com", "owner"), await session(service, "out@example.com")];
        await ask(service, "sign_out", {}, cookie);
        return cookie;
      },
    },
    {
      title: "a session from a page of others",
      may: (row) => (row.need === "public" ? [403, otherPage({ ...row, need: "" })![1]] : otherPage(row)),
      credential: async () => {
        await person("page@example.com", "owner");
        return { ...(await session(service, "page@example.com")), ...pageOfOthers };
      },
    },
  ];
}

/** Operations that remove name records that are not there, so that every asker finds the same. */
const ABSENT: World = { project: "api", notification: "absent", alert: "absent", search: "absent" };

function bodyOf(name: Name, world: World, team: string): unknown {
  if (name === "remove_project") return { project_id: "absent" };
  // One that a token of this scope alone may make.
  if (name === "add_token") return { token: { scopes: ["tokens:write"] } };
  // The limits of signing in count by address.
  if (name === "start_sign_in") return { email: `${randomUUID()}@example.com` };
  if (name === "remove_team") return { team_id: team };
  if (name === "update_team") return { team_id: team, name: "Renamed" };
  return BODIES[name](name.startsWith("remove_") ? ABSENT : world);
}

async function answerOf(service: TestService, name: Row["name"], credential: Credential, at: [World, string]) {
  if (name === "ingest") return ingest(service, "api", "a line", credential);
  if (name !== "tail") return ask(service, name, bodyOf(name, ...at), credential);
  const tail = await openTail(service, "api", credential);
  tail.close();
  return { status: tail.status, text: tail.text(), json: tail.status === 200 ? undefined : JSON.parse(tail.text()) };
}

const errorOf = ([status, message]: readonly [number, string]) => ({ type: TYPES[status], message });

const TYPES: Readonly<Record<number, string>> = { 400: "invalid", 401: "unauthorized", 403: "forbidden" };

t.test("the table has every operation once", (t) => {
  const routes = ["ingest", "tail"];
  t.same(rows.map(({ name }) => name).sort(), [...Object.keys(rpcSchema.operations), ...routes].sort());
  t.end();
});

t.test("every operation with every credential", async (t) => {
  const trusted = readNetworks(["127.0.0.1"]);
  // A person has several credentials here, and asks with each.
  const limits = { exportsPerPerson: 100, exportsPerTeam: 100, exportsAtOnce: 100 };
  const service = await startTestService(t, { account: { trusted }, limits });
  const worlds: Record<string, World> = {
    [FIRST]: await makeWorld(service, { id: "api" }),
    [OTHER]: await makeWorld(service, { id: "api", token: await service.person("ann@example.com", "owner", OTHER) }),
  };
  let number = 0;
  for (const { title, credential, may, team = FIRST } of await askersOf(service)) {
    // The limits of signing in count by network, too.
    const from = { "x-forwarded-for": `10.0.0.${++number}` };
    const sent = { ...(await credential()), ...from };
    const [actual, expected]: Record<string, unknown>[] = [{}, {}];
    for (const row of rows) {
      const { status, json } = await answerOf(service, row.name, sent, [worlds[team]!, team]);
      const refusal = may(row);
      actual![row.name] = refusal === undefined ? status : [status, json];
      expected![row.name] = refusal === undefined ? row.status : [refusal[0], errorOf(refusal)];
    }
    t.same(actual, expected, title);
  }
  t.same(service.logged, []);
});
