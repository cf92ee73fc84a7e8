import type { AuditEntry } from "../../../schema/rpc.generated.ts";
import { sentenceOf, sentenceText } from "./sentence.ts";

/** The entries that have each typed word in something that is shown of them. */
export function matchingEntries(
  entries: readonly AuditEntry[],
  { typed, isRefused }: { readonly typed: string; readonly isRefused: boolean },
): readonly AuditEntry[] {
  const words = typed.toLowerCase().split(/\s+/);
  return entries.filter((entry) => {
    if (isRefused && entry.result === "done") return false;
    const { actor, address, project_id, target_id, detail, operation } = entry;
    const parts = [actor, address, project_id, target_id, detail, operation, sentenceText(sentenceOf(entry))];
    const whole = parts.join("\n").toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}
