import type { ComponentChildren } from "preact";
import type { Event } from "../../../schema/rpc.generated.ts";
import { timeParts } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { textOfValue, valueAt } from "./field-values.ts";
import { type RowLine, rowLine } from "./row-line.ts";

export interface EventRowProps {
  readonly event: Event | undefined;
  /** The request of a response that has no row of its own. */
  readonly request: Event | undefined;
  readonly columns: readonly string[];
  /** The fields that all rows have with the same value. */
  readonly common: ReadonlyMap<string, string>;
  /** The fields that others of the same source have with the same value. */
  readonly settled: ReadonlyMap<string, string> | undefined;
  /** Whether the rows are of more than one day. */
  readonly hasDay: boolean;
  /** Whether the columns are in a line of their own, with their names, for want of room. */
  readonly isNarrow: boolean;
  readonly isWrapped: boolean;
}

/** A line shows no more characters, and no more lines help to find an event: it is whole beside the list. */
const MOST_IN_LINE = 1_000;
const MOST_WRAPPED = 3_000;

/** An event as a row of the list: its time, level, chosen columns, summary, and fields as room allows. */
export function EventRow({ event, request, columns, common, settled, hasDay, isNarrow, isWrapped }: EventRowProps) {
  if (event === undefined)
    return (
      <span role="gridcell" class="event-waiting">
        <span class="spoken">Loading</span>
      </span>
    );
  const { day, second, ms } = timeParts(Date.parse(event.timestamp));
  const line = rowLine(event, { request, common, settled, isWrapped });
  return (
    <>
      <time role="gridcell" dateTime={event.timestamp}>
        {hasDay && <span class="day">{day} </span>}
        {second}
        <span class="ms">.{ms}</span>
      </time>
      <span role="gridcell" class={`level level-${event.level}`}>
        {event.sent_level ?? event.level}
      </span>
      {!isNarrow &&
        columns.map((name) => (
          <span role="gridcell" class="column" key={name}>
            <Text text={textOfValue(valueAt(event, name))} />
          </span>
        ))}
      <span role="gridcell" class="message">
        <Parts line={line} isWrapped={isWrapped} />
        {columns.length === 0 && <Fields line={line} />}
      </span>
      {isNarrow && columns.length > 0 && (
        <span role="gridcell" class="columns-line">
          {columns
            .filter((name) => valueAt(event, name) !== undefined)
            .map((name) => (
              <span key={name}>
                <span class="name">
                  <Text text={name} />=
                </span>
                <Text text={textOfValue(valueAt(event, name))} />{" "}
              </span>
            ))}
        </span>
      )}
    </>
  );
}

function Parts({ line, isWrapped }: { readonly line: RowLine; readonly isWrapped: boolean }) {
  let left = isWrapped ? MOST_WRAPPED : MOST_IN_LINE;
  return line.parts.map(({ text, tone }, i) => {
    const shown = text.length > left ? `${text.slice(0, left)}…` : text;
    left = Math.max(0, left - text.length);
    const said = <Text text={shown} keepsLines={isWrapped} />;
    // Most rows are one plain text: an element fewer for each.
    if (i === 0 && tone === "plain") return said;
    return (
      <span class={tone} key={i}>
        {i > 0 && " "}
        {said}
      </span>
    );
  });
}

/** The fields that the line does not say already, short ones. */
function Fields({ line }: { readonly line: RowLine }) {
  const parts: ComponentChildren[] = [];
  let plain = "";
  for (const [name, text] of line.fields) {
    if (PLAIN.test(name) && PLAIN.test(text)) {
      // One text for all of these: a list of so many elements would not scroll smoothly.
      plain += ` ${name}=${text}`;
      continue;
    }
    if (plain !== "") parts.push(plain);
    plain = "";
    parts.push(
      <span key={name}>
        {" "}
        <Text text={name} />=<Text text={text} />
      </span>,
    );
  }
  if (plain !== "") parts.push(plain);
  return <span class="fields">{parts}</span>;
}

/** Printable ASCII: nothing of it hides or turns the order of what is around it. */
const PLAIN = /^[ -~]*$/;
