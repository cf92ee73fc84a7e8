import type { Alert, Notification, Search } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { copy } from "./copy.tsx";
import { RowButton } from "./row-button.tsx";
import { useSending } from "./sending.ts";
import { Text } from "./text.tsx";
import { visibleText } from "./visible.ts";

/** A record that the tool.json of an app may hold. */
export type ManagedRecord =
  | { readonly kind: "alert"; readonly record: Alert }
  | { readonly kind: "notification"; readonly record: Notification }
  | { readonly kind: "search"; readonly record: Search };

/** Names the app whose tool.json something is in, where it is one of a list. */
export function ManagedTag({ by }: { readonly by: string }) {
  if (by === "") return null;
  return (
    <span class="tag managed">
      in tool.json of <Text text={by} />
    </span>
  );
}

export interface ManagedNoteProps {
  readonly of: ManagedRecord;
  /** Asks whether it is to be released; undefined if the person may not release it. */
  readonly onRelease: (() => void) | undefined;
}

/** The same in place of what would save or remove it. */
export function ManagedNote({ of, onRelease }: ManagedNoteProps) {
  const { managed_by } = of.record;
  if (managed_by === "") return null;
  return (
    <div class="note">
      <div class="row">
        <span class="grow">
          In tool.json of{" "}
          <strong>
            <Text text={managed_by} />
          </strong>
          : change it there, then run <code>tool stack apply</code>.
        </span>
        <CopyAsJson of={of} />
        {onRelease && (
          <RowButton text="Release" spoken={`Release from tool.json: ${of.record.name}`} onPress={onRelease} />
        )}
      </div>
    </div>
  );
}

/** Copies what `tool alerts export` prints of it. */
export function CopyAsJson({ of }: { readonly of: ManagedRecord }) {
  const sending = useSending();
  return (
    <>
      {sending.problem && <span class="wrong">{sending.problem}</span>}
      <button
        type="button"
        class="button small"
        aria-label={`Copy as JSON: ${visibleText(of.record.name)}`}
        disabled={sending.isSending}
        onClick={() => void sending.send(async () => copy(await jsonOf(of), "Copied as JSON"))}
      >
        Copy as JSON
      </button>
    </>
  );
}

async function jsonOf({ kind, record }: ManagedRecord): Promise<string> {
  const { asConfig } = await import("../../../schema/as-config.ts");
  const notifications = kind === "alert" ? [await notificationOf(record)] : kind === "notification" ? [record] : [];
  const { logs } = asConfig({
    alerts: kind === "alert" ? [record] : [],
    notifications,
    searches: kind === "search" ? [record] : [],
  });
  const section = ({ alert: "alerts", notification: "notifications", search: "queries" } as const)[kind];
  return JSON.stringify({ logs: { [section]: logs[section] } }, null, 2);
}

async function notificationOf({ project_id, notification_id }: Alert): Promise<Notification> {
  return (await call("get_notification", { project_id, notification_id })).notification;
}
