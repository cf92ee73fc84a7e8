import { useSignal } from "@preact/signals";
import { errorText, isUnreachable } from "../data/call.ts";
import { onTop } from "./on-top.ts";

/** A change that a form sends. */
export interface Sending {
  readonly isSending: boolean;
  /** The problem, if it belongs to none of the fields. */
  readonly problem: string | undefined;
  /** The problem of a field, by the path that the service names, such as `alert.name`. */
  wrongAt(path: string): string | undefined;
  /** Sends; what it rejects with is shown. Whether it went well. */
  send(change: () => Promise<unknown>): Promise<boolean>;
  clear(): void;
}

/** `paths` are the fields of the form as the service names them: what is wrong with one of them is shown there. */
export function useSending(paths: readonly string[] = []): Sending {
  const isSending = useSignal(false);
  const reason = useSignal("");
  const fieldOf = (text: string) =>
    paths.find((path) => text.toLowerCase().startsWith(`${path.toLowerCase()}:`) || startsAt(text, path));
  const wrongPath = fieldOf(reason.value);
  return {
    isSending: isSending.value,
    problem: reason.value !== "" && wrongPath === undefined ? reason.value : undefined,
    wrongAt: (path) => (path === wrongPath ? sentence(reason.value.slice(reason.value.indexOf(":") + 1)) : undefined),
    async send(change) {
      if (isSending.value) return false;
      isSending.value = true;
      reason.value = "";
      try {
        await change();
        return true;
      } catch (error) {
        reason.value = isUnreachable(error) ? NOT_SENT : errorText(error);
        // The field may be far above the button, and what it says is not heard anywhere else.
        if (fieldOf(reason.peek()) !== undefined) requestAnimationFrame(focusWrong);
        return false;
      } finally {
        isSending.value = false;
      }
    },
    clear() {
      reason.value = "";
    },
  };
}

const focusWrong = () => onTop().querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();

/** Requests that read are sent again; a change is not. */
const NOT_SENT = "The log service does not answer. This is not sent again by itself: try it again later.";

/** Whether a message is about a part of a field, such as `notification.email_addresses[1]`. */
const startsAt = (reason: string, path: string) =>
  reason.toLowerCase().startsWith(path.toLowerCase()) && /^[[.]/.test(reason.slice(path.length));

function sentence(text: string): string {
  const trimmed = text.trim();
  return trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
}
