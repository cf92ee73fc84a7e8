import type { Notification } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { byName } from "../data/by-name.ts";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo, session, teamId } from "../data/session.ts";
import { ManagedTag } from "../kit/managed.tsx";
import { WhenLoaded } from "../kit/state.tsx";
import { Table } from "../kit/table.tsx";
import { Text } from "../kit/text.tsx";
import { listed, maskOf } from "./draft.ts";
import { missingFor, NOTIFICATION_KINDS, unconfirmedText } from "./kinds.ts";

/** The notifications of a project: whom alerts notify. */
export function Notifications({ projectId }: { readonly projectId: string }) {
  const notifications = useLoaded(
    async (signal) => (await call("get_notifications", { project_id: projectId }, { signal })).notifications,
    [projectId],
  );
  const uses = useLoaded(
    async (signal) => (await call("get_alerts", { project_id: projectId }, { signal })).alerts,
    [projectId],
  );
  const at = { team: teamId.value, project: projectId };
  const add = mayDo("notifications:write") && (
    <a class="button primary" href={pathOf({ kind: "item", ...at, section: "notifications", id: "new" })}>
      New notification
    </a>
  );
  const usesOf = (id: string) => uses.value.value?.filter(({ notification_id }) => notification_id === id).length;
  return (
    <div class="page">
      <header>
        <h1>Notifications</h1>
        {(notifications.value.value?.length ?? 0) > 0 && add}
      </header>
      <p class="lead">Where alerts of this project are sent. Each alert chooses one of these.</p>
      <WhenLoaded of={notifications}>
        {(all) =>
          all.length === 0 ? (
            <div class="empty card">
              <h2>No notifications yet</h2>
              <p>
                A notification says where alerts go: a mail, a text message, a chat, a program of yours or PagerDuty.
              </p>
              {add}
            </div>
          ) : (
            <Table class="stack" columns={["Name", "Kind", "Target", "Used by"]}>
              {byName(all).map((one) => (
                <Row key={one.id} one={one} uses={usesOf(one.id!)} />
              ))}
            </Table>
          )
        }
      </WhenLoaded>
    </div>
  );
}

function Row({ one, uses }: { readonly one: Notification; readonly uses: number | undefined }) {
  const missing = session.value && missingFor(one.type, session.value);
  const path = { kind: "item", team: teamId.value, project: one.project_id, section: "notifications" } as const;
  return (
    <tr>
      <td>
        <a class="strong" href={pathOf({ ...path, id: one.id! })}>
          <Text text={one.name} />
        </a>{" "}
        <ManagedTag by={one.managed_by} />
      </td>
      <td>
        {NOTIFICATION_KINDS[one.type].text}
        {missing && (
          <>
            {" "}
            <span class="tag warning" title={missing}>
              not sent by this service
            </span>
          </>
        )}
        {one.unconfirmed_numbers.length > 0 && (
          <>
            {" "}
            <span class="tag warning" title={unconfirmedText(one)}>
              not confirmed
            </span>
          </>
        )}
        {one.type === "webhook" && !one.signed && (
          <>
            {" "}
            <span class="tag warning" title="Create a secret on its page">
              not signed yet
            </span>
          </>
        )}
      </td>
      <td class="target">
        <Text text={targetText(one)} />
      </td>
      <td class="nowrap">
        {uses === undefined ? "" : uses === 0 ? "no alert" : `${uses} ${uses === 1 ? "alert" : "alerts"}`}
      </td>
    </tr>
  );
}

function targetText(one: Notification): string {
  const all = listed(one);
  if (all.length > 0)
    return all.length > 3 ? `${all.slice(0, 3).join(", ")} and ${all.length - 3} more` : all.join(", ");
  const channel = one.type === "slack" && one.slack_channel ? `, ${one.slack_channel}` : "";
  return `${maskOf(one)}${channel}`;
}
