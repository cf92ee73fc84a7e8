import { signal } from "@preact/signals";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo?: (() => void) | undefined;
}

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** How long a message is shown: long enough to reach its button. */
const SHOWN_MS = 8_000;

/** Says that something was done; `undo` takes it back. */
export function say(text: string, undo?: () => void): void {
  const id = ++lastId;
  toasts.value = [...toasts.value.slice(-2), { id, text, undo }];
  setTimeout(() => remove(id), SHOWN_MS);
}

/** The messages that are shown just now. */
export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text, undo }) => (
        <div class="toast" key={id}>
          <span class="text">{text}</span>
          {undo && (
            <button
              type="button"
              onClick={() => {
                remove(id);
                undo();
              }}
            >
              Undo
            </button>
          )}
        </div>
      ))}
    </div>
  );
}

function remove(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
