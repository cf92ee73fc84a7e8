import type { ViewRange } from "../../address/view.ts";
import { rangeTexts } from "../../address/view.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { useLoaded } from "../data/loaded.ts";
import { count } from "../kit/format.ts";
import { late } from "../kit/late.tsx";
import { usePageMark } from "../kit/page-mark.ts";
import { Text } from "../kit/text.tsx";
import type { FirstEventProps } from "../start/start.tsx";
import { type Near, type NearMatch, nearTo } from "./near-queries.ts";
import { rangeText } from "./range-steps.ts";

export interface NoEventsProps {
  readonly projectId: string;
  readonly query: string;
  readonly range: ViewRange;
  onRange(range: ViewRange): void;
  /** Asks another query, over another range. */
  onQuery(query: string, range: ViewRange): void;
  onClear(): void;
  /** Asks again, such as once the first event has arrived. */
  onRun(): void;
}

/** How to send events: most people never see it here. */
const FirstEvent = late<FirstEventProps>(() => import("../start/start.tsx").then(({ FirstEvent }) => FirstEvent));

const WIDER: readonly { readonly text: string; readonly lastMs: number }[] = [
  { text: "the last day", lastMs: 86_400_000 },
  { text: "the last 7 days", lastMs: 604_800_000 },
  { text: "the last 30 days", lastMs: 2_592_000_000 },
  { text: "the last year", lastMs: 31_536_000_000 },
];

/** More of them would hide the first. */
const MOST_REASONS = 2;

/** Nothing matches in the range: whether there is something in a wider one, and how to get there. */
export function NoEvents({ projectId, query, range, onRange, onQuery, onClear, onRun }: NoEventsProps) {
  const wider = useLoaded(
    async (signal) => {
      for (const one of WIDER) {
        const times = { startMs: serviceNow() - one.lastMs, stopMs: serviceNow() };
        const input = { project_id: projectId, query, ...rangeTexts(times) };
        const { count: eventCount } = await call("get_count", input, { signal });
        if (eventCount > 0) return { more: { ...one, eventCount } };
      }
      return { more: undefined };
    },
    [projectId, query],
  );
  const more = wider.value.value?.more;
  const isCounted = wider.value.value !== undefined;
  const isNowhere = query.trim() !== "" && isCounted && more === undefined;
  const near = useLoaded(
    async (signal) => (isNowhere ? await nearTo({ projectId, query, range, signal }) : undefined),
    [projectId, query, JSON.stringify(range), isNowhere],
  ).value.value;
  const isNever = query.trim() === "" && !wider.isLoading.value && isCounted && more === undefined;
  usePageMark("firstUse", isNever);
  if (isNever)
    return (
      <div class="first-use">
        <h2>No events yet</h2>
        <p class="lead">Send your first event and it appears here.</p>
        <FirstEvent projectId={projectId} onExplore={onRun} />
      </div>
    );
  return (
    <div class="empty" role="status">
      <h2>No events {query.trim() === "" ? "" : "match "}in this range</h2>
      <p>
        {more
          ? `${rangeText(range)}. There are ${count(more.eventCount)} in ${more.text}.`
          : !isCounted
            ? rangeText(range)
            : "lastMs" in range
              ? `None in the ${rangeText(range).replace("Last", "last")} or the last year.`
              : `${rangeText(range)}. None in the last year either.`}
      </p>
      {near && <Reasons near={near} />}
      <div class="row center">
        {near?.matches.map((one) => (
          <button type="button" class="button primary" key={one.query} onClick={() => onQuery(one.query, one.range)}>
            <span>
              <NearText of={one} /> ({count(one.count)})
            </span>
          </button>
        ))}
        {more && (
          <button type="button" class="button primary" onClick={() => onRange({ lastMs: more.lastMs })}>
            Show {more.text}
          </button>
        )}
        {query.trim() !== "" && (
          <button type="button" class="button" onClick={onClear}>
            Show every event of this range
          </button>
        )}
      </div>
    </div>
  );
}

/** Why a query finds nothing, and how its parts are written otherwise. */
function Reasons({ near }: { readonly near: Near }) {
  return (
    <>
      {near.reasons.slice(0, MOST_REASONS).map((reason) => (
        <p key={reason}>
          <Text text={reason} />
        </p>
      ))}
      {near.words.length > 0 && (
        <p>
          A word alone is a field, and no event has the field{" "}
          <code>
            <Text text={near.words[0]!} />
          </code>
          . For a part of a message write{" "}
          <code>
            <Text text={`"*${near.words[0]}*"`} />
          </code>
          .
        </p>
      )}
      {near.unknown.length > 0 && (
        <p>
          No event has a field{" "}
          <code>
            <Text text={near.unknown[0]!} />
          </code>
          .
        </p>
      )}
      {near.words.length === 0 && near.texts.length > 0 && (
        <p>
          A text in quotes alone is a whole message, and <code>"*a text*"</code> a part of one.
          {near.matches.length === 0 && (
            <>
              {" "}
              To look into a field, name it:{" "}
              <code>
                <Text text={`field contains "${near.texts[0]}"`} />
              </code>
            </>
          )}
        </p>
      )}
    </>
  );
}

/** The text of the button of a similar query: the term that the query looks for. */
function NearText({ of: { term } }: { readonly of: NearMatch }) {
  const text = /^message contains (".*")$/.exec(term)?.[1];
  if (text !== undefined)
    return (
      <>
        Search for the text <Text text={text} />
      </>
    );
  return (
    <>
      Search for <Text text={term} />
    </>
  );
}
