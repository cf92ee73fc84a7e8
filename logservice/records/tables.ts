import type { AuditEntry } from "../../schema/rpc.generated.ts";

/** The tables for Kysely. Booleans are 0 and 1, lists are JSON, times RFC 3339. */
export interface Tables {
  projects: ProjectRow;
  alerts: AlertRow;
  notifications: NotificationRow;
  searches: SearchRow;
  tokens: TokenRow;
  audit: AuditRow;
  outbox: OutboxRow;
  instance: InstanceRow;
  accepted_losses: AcceptedLossRow;
  users: UserRow;
  identities: IdentityRow;
  teams: TeamRow;
  memberships: MembershipRow;
  invites: InviteRow;
  sign_ins: SignInRow;
  sessions: SessionRow;
}

interface Changed {
  created_at: string;
  updated_at: string;
}

/** What belongs to a project names it by both columns: two teams may each have a project of the same id. */
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
  query: string;
  severity: string;
  operator: string;
  threshold: number;
  limit: number;
  interval: number;
  notification_id: string;
  muted: number;
  triggered: number;
}

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
}

export interface SearchRow extends Changed, OfProject {
  id: string;
  name: string;
  query: string;
}

export interface TokenRow {
  /** The public id. */
  id: string;
  /** SHA-256 of the token, hex. */
  hash: string;
  team_id: string;
  kind: TokenKind;
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
}

/** An API token, one of CI, or one that a person signed in with on the command line. */
export type TokenKind = "api" | "ci" | "command";

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
  /** What else matters, such as the statement of SQL. */
  detail: string;
}

/** A message to deliver. */
export interface OutboxRow extends OfProject {
  id: string;
  kind: string;
  notification_id: string;
  payload: string;
  created_at: string;
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
  /** What addresses are compared by. Unique. */
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
