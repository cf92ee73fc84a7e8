import type { Event } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { searchOf } from "../../address/view.ts";
import { teamId } from "../data/session.ts";
import { Failure, Waiting } from "../kit/state.tsx";
import { Detail } from "./detail.tsx";
import { DetailPanel } from "./detail-panel.tsx";
import type { ExplorerState } from "./explorer-state.ts";
import { requestQuery } from "./request.ts";
import type { EventChoice } from "./use-event-choice.ts";
import type { ValueActions } from "./value-actions.ts";

export interface DetailSideProps {
  readonly state: ExplorerState;
  readonly choice: EventChoice;
  readonly actions: ValueActions;
}

/** The events around an event are those of this long before and after it. */
const AROUND_MS = 30_000;

/** The event that is open, beside the list or over it. */
export function DetailSide(props: DetailSideProps) {
  const { open, close } = props.choice;
  const { event, isMissing, error } = open;
  return (
    <DetailPanel eventId={event?.id} onClose={close}>
      {event !== undefined ? (
        <EventDetail {...props} event={event} />
      ) : isMissing ? (
        <p class="lead" role="status">
          This event is not there any more: it has expired, or its address is cut off.
        </p>
      ) : error !== undefined ? (
        <Failure error={error} retry={open.retry} />
      ) : (
        <Waiting what="Reading the event" />
      )}
      {event === undefined && (
        <button type="button" class="button small" onClick={close}>
          Close
        </button>
      )}
    </DetailPanel>
  );
}

function EventDetail(props: DetailSideProps & { readonly event: Event }) {
  const { state, event, choice, actions } = props;
  const view = state.view.value;
  const request = requestQuery(event);
  const timeMs = Date.parse(event.timestamp);
  const aroundIt = { startMs: timeMs - AROUND_MS, stopMs: timeMs + AROUND_MS };
  // The range of a link does not move on with the clock, so that it shows the same to others.
  const range = state.result.value?.times ?? view.range;
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
      onAbove={choice.previous}
      onBelow={choice.next}
      onClose={choice.close}
    />
  );
}
