import type { FirstData } from "../../address/first-data.ts";
import { byName } from "../data/by-name.ts";
import { call } from "../data/call.ts";
import { loaded } from "../data/loaded.ts";
import { firstEvents, projects, session } from "../data/session.ts";

/** Shows what came with the page of an address; without it, asks. */
export function showFirstData(first: FirstData | undefined, href: string): void {
  if (first !== undefined) {
    firstEvents.value = first.events && { ...first.events, href };
    projects.value = first.projects && byName(first.projects);
    session.value = first;
    return;
  }
  const account = loaded(async (signal) => (await call("get_account", {}, { signal })).account);
  account.value.subscribe((value) => {
    if (value !== undefined) session.value = { account: value, version: "", isMailing: false, isTexting: false };
  });
  void account.load();
}
