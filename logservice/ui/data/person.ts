import { call } from "./call.ts";
import { session } from "./session.ts";

/** Loads the page anew if another person has signed in in this browser: what is saved here would be saved as that person. */
export function followPerson(): void {
  const look = async (): Promise<void> => {
    const before = session.value?.account.email;
    if (before === undefined || document.visibilityState === "hidden") return;
    const now = await call("get_account", {}, { team: "" }).catch(() => undefined);
    if (now !== undefined && now.account.email !== before) location.reload();
  };
  document.addEventListener("visibilitychange", () => void look());
  // For windows side by side: each page says that it was loaded.
  const channel = new BroadcastChannel("page");
  channel.onmessage = () => void look();
  channel.postMessage("loaded");
}
