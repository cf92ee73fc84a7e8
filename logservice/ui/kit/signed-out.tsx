import { isSignedOut } from "../data/call.ts";
import { here } from "../data/location.ts";

/** Says that the session has ended, and how to go on without losing what was typed. */
export function SignedOut({ class: style }: { readonly class: string }) {
  if (!isSignedOut.value) return null;
  return (
    <p class={style} role="alert">
      Your session has ended.{" "}
      <a
        href={`/sign-in?next=${encodeURIComponent(here.value.path + here.value.search)}`}
        target="_blank"
        rel="noopener"
      >
        Sign in again
      </a>{" "}
      in another tab: what you typed here stays.
    </p>
  );
}
