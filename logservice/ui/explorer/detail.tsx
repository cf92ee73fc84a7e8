import { useMemo, useState } from "preact/hooks";
import type { Event } from "../../../schema/rpc.generated.ts";
import { copy } from "../kit/copy.tsx";
import { timeText, zoneName } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { DetailHeading } from "./detail-heading.tsx";
import { FieldTree } from "./field-tree.tsx";
import { jsonIn } from "./json-text.ts";
import { JsonTree } from "./json-tree.tsx";
import type { ValueActions } from "./value-actions.ts";

export interface DetailProps {
  readonly event: Event;
  readonly actions: ValueActions;
  readonly columns: readonly string[];
  /** The address of the event, for others. */
  readonly link: string;
  onAround(): void;
  /** Whether the events of its request are what is shown. */
  readonly isRequest: boolean;
  /** Shows the events of the same request, if the event is of one. */
  readonly onRequest: (() => void) | undefined;
  readonly isOldestFirst: boolean;
  /** Shows the event above it in the list, and the one below. */
  readonly onAbove: (() => void) | undefined;
  readonly onBelow: (() => void) | undefined;
  onClose(): void;
}

/** One event: its message, time and level, what to do with it, and its fields as a tree. */
export function Detail(props: DetailProps) {
  const { event, actions, columns, link, onAround, isRequest, onRequest, isOldestFirst, onAbove, onBelow, onClose } =
    props;
  const [above, below] = isOldestFirst ? ["Older", "Newer"] : ["Newer", "Older"];
  const [isRaw, setRaw] = useState(false);
  const json = JSON.stringify(event, null, 2);
  // Many programs write JSON where the message belongs.
  const inMessage = useMemo(() => jsonIn(event.message), [event.message]);
  const [isTree, setTree] = useState(true);
  return (
    <>
      <header>
        <button type="button" class="button small back" onClick={onClose}>
          ‹ List
        </button>
        <span class={`level level-${event.level}`}>{event.sent_level ?? event.level}</span>
        <time dateTime={event.timestamp}>
          {timeText(Date.parse(event.timestamp), { isExact: true })} {zoneName()}
        </time>
        <span class="detail-steps">
          <button
            type="button"
            class="button quiet small icon"
            aria-label={`${above} event`}
            title={`${above}  k`}
            disabled={onAbove === undefined}
            onClick={onAbove}
          >
            ↑
          </button>
          <button
            type="button"
            class="button quiet small icon"
            aria-label={`${below} event`}
            title={`${below}  j`}
            disabled={onBelow === undefined}
            onClick={onBelow}
          >
            ↓
          </button>
        </span>
        <button
          type="button"
          class="button quiet small icon close"
          aria-label="Close event"
          title="Close  x"
          onClick={onClose}
        >
          ✕
        </button>
      </header>
      <DetailHeading event={event} isCut={inMessage !== undefined && isTree && !isRaw} />
      {event.truncated && <p class="note warning">The message was too long. Only its beginning was stored.</p>}
      <div class="row actions">
        <button type="button" class="button small" title="All events 30 s before and after" onClick={onAround}>
          Context
        </button>
        {onRequest !== undefined && (
          // It stays where it is: another button would come under the mouse.
          <button
            type="button"
            class="button small"
            aria-pressed={isRequest}
            onClick={() => {
              if (!isRequest) onRequest();
            }}
          >
            Same request
          </button>
        )}
        <button
          type="button"
          class="button small"
          onClick={() => void copy(new URL(link, location.href).href, "Link copied")}
        >
          Copy link
        </button>
        <button type="button" class="button small" onClick={() => void copy(json, "JSON copied")}>
          Copy JSON
        </button>
        {inMessage && (
          <button type="button" class="button small" aria-pressed={isTree} onClick={() => setTree(!isTree)}>
            Message as JSON
          </button>
        )}
        <button type="button" class="button small" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          Raw
        </button>
      </div>
      {inMessage && isTree && !isRaw && (
        <div class="tree in-message">
          <JsonTree key={event.id} node={inMessage} name="message, as JSON" depth={0} />
        </div>
      )}
      {isRaw ? (
        <pre class="raw">
          <Text text={json} keepsLines />
        </pre>
      ) : (
        <FieldTree event={event} actions={actions} columns={columns} />
      )}
    </>
  );
}
