// A body that each operation takes, and the records that the bodies speak of.
import type { Operations } from "../../schema/rpc.generated.ts";
import type { TestService } from "./service.ts";

export type Name = keyof Operations;

/** The records of which the bodies below speak: a project with one record of each kind. */
export interface World {
  readonly project: string;
  readonly notification: string;
  readonly alert: string;
  readonly search: string;
}

export interface WorldOptions {
  /** The token that adds the records: the one of the service that may do everything, unless told otherwise. */
  readonly token?: string;
  /** The id of the project; one made of its name unless told otherwise. */
  readonly id?: string;
  /** A word that is in every record and event. */
  readonly mark?: string;
}

export async function makeWorld(service: TestService, options: WorldOptions = {}): Promise<World> {
  const { token = service.owner, id = "", mark = "world" } = options;
  const add = async (name: string, body: unknown): Promise<string> => (await service.call(name, body, token)).json.id;
  const project = await add("add_project", { project: { id, name: `A ${mark}` } });
  const notification = await add("add_notification", {
    notification: { project_id: project, type: "email", name: mark, email_addresses: [`${mark}@example.com`] },
  });
  const alert = await add("add_alert", { alert: { ...alertIn({ project, notification }), description: mark } });
  const search = await add("add_search", { search: { project_id: project, name: mark, query: "duration > 1s" } });
  const event = { level: "error", message: `${mark} failed`, fields: { status: 500, path: `/${mark}`, ok: false } };
  await service.call("add_events", { project_id: project, events: [event] }, token);
  return { project, notification, alert, search };
}

const alertIn = ({ project, notification }: Pick<World, "project" | "notification">) => ({
  project_id: project,
  name: "errors",
  query: "error",
  severity: "error",
  operator: ">",
  threshold: 3,
  notification_id: notification,
});

const range = ({ project }: World) => ({
  project_id: project,
  start: "2020-01-01T00:00:00Z",
  stop: "2100-01-01T00:00:00Z",
});

/** A body that each operation takes. What removes comes on a world of its own. */
export const BODIES: { readonly [N in Name]: (world: World) => Operations[N]["input"] } = {
  get_projects: () => ({}),
  add_project: () => ({ project: { name: "Another", description: "of two", retention: 30, mode: "plain_text" } }),
  update_project: ({ project }) => ({ project: { id: project, name: "Renamed" } }),
  remove_project: ({ project }) => ({ project_id: project }),
  get_project_stats: ({ project }) => ({ project_id: project }),
  get_usage: ({ project }) => ({ project_id: project, days: 7 }),
  add_events: ({ project }) => ({
    project_id: project,
    partial: true,
    events: [{ id: "e1", timestamp: "2026-01-01T00:00:00Z", level: "warn", message: "low", fields: { a: { b: [1] } } }],
  }),
  search: (world) => ({ ...range(world), query: "error", limit: 5, order: "ascending" }),
  get_count: (world) => ({ ...range(world), query: "status >= 500" }),
  get_timeseries: (world) => ({ ...range(world), max_points: 10 }),
  get_level_timeseries: (world) => ({ ...range(world), max_points: 10 }),
  aggregate: (world) => ({ ...range(world), query: "error | count by path", limit: 3 }),
  add_export: (world) => ({ ...range(world), query: "error", format: "csv", fields: ["status"] }),
  query: ({ project }) => ({ project_id: project, query: "SELECT count(*) AS count FROM events" }),
  get_discovered_fields: (world) => range(world),
  get_string_field_stats: (world) => ({ ...range(world), field: "path", limit: 3 }),
  get_boolean_field_stats: (world) => ({ ...range(world), field: "ok" }),
  get_numeric_field_stats: (world) => ({ ...range(world), field: "status" }),
  get_alerts: ({ project }) => ({ project_id: project }),
  get_alert: ({ project, alert }) => ({ project_id: project, alert_id: alert }),
  add_alert: (world) => ({ alert: alertIn(world) as Operations["add_alert"]["input"]["alert"] }),
  update_alert: ({ project, alert }) => ({ alert: { id: alert, project_id: project, threshold: 0 } }),
  remove_alert: ({ project, alert }) => ({ project_id: project, alert_id: alert }),
  test_alert: (world) => ({ alert: alertIn(world) as Operations["test_alert"]["input"]["alert"] }),
  preview_alert: (world) => ({
    ...{ start: "2026-01-01T00:00:00Z", stop: "2026-01-01T01:00:00Z" },
    alert: alertIn(world) as Operations["preview_alert"]["input"]["alert"],
  }),
  get_alert_episodes: ({ project, alert }) => ({ project_id: project, alert_id: alert, limit: 5 }),
  get_notifications: ({ project }) => ({ project_id: project }),
  get_notification: ({ project, notification }) => ({ project_id: project, notification_id: notification }),
  add_notification: ({ project }) => ({
    notification: { project_id: project, type: "webhook", name: "hook", webhook_url: "https://example.com/hook" },
  }),
  check_notification: ({ project, notification }) => ({
    notification: { project_id: project, type: "webhook", name: "hook", webhook_url: "https://example.com/hook" },
    notification_id: notification,
  }),
  update_notification: ({ project, notification }) => ({
    notification: { id: notification, project_id: project, name: "others" },
  }),
  remove_notification: ({ project, notification }) => ({ project_id: project, notification_id: notification }),
  get_deliveries: ({ project, alert }) => ({ project_id: project, alert_id: alert, status: "failed", limit: 5 }),
  retry_delivery: ({ project }) => ({ project_id: project, delivery_id: "dlv_absent" }),
  rotate_webhook_secret: ({ project, notification }) => ({ project_id: project, notification_id: notification }),
  confirm_notification: ({ project, notification }) => ({
    ...{ project_id: project, notification_id: notification, sms_number: "+1 555 0100", code: "123456" },
  }),
  get_searches: ({ project }) => ({ project_id: project }),
  add_search: ({ project }) => ({ search: { project_id: project, name: "new", query: "status >= 500" } }),
  update_search: ({ project, search }) => ({ search: { id: search, project_id: project, name: "slower" } }),
  remove_search: ({ project, search }) => ({ project_id: project, search_id: search }),
  get_tokens: () => ({}),
  add_token: () => ({ token: { description: "of a test", scopes: ["events:read"] } }),
  remove_token: () => ({ token_id: "tok_absent" }),
  get_audit: ({ project }) => ({ project_id: project, start: "2020-01-01T00:00:00Z", limit: 5 }),
  get_instance_config: () => ({}),
  start_sign_in: () => ({ email: "ann@example.com", team_id: "owner", device: "a test" }),
  poll_sign_in: () => ({ secret: "absent" }),
  confirm_sign_in: () => ({ link: "absent", code: "123456", deny: true }),
  sign_out: () => ({}),
  get_account: () => ({}),
  get_teams: () => ({}),
  add_team: () => ({ name: "Another team", id: "" }),
  update_team: () => ({ team_id: "owner", name: "Owners" }),
  remove_team: () => ({ team_id: "owner" }),
  get_subscription: () => ({}),
  add_subscription: () => ({}),
  change_card: () => ({}),
  remove_subscription: () => ({}),
  get_members: () => ({}),
  add_member: () => ({ email: "bob@example.com", role: "admin" }),
  add_member_link: () => ({ email: "nobody@example.com" }),
  accept_invite: () => ({ invite: "absent" }),
  update_member: () => ({ email: "nobody@example.com", role: "member" }),
  remove_member: () => ({ email: "nobody@example.com", tokens: true }),
  get_ci_tokens: () => ({}),
  add_ci_token: () => ({ name: "build" }),
  remove_ci_token: () => ({ token_id: "tok_absent" }),
};
