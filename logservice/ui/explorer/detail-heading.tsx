import { useEffect, useMemo, useState } from "preact/hooks";
import { summaryLine, summaryOf } from "../../../grammar/summary/index.ts";
import type { Event } from "../../../schema/rpc.generated.ts";
import { count } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";

export interface DetailHeadingProps {
  readonly event: Event;
  /** Whether the whole message follows as a tree. */
  readonly isCut: boolean;
}

/** A message of more characters is folded at first. */
const LONG = 1_200;
/** The same where the whole of it follows as a tree. */
const BESIDE_TREE = 160;
/** Whether a message is a sentence: others, such as the trace of a stack, are read in the letters of a program. */
const isPlain = (message: string) => message.length <= BESIDE_TREE && !message.includes("\n");

/** The message as the heading of an event; below its line in the list if that says more, as of a message `response`. */
export function DetailHeading({ event, isCut }: DetailHeadingProps) {
  const [isWhole, setWhole] = useState(false);
  useEffect(() => setWhole(false), [event.id]);
  const summary = useMemo(() => summaryOf(event), [event]);
  const most = isCut ? BESIDE_TREE : LONG;
  const isLong = event.message.length > most;
  const message = isLong && !isWhole ? `${event.message.slice(0, most)}${most < LONG ? "…" : ""}` : event.message;
  const whole = (
    <>
      <Text text={message} keepsLines />
      {isLong && (
        <button type="button" class="button small" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show less" : `Show all ${count(event.message.length)} characters`}
        </button>
      )}
    </>
  );
  if (!summary.isOfFields) return <h2 class={isPlain(event.message) ? undefined : "whole"}>{whole}</h2>;
  return (
    <>
      <h2>
        <Text text={summaryLine(summary)} />
      </h2>
      {!isCut && <p class="soft">{whole}</p>}
    </>
  );
}
