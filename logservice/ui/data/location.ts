import { signal } from "@preact/signals";

/** The address that is shown. */
export const here = signal({ path: location.pathname, search: location.search });

/** Shows another address of ours. `replaces` keeps it from being a step of its own for the button back. */
export function go(href: string, { replaces = false } = {}): void {
  const url = new URL(href, location.href);
  if (url.origin !== location.origin) return;
  if (url.href === location.href) return;
  if (replaces) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  here.value = { path: url.pathname, search: url.search };
}

/**
 * For what leads to another page once it is done: goes there unless the person went elsewhere meanwhile. To be called before
 * that begins.
 */
export function goFromHere(): typeof go {
  const { path } = here.peek();
  return (href, options) => {
    if (here.peek().path === path) go(href, options);
  };
}

const keepers = new Set<(href: string) => boolean>();

/**
 * Asks before another page is shown in this one's place: `keep` says whether the page stays. Returns what ends this. A change
 * that was sent and leads to another page goes on by `go`, which asks nobody.
 */
export function keepHere(keep: (href: string) => boolean): () => void {
  keepers.add(keep);
  return () => void keepers.delete(keep);
}

/** Whether an address may be shown now: it is on this page, or nobody keeps the person here. */
export function mayLeaveFor(href: string): boolean {
  const url = new URL(href, location.href);
  return url.pathname === here.peek().path || ![...keepers].some((keep) => keep(url.href));
}

/** Makes links to our own pages, and back and forward, show them without asking the server for the page again. */
export function followLinks(isOurs: (path: string) => boolean): void {
  addEventListener("popstate", () => {
    const { path, search } = here.peek();
    if (mayLeaveFor(location.href)) here.value = { path: location.pathname, search: location.search };
    // The address has changed already, and the page has not.
    else history.pushState(null, "", path + search);
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element).closest?.("a");
    if (link == null || link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (!isOurs(link.pathname) || link.hash !== "") return;
    event.preventDefault();
    go(link.href);
    scrollTo(0, 0);
  });
}
