import { shownText } from "../html/shown-text.ts";
import type { AlertMessage } from "../records/alert-message.ts";

/** Makes a text that others chose harmless for one channel, and cuts it. */
export type Sanitize = (text: string, maxLength?: number) => string;

/**
 * A message whose texts are harmless, but for its events. Values of groups come from logs, which strangers may write; names
 * and queries from a team, which may tell people who do not know it.
 */
export function harmlessMessage(message: AlertMessage, sanitize: Sanitize): AlertMessage {
  const { team, project, alert, group } = message;
  return {
    ...message,
    team: { ...team, name: sanitize(team.name) },
    project: { ...project, name: sanitize(project.name) },
    alert: {
      ...alert,
      name: sanitize(alert.name),
      // People of the team wrote it, for this: a link to what to do has to work, and lines stay lines.
      description: alert.description
        .split(/\r?\n/)
        .map((line) => shownText(line, MAX_TEXT))
        .join("\n")
        .trim(),
      query: sanitize(alert.query, MAX_TEXT),
    },
    group: group.map(({ name, value }) => ({ name: sanitize(name), value: sanitize(jsonValueText(value)) })),
    what: sanitize(message.what),
    unit: sanitize(message.unit),
    reason: sanitize(message.reason, MAX_TEXT),
  };
}

/** Characters of what may be a sentence, or a query. */
const MAX_TEXT = 500;

/** A JSON value for people: texts without quotes. */
export function jsonValueText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
}
