import { applyEdits } from "../grammar/problem.ts";
import { migrateUses } from "./dialect.ts";

/**
 * Rewrites the older dialect of tool.json (`lambda`, `enable`, older inject types) as today's. `notes` says each change
 * in a sentence; without any, `text` is the text given. What is not edited stays byte for byte, formatting included.
 */
export function migrate(text: string): { text: string; notes: string[] } {
  const { edits, notes } = migrateUses(text);
  return { text: applyEdits(text, edits), notes };
}
