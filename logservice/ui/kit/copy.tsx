import { onTop } from "./on-top.ts";
import { say } from "./toasts.tsx";

/** Copies a text, and says so. */
export async function copy(text: string, what = "Copied"): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(what);
  } catch {
    // Only pages of a secure origin may use the clipboard.
    say(copyByHand(text) ? what : "The browser does not let this page copy: mark the text and copy it");
  }
}

/** A text to copy as a whole, such as a command. */
export function CopyableCode({ text, name = "Copy" }: { readonly text: string; readonly name?: string }) {
  return (
    <div class={text.includes("\n") ? "code lines" : "code"}>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <button type="button" class="button small" onClick={() => void copy(text)}>
        {name}
      </button>
    </div>
  );
}

function copyByHand(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "spoken";
  const before = document.activeElement;
  // The page below a window takes no focus, and what has none is not copied.
  onTop().append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
