import { call } from "../data/call.ts";
import { Dialog } from "./dialog.tsx";
import { DialogEnd } from "./dialog-end.tsx";
import type { ManagedRecord } from "./managed.tsx";
import { useSending } from "./sending.ts";
import { Text } from "./text.tsx";
import { say } from "./toasts.tsx";

export interface ReleaseDialogProps {
  readonly of: ManagedRecord;
  /** Shows what is stored now. */
  onReleased(): Promise<unknown>;
  onClose(): void;
}

/**
 * Asks before a record is taken from the app whose tool.json it is in, and takes it: people may change and remove it then. Is
 * to outlive the button that opened it, which is gone once it is released.
 */
export function ReleaseDialog({ of, onReleased, onClose }: ReleaseDialogProps) {
  const { name, managed_by } = of.record;
  const sending = useSending();
  const release = async (): Promise<void> => {
    await releaseRecord(of);
    say(`${name} was released`);
    await onReleased();
  };
  return (
    <Dialog title={`Release this ${of.kind} from tool.json?`} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (await sending.send(release)) onClose();
        }}
      >
        <div class="lead">
          <p>
            <strong>
              <Text text={name} />
            </strong>{" "}
            stays as it is. People may change and remove it here, and <code>tool stack apply</code> of{" "}
            <Text text={managed_by} /> no longer does.
          </p>
          <p>
            Then take it out of tool.json. As long as it is in there, the next <code>tool stack apply</code>{" "}
            {ADDED[of.kind]}
          </p>
          <p>This cannot be undone here: tool.json never takes over what people have.</p>
        </div>
        <DialogEnd sending={sending} onClose={onClose}>
          Release
        </DialogEnd>
      </form>
    </Dialog>
  );
}

/** The next apply if the app keeps the name: it adds its own, as it leaves alone what people have. */
const ADDED: Readonly<Record<ManagedRecord["kind"], string>> = {
  alert: "adds another alert of this name, and both notify.",
  notification: "adds another notification of this name, which the alerts of tool.json then use instead of this one.",
  search: "adds another search of this name.",
};

async function releaseRecord({ kind, record: { id, project_id } }: ManagedRecord): Promise<void> {
  const change = { id: id!, project_id, managed_by: "" };
  if (kind === "alert") await call("update_alert", { alert: change });
  else if (kind === "notification") await call("update_notification", { notification: change });
  else await call("update_search", { search: change });
}
