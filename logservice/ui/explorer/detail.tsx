import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { summaryOf, summaryText } from "../../../grammar/summary/index.ts";
import type { Event } from "../../../schema/rpc.generated.ts";
import { copy } from "../kit/copy.tsx";
import { count, timeText, zoneName } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
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

/** A message of more characters is folded at first. */
const LONG = 1_200;
/** The same where the whole of it follows as a tree. */
const BESIDE_TREE = 160;
/** Whether a message is a sentence: others, such as the trace of a stack, are read in the letters of a program. */
const isPlain = (message: string) => message.length <= BESIDE_TREE && !message.includes("\n");

/** One event: its message, time and level, what to do with it, and its fields as a tree. */
export function Detail(props: DetailProps) {
  const { event, actions, columns, link, onAround, isRequest, onRequest, isOldestFirst, onAbove, onBelow, onClose } =
    props;
  const [above, below] = isOldestFirst ? ["Older", "Newer"] : ["Newer", "Older"];
  const [isWhole, setWhole] = useState(false);
  const [isRaw, setRaw] = useState(false);
  useEffect(() => setWhole(false), [event.id]);
  const json = JSON.stringify(event, null, 2);
  // Many programs write JSON where the message belongs.
  const inMessage = useMemo(() => jsonIn(event.message), [event.message]);
  const [isTree, setTree] = useState(true);
  // A message such as "response" says less than the line of the list.
  const summary = useMemo(() => summaryOf(event), [event]);
  const most = inMessage && isTree && !isRaw ? BESIDE_TREE : LONG;
  const isLong = event.message.length > most;
  const isSaidBelow = summary.isOfFields && inMessage !== undefined && isTree && !isRaw;
  const message = isLong && !isWhole ? `${event.message.slice(0, most)}${most < LONG ? "…" : ""}` : event.message;
  return (
    <>
      <header>
        <button type="button" class="button small back" onClick={onClose}>
          ‹ List
        </button>
        <span class={`level level-${event.level}`}>{event.level}</span>
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
      {summary.isOfFields && (
        <h2>
          <Text text={summaryText(summary)} />
        </h2>
      )}
      <Message
        class={isPlain(event.message) ? undefined : "whole"}
        isHeading={!summary.isOfFields}
        isHidden={isSaidBelow}
      >
        <Text text={message} keepsLines />
        {isLong && (
          <button type="button" class="button small" onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Show less" : `Show all ${count(event.message.length)} characters`}
          </button>
        )}
      </Message>
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

/** The message: the heading of the event, unless that is its summary. */
function Message(props: {
  readonly class: string | undefined;
  readonly isHeading: boolean;
  readonly isHidden: boolean;
  readonly children: ComponentChildren;
}) {
  if (props.isHidden) return null;
  return props.isHeading ? <h2 class={props.class}>{props.children}</h2> : <p class="soft">{props.children}</p>;
}
