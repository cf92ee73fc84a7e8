import { useState } from "preact/hooks";
import type { AuditEntry, Operations } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { type Loaded, useLoaded } from "../data/loaded.ts";
import { type Sending, useSending } from "../kit/sending.ts";

type Page = Operations["get_audit"]["output"];

/** The filters of a request: the service applies them. */
export interface AuditFilter {
  /** "" for all. */
  readonly project: string;
  /** The last so many milliseconds; undefined for any time. */
  readonly lastMs: number | undefined;
}

export interface AuditPages {
  readonly first: Loaded<Page>;
  /** The entries that are loaded, newest first. */
  readonly entries: readonly AuditEntry[];
  /** Whether there are older entries. */
  readonly hasOlder: boolean;
  readonly sending: Sending;
  loadOlder(): Promise<void>;
}

/** The pages of the audit that were asked for so far. */
export function useAudit({ project, lastMs }: AuditFilter): AuditPages {
  const [older, setOlder] = useState<{ readonly of: Page; readonly page: Page } | undefined>(undefined);
  const sending = useSending();
  const ask = (cursor: string | undefined, signal?: AbortSignal): Promise<Page> => {
    const start = lastMs === undefined ? undefined : new Date(serviceNow() - lastMs).toISOString();
    const input = {
      ...(project !== "" && { project_id: project }),
      ...(start && { start }),
      ...(cursor && { cursor }),
    };
    return call("get_audit", input, { signal });
  };
  const first = useLoaded((signal) => ask(undefined, signal), [project, lastMs]);
  const begun = first.value.value;
  // Pages after another first one are of another question.
  const rest = older !== undefined && older.of === begun ? older.page : undefined;
  const last = rest ?? begun;
  return {
    first,
    entries: [...(begun?.entries ?? []), ...(rest?.entries ?? [])],
    hasOlder: last?.cursor !== undefined,
    sending,
    async loadOlder() {
      if (begun === undefined || last?.cursor === undefined) return;
      await sending.send(async () => {
        const page = await ask(last.cursor);
        setOlder({ of: begun, page: { ...page, entries: [...(rest?.entries ?? []), ...page.entries] } });
      });
    },
  };
}
