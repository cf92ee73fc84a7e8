import type { AggregateColumn } from "../../../schema/rpc.generated.ts";
import { bytes, duration, number, timeText } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { cellText, NONE_TEXT } from "./drawing.ts";

/** A number of a result in its unit. */
export function cellNumberText(value: number, { unit, is_estimate }: AggregateColumn): string {
  const text = unit === "ms" ? duration(value) : unit === "bytes" ? bytes(value) : number(value);
  return `${is_estimate ? "≈ " : ""}${text}${unit === "per second" ? " /s" : ""}`;
}

/** A cell of a result. */
export function ResultCell({ value, column }: { readonly value: unknown; readonly column: AggregateColumn }) {
  if (value === "") return <span class="none">""</span>;
  if (value === null) return <span class="none">{NONE_TEXT}</span>;
  if (column.type === "time" && typeof value === "string")
    return <time dateTime={value}>{timeText(Date.parse(value))}</time>;
  if (typeof value === "number" && (column.type === "number" || column.unit !== ""))
    return <span title={String(value)}>{cellNumberText(value, column)}</span>;
  if (column.type === "level") return <span class={`level level-${String(value)}`}>{String(value)}</span>;
  return <Text text={cellText(value)} />;
}
