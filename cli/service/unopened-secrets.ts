import { join } from "node:path";
import { KEY_FILE } from "../../logservice/records/key-file.ts";
import { listUnopened } from "../../logservice/records/notifications.ts";
import type { Records } from "../../logservice/records/open.ts";

/** A warning about the notifications that reach nobody because their secrets do not open; undefined if all open. */
export async function unopenedSecrets(folder: string, records: Records): Promise<string | undefined> {
  const unopened = await listUnopened(records);
  if (unopened.length === 0) return undefined;
  const path = join(folder, KEY_FILE);
  return [
    `warning: ${path} does not open the secrets of these notifications:`,
    ...unopened.map(({ project_id, name, type }) => `  ${project_id}: ${JSON.stringify(name)} (${type})`),
    "  put the old file back from a backup, or set the secrets again by update_notification",
  ].join("\n");
}
