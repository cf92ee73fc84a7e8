import type { Event } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { searchOf } from "../../address/view.ts";
import { teamId } from "../data/session.ts";
import { Failure, Waiting } from "../kit/state.tsx";
import { Detail } from "./detail.tsx";
import { DetailPanel } from "./detail-panel.tsx";
import type { ExplorerState } from "./explorer-state.ts";
import { requestQuery } from "./request.ts";
import type { ValueActions } from "./value-actions.ts";

export interface DetailSideProps {
  readonly state: ExplorerState;
  /** Undefined while it is read. */
  readonly event: Event | undefined;
  readonly isMissing: boolean;
  /** Why it could not be read. */
  readonly error: unknown;
  onRetry(): void;
  readonly actions: ValueActions;
  /** Opens the event above or below in the list; absent if there is none. */
  readonly onAbove: (() => void) | undefined;
  readonly onBelow: (() => void) | undefined;
  onClose(): void;
}

/** What happened around an event is what happened this long before and after it. */
const AROUND_MS = 30_000;

/** The event that is open, beside the list or over it. */
export function DetailSide(props: DetailSideProps) {
  const { event, isMissing, error, onRetry, onClose } = props;
  return (
    <DetailPanel eventId={event?.id} onClose={onClose}>
      {event !== undefined ? (
        <OpenEvent {...props} event={event} />
      ) : isMissing ? (
        <p class="lead" role="status">
          This event is not there any more: it has expired, or its address is cut off.
        </p>
      ) : error !== undefined ? (
        <Failure error={error} retry={onRetry} />
      ) : (
        <Waiting what="Reading the event" />
      )}
      {event === undefined && (
        <button type="button" class="button small" onClick={onClose}>
          Close
        </button>
      )}
    </DetailPanel>
  );
}

function OpenEvent(props: DetailSideProps & { readonly event: Event }) {
  const { state, event, actions, onAbove, onBelow, onClose } = props;
  const view = state.view.value;
  const request = requestQuery(event);
  const timeMs = Date.parse(event.timestamp);
  const aroundIt = { startMs: timeMs - AROUND_MS, stopMs: timeMs + AROUND_MS };
  // The range of a link does not move on with the clock, so that it shows the same to others.
  const range = state.found.value?.times ?? view.range;
  return (
    <Detail
      event={event}
      actions={actions}
      columns={view.columns}
      link={
        pathOf({ kind: "project", team: teamId.value, project: state.projectId, section: "events" }) +
        searchOf({ ...view, isLive: false, range })
      }
      isRequest={request === view.query.trim()}
      onRequest={request === undefined ? undefined : () => state.change({ query: request, isLive: false })}
      onAround={() => state.change({ query: "", range: aroundIt, isLive: false })}
      isOldestFirst={view.isOldestFirst}
      onAbove={onAbove}
      onBelow={onBelow}
      onClose={onClose}
    />
  );
}
