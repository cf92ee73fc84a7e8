import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { errorText } from "../data/call.ts";
import type { Loaded } from "../data/loaded.ts";

/** How long to wait before it is said that something is on its way. */
const UNSEEN_MS = 300;

/** Says that something is on its way, once it has taken a moment. */
export function Waiting({ what = "Loading" }: { readonly what?: string }) {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSeen(true), UNSEEN_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="wait" role="status">
      {isSeen ? `${what} …` : ""}
    </p>
  );
}

interface FailureProps {
  readonly error: unknown;
  /** The text of the button. */
  readonly what?: string;
  retry?(): void;
}

/** The message of an error, and a button to try again. */
export function Failure({ error, retry, what = "Try again" }: FailureProps) {
  return (
    <div class="note error" role="alert">
      <div class="row">
        <span class="grow">{errorText(error)}</span>
        {retry && (
          <button type="button" class="button small" onClick={retry}>
            {what}
          </button>
        )}
      </div>
    </div>
  );
}

export interface WhenLoadedProps<T> {
  readonly of: Loaded<T>;
  readonly what?: string;
  children(value: T): ComponentChildren;
}

/** A value that is loaded, once it is there; the error of the last attempt above it. */
export function WhenLoaded<T>({ of: { value, error, load }, what, children }: WhenLoadedProps<T>) {
  return (
    <>
      {error.value !== undefined && <Failure error={error.value} retry={() => void load()} />}
      {value.value === undefined
        ? error.value === undefined && <Waiting {...(what && { what })} />
        : children(value.value)}
    </>
  );
}
