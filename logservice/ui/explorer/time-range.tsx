import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ViewRange } from "../../address/view.ts";
import { serviceNow } from "../data/clock.ts";
import { zone } from "../data/preferences.ts";
import { zoneName } from "../kit/format.ts";
import { RANGE_PRESETS, rangeInput, rangeText, shifted, widened } from "./range-steps.ts";
import { readTypedRange } from "./typed-range.ts";

export interface RangePickerProps {
  readonly range: ViewRange;
  onChange(range: ViewRange): void;
}

/** The range of time: presets, a typed one, the ones before and after, a wider one, and the zone of all times. */
export function RangePicker({ range, onChange }: RangePickerProps) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState("");
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  // Before the next key, which is for the input.
  useLayoutEffect(() => {
    if (!isOpen) return;
    // On a telephone the keyboard would cover the presets.
    if (matchMedia("(hover: hover)").matches) {
      input.current!.focus();
      input.current!.select();
    }
    const leave = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", leave);
    return () => document.removeEventListener("pointerdown", leave);
  }, [isOpen]);
  const choose = (next: ViewRange): void => {
    setOpen(false);
    setTyped("");
    setProblem("");
    button.current!.focus();
    onChange(next);
  };
  const change = (next: ViewRange) => () => onChange(next);
  return (
    <div
      class="time-range with-menu"
      ref={root}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return;
        event.stopPropagation();
        setOpen(false);
        button.current!.focus();
      }}
    >
      <button
        type="button"
        ref={button}
        class="button range"
        aria-label={`Range: ${rangeText(range)} ${zoneName()}`}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => {
          // An absolute range is there to be changed.
          if (!isOpen) setTyped("lastMs" in range ? "" : rangeInput(range));
          setOpen(!isOpen);
        }}
      >
        <span>{rangeText(range)}</span> <span class="zone">{zoneName()}</span>
      </button>
      <span class="range-steps">
        <button
          type="button"
          class="button icon"
          aria-label="Earlier range"
          title="Earlier  ["
          onClick={change(shifted(range, -1, serviceNow()))}
        >
          ‹
        </button>
        <button
          type="button"
          class="button icon"
          aria-label="Later range"
          title="Later  ]"
          onClick={change(shifted(range, 1, serviceNow()))}
        >
          ›
        </button>
        <button
          type="button"
          class="button icon"
          aria-label="Wider range"
          title="Wider  -"
          onClick={change(widened(range, serviceNow()))}
        >
          ⤢
        </button>
      </span>
      {isOpen && (
        <div class="menu range-menu" id={id}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              const read = readTypedRange(typed, { nowMs: serviceNow(), isUtc: zone.value === "utc" });
              if ("problem" in read) setProblem(read.problem);
              else choose(read.range);
            }}
          >
            <label for={`${id}-typed`}>Custom range</label>
            <input
              id={`${id}-typed`}
              ref={input}
              type="text"
              placeholder="last 2h, yesterday 14:00, 14:00 to 15:30"
              value={typed}
              aria-invalid={problem !== ""}
              aria-describedby={`${id}-problem`}
              onInput={(event) => {
                setTyped(event.currentTarget.value);
                setProblem("");
              }}
            />
            <p id={`${id}-problem`} class="wrong" role="status">
              {problem}
            </p>
          </form>
          <div class="presets">
            {RANGE_PRESETS.map(({ text, lastMs }) => (
              <button
                type="button"
                key={lastMs}
                class="button small"
                aria-pressed={"lastMs" in range && range.lastMs === lastMs}
                onClick={() => choose({ lastMs })}
              >
                {text}
              </button>
            ))}
          </div>
          <div class="row zone-row">
            <span class="label">Times in</span>
            {(["utc", "local"] as const).map((name) => (
              <button
                type="button"
                key={name}
                class="button small"
                aria-pressed={zone.value === name}
                onClick={() => (zone.value = name)}
              >
                {name === "utc" ? "UTC" : "Local time"}
              </button>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}
