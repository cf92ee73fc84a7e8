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
}

interface Changed {
  created_at: string;
  updated_at: string;
}

export interface ProjectRow extends Changed {
  id: string;
  /** The key under which the events store keeps the project's events. Never changes, and is shown to nobody. */
  events_key: string;
  name: string;
  description: string;
  retention: number;
  location: string;
  mode: string;
}

export interface AlertRow extends Changed {
  id: string;
  project_id: string;
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

export interface NotificationRow extends Changed {
  id: string;
  project_id: string;
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

export interface SearchRow extends Changed {
  id: string;
  project_id: string;
  name: string;
  query: string;
}

export interface TokenRow {
  /** The public id. */
  id: string;
  /** SHA-256 of the token, hex. */
  hash: string;
  description: string;
  scopes: string;
  created_at: string;
  last_used_at: string | null;
}

/** Who changed what, when and from where; who was refused. */
export interface AuditRow {
  id: string;
  at: string;
  /** The public id of the token, or "terminal" for commands on this machine. */
  actor: string;
  operation: string;
  project_id: string;
  target_id: string;
  /** The address of the client's end of the connection, or "" for commands on this machine. */
  address: string;
  /** "done", or the type of the error if the request was refused. */
  result: AuditEntry["result"];
}

/** A message to deliver. */
export interface OutboxRow {
  id: string;
  kind: string;
  project_id: string;
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
