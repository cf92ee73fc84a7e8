import type { ColumnType, Generated } from "kysely";
import type { AuditEntry, Subscription } from "../../schema/rpc.generated.ts";

/** The tables for Kysely. Booleans are 0 and 1, lists are JSON, times RFC 3339. */
export interface Tables {
  projects: ProjectRow;
  alerts: AlertRow;
  notifications: NotificationRow;
  searches: SearchRow;
  tokens: Summed<TokenRow>;
  audit: AuditRow;
  alert_states: AlertStateRow;
  episodes: EpisodeRow;
  deliveries: DeliveryRow;
  instance: InstanceRow;
  late_minutes: LateMinuteRow;
  lateness: LatenessRow;
  export_tickets: ExportTicketRow;
  repeats: RepeatRow;
  budgets: BudgetRow;
  accepted_losses: AcceptedLossRow;
  users: UserRow;
  identities: IdentityRow;
  teams: TeamRow;
  memberships: Summed<MembershipRow>;
  invites: InviteRow;
  sign_ins: SignInRow;
  sessions: SessionRow;
  subscriptions: SubscriptionRow;
  billing_events: BillingEventRow;
}

/** Rows with a sum of all their columns. Only row-sums.ts changes a column, and the sum with it. */
type Summed<Row> = { [Column in keyof Row]: ColumnType<Row[Column], Row[Column], never> };

interface Changed {
  created_at: string;
  updated_at: string;
}

/** Rows that belong to a project name it by both columns: two teams may each have a project of the same id. */
interface OfProject {
  team_id: string;
  project_id: string;
}

export interface ProjectRow extends Changed {
  /** The team that the project belongs to. */
  team_id: string;
  /** Unique in its team. */
  id: string;
  /** The key under which the events store keeps the project's events. Never changes, and is shown to nobody. */
  events_key: string;
  name: string;
  description: string;
  retention: number;
  location: string;
  mode: string;
}

export interface AlertRow extends Changed, OfProject {
  id: string;
  name: string;
  description: string;
  /** Events of the query, or the disk, which has none. */
  kind: "events" | "disk";
  query: string;
  severity: string;
  operator: string;
  threshold: number;
  limit: number;
  interval: number;
  notification_id: string;
  muted: number;
  /** 1 if any group is triggered, or was when it was evaluated last. */
  triggered: number;
  /** Slots in a row that breach before it is triggered, and that do not before it is resolved. */
  for: number;
  recover: number;
  /** Minutes after which whoever was told is told again while it is triggered; 0 is never. */
  repeat: number;
  /** Grows when what it counts or compares changes: what an evaluation of before found is dropped. */
  revision: number;
  /** The first slot that is not evaluated yet, counted in intervals since 1970; 0 if none was. */
  next_slot: number;
  /** The first slot since it compares what it compares: events that come late have no earlier one evaluated again. */
  first_slot: number;
  /** The greatest number of a late minute that it was evaluated again for. */
  late_seen: number;
  /** It is evaluated for one slot in so many: more than 1 after evaluations that took too long. */
  pace: number;
  /** Failed evaluations in a row, why the last one failed, and the episode that told it, or "". */
  failures: number;
  failure: string;
  failing_episode_id: string;
  /** When it was evaluated last, or "". */
  evaluated_at: string;
  /** The app whose tool.json it is in; "" if people made it. */
  managed_by: string;
}

/** Where an alert is for one group of its query; there is no row for a group that is well. */
export interface AlertStateRow extends OfProject {
  alert_id: string;
  /** "" where the query makes no groups, else the JSON of its values. */
  group_key: string;
  is_triggered: number;
  /** Slots in a row that breach, and that do not, up to now. */
  breaches: number;
  recoveries: number;
  /** The last value. */
  value: number;
  /** "" if it is not triggered. */
  episode_id: string;
  /** When it was triggered; "" if it is not. */
  since: string;
  /** The slot that was told last, for `repeat`. */
  told_slot: number;
}

/** A minute that got events after alerts may have counted those of it. */
export interface LateMinuteRow {
  /** Grows with each. */
  sequence: Generated<number>;
  events_key: string;
  /** Minutes since 1970. */
  minute: number;
  /** It stands for all events of the minute that come before this time, when alerts are evaluated again; milliseconds since 1970. */
  due_ms: number;
}

/** How late the events of a project may be at most, as far as is known from those that came; no row where nothing is. */
export interface LatenessRow {
  events_key: string;
  seconds: number;
  /** When events came last that may be so late, noted now and then; milliseconds since 1970. */
  seen_ms: number;
}

/** How much of something may be asked for by a name, such as attempts to sign in by an address. */
export interface BudgetRow {
  /** SHA-256 of the kind and the name, hex. */
  hash: string;
  /** When all of it may be asked for again; milliseconds since 1970. */
  full_ms: number;
}

/** A ticket by which its holder gets a file once, for a short time. */
export interface ExportTicketRow {
  /** SHA-256 of the ticket, hex. */
  hash: string;
  /** The id of the credential that asked for it, and the team. */
  holder: string;
  /** Counts the tickets of a holder: several may be made within a millisecond. */
  number: number;
  /** Milliseconds since 1970. */
  made_ms: number;
  /** JSON of an ExportOrder. */
  export: string;
}

/** A request that may come again, which is answered as it was first, for a short time. */
export interface RepeatRow {
  /** SHA-256 of its key, its body and who asks, hex. */
  hash: string;
  /** Milliseconds since 1970. */
  made_ms: number;
  /** JSON of what was answered, sealed by its key; "" while it is under way, or if the process was ended meanwhile. */
  answer: string;
}

/** The time between a trigger and its resolution, or between the failure of an alert's query and its end. */
export interface EpisodeRow extends OfProject {
  id: string;
  alert_id: string;
  group_key: string;
  /** `failed` if the query could not be evaluated. */
  kind: "triggered" | "failed";
  /** Whom it was told to. */
  notification_id: string;
  /** JSON of the alert as it was then: name, query, severity, operator, threshold, interval. */
  alert: string;
  /** Why it ended, or why the query failed, or "". */
  reason: string;
  triggered_at: string;
  resolved_at: string | null;
  value: number;
  /** 0 if the alert was muted. */
  is_told: number;
}

/** Something that is told to the target of a notification, until a while after it was. */
export interface DeliveryRow extends OfProject {
  id: string;
  /** Counts all deliveries in the order in which they are made. */
  sequence: number;
  alert_id: string;
  notification_id: string;
  episode_id: string;
  group_key: string;
  kind: DeliveryKind;
  slot: number;
  /** JSON of an AlertMessage. */
  message: string;
  status: DeliveryStatus;
  attempts: number;
  /** Why the last attempt failed, for people; "" if it did not. */
  failure: string;
  created_at: string;
  /** When it is tried next. */
  due_at: string;
  finished_at: string | null;
}

export type DeliveryKind = "triggered" | "resolved" | "failed" | "repeated";

/** Not yet delivered; delivered, perhaps within a digest; given up. */
export type DeliveryStatus = "waiting" | "delivered" | "failed";

export interface NotificationRow extends Changed, OfProject {
  id: string;
  type: string;
  name: string;
  email_addresses: string;
  sms_numbers: string;
  slack_channel: string;
  /** These three are secrets, encrypted by seal.ts. */
  slack_webhook_url: string;
  webhook_url: string;
  pagerduty_service_key: string;
  /** The secrets that sign what is posted to `webhook_url`: JSON, encrypted by seal.ts, or "". */
  webhook_secrets: string;
  /** JSON of how far the confirmation of each number is: see number-states.ts. */
  number_states: string;
  /** As that of an alert. */
  managed_by: string;
  /** The hash by which the app that manages it recognises its secret. */
  secret_hash: string;
}

export interface SearchRow extends Changed, OfProject {
  id: string;
  name: string;
  query: string;
  /** As that of an alert. */
  managed_by: string;
}

export interface TokenRow {
  /** The public id. */
  id: string;
  /** SHA-256 of the token, hex. */
  hash: string;
  team_id: string;
  kind: AccessTokenKind;
  /** The person that made it, or with a token of whom it was made; "" if nobody but who runs the service stands for it. */
  created_by: string;
  description: string;
  /** Empty for a token of the command line: it may do what its person may. */
  scopes: string;
  created_at: string;
  last_used_at: string | null;
  /** Null if it does not end at a fixed time. */
  expires_at: string | null;
  /** 1 if its person had come in by a link that another one handed over. */
  unproven: number;
  /** The only project that a token of kind `app` may write to, else "". */
  project_id: string;
  /** The stage that the events of a token of kind `app` get, or "". */
  stage: string;
  /** See row-sums.ts. */
  sum: number | null;
}

/** An API token, one of a deployed app, one of CI, or one that a person signed in with on the command line. */
export type AccessTokenKind = "api" | "app" | "ci" | "command";

/** Who changed what, when and from where; who was refused. */
export interface AuditRow {
  id: string;
  at: string;
  /** Empty if the request came with no token or session that is known. */
  team_id: string;
  /** The address of the person, else the public id of the token, or "terminal" for commands on this machine. */
  actor: string;
  operation: string;
  project_id: string;
  target_id: string;
  /** The address of the client's end of the connection, or "" for commands on this machine. */
  address: string;
  /** "done", or the type of the error if the request was refused. */
  result: AuditEntry["result"];
  /** A detail that matters besides, such as the statement of SQL. */
  detail: string;
}

/** A loss of events that was accepted. */
export interface AcceptedLossRow {
  /** The events store's id of the loss. */
  id: string;
  at: string;
}

export interface InstanceRow {
  key: string;
  value: string;
}

export interface UserRow {
  id: string;
  /** The address as it was first written. */
  email: string;
  /** The key that addresses are compared by. Unique. */
  email_key: string;
  created_at: string;
}

/** Whom an OpenID provider calls a person. Its address may change there; issuer and subject do not. */
export interface IdentityRow {
  issuer: string;
  subject: string;
  user_id: string;
  created_at: string;
}

export interface TeamRow extends Changed {
  /** A slug. It never changes. */
  id: string;
  name: string;
}

export type Role = "member" | "admin" | "owner";

export interface MembershipRow {
  team_id: string;
  user_id: string;
  role: Role;
  created_at: string;
  /** See row-sums.ts. */
  sum: number | null;
}

/** One for each team and address at a time. Its link is made from the id by the key of the secrets. */
export interface InviteRow {
  id: string;
  team_id: string;
  email: string;
  email_key: string;
  role: Role;
  /** The person that invited, or "" for commands on this machine. */
  created_by: string;
  created_at: string;
  expires_at: string;
  /** When the mail was handed to the mail server; null until then. */
  mailed_at: string | null;
}

/** A request to sign in, until it is used or has ended. Its link is made from the id by the key of the secrets. */
export interface SignInRow {
  id: string;
  kind: SignInKind;
  email: string;
  email_key: string;
  /** SHA-256 of the secret by which whoever asked learns the result, hex; "" for a link that was printed on the machine. */
  secret_hash: string;
  /** Six digits that whoever asked sees. */
  code: string;
  tries_left: number;
  /** Whoever asked: what it calls itself, and its network address. */
  device: string;
  address: string;
  /** The team that was asked for, or "". If a team's admin made the link: the only team that the person may be in. */
  team_id: string;
  /** An OpenID identity to link when the address is confirmed: JSON, or "". */
  identity: string;
  status: SignInStatus;
  created_at: string;
  expires_at: string;
  /** When the mail was handed to the mail server; null until then. */
  mailed_at: string | null;
  /** 1 if the person who confirmed it had come in by a link that another one handed over. */
  unproven: number;
}

/** From a window of a browser, from the command line, or a link that was printed on the machine. */
export type SignInKind = "window" | "command" | "link";
export type SignInStatus = "waiting" | "confirmed" | "denied";

export interface SessionRow {
  /** SHA-256 of the cookie, hex. */
  hash: string;
  /** The public id. */
  id: string;
  user_id: string;
  device: string;
  address: string;
  /** 1 if it came of a link that another person handed over. */
  unproven: number;
  created_at: string;
  last_used_at: string;
}

/** The subscription of a team, as it was read from the provider last. Stays when the team is removed. */
export interface SubscriptionRow extends Changed {
  team_id: string;
  /** The team at the provider; "" after it was deleted there. */
  customer_id: string;
  /** Counts the customers that the team has had. */
  customer_number: number;
  /** "" before the first one. */
  subscription_id: string;
  status: Subscription["status"];
  /** Since when a payment is missing, or "". */
  past_due_since: string;
  /** When it ends, if it was cancelled, or "". */
  ends_at: string;
  /** When it was read from the provider, or "". */
  read_at: string;
}

/** An event of the provider that was dealt with. */
export interface BillingEventRow {
  id: string;
  at: string;
}
