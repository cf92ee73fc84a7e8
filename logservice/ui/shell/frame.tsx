import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { pageKey, titleOf } from "../address/names.ts";
import { goneSince, isSignedOut } from "../data/call.ts";
import { here } from "../data/location.ts";
import { loadProjects } from "../data/projects.ts";
import { page, project, session, team, teamId } from "../data/session.ts";
import { timeParts, zoneName } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { Toasts } from "../kit/toasts.tsx";
import { visibleText } from "../kit/visible.ts";
import { Header } from "./header.tsx";
import { Overlay } from "./overlay.tsx";
import { usePageFocus } from "./use-page-focus.ts";

/** How often a service that is gone is asked again. */
const RETRY_MS = 3_000;

/** What is around every page: the header, what is wrong with the service, messages, and the windows of the keys. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  const at = page.value;
  const title = titleOf(at, { project: inTitle(project.value?.name), team: inTitle(team.value?.name) });
  useEffect(() => {
    document.title = title;
  }, [title]);
  usePageFocus(pageKey(at));
  const isGone = goneSince.value !== undefined;
  useEffect(() => {
    if (!isGone) return;
    // Whatever the page itself asks again.
    const timer = setInterval(() => void loadProjects(), RETRY_MS);
    return () => clearInterval(timer);
  }, [isGone]);
  const isForeign = session.value !== undefined && teamId.value !== "" && team.value === undefined;
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <Header />
      {isSignedOut.value && (
        <p class="banner" role="alert">
          Your session has ended.{" "}
          <a href={`/sign-in?next=${encodeURIComponent(here.value.path + here.value.search)}`}>Sign in again</a>
        </p>
      )}
      {goneSince.value !== undefined && (
        <p class="banner" role="alert">
          The log service has not answered since {timeParts(goneSince.value).second} {zoneName()}. Retrying every few
          seconds; what is shown may be out of date.
        </p>
      )}
      <main id="content" tabIndex={-1}>
        {isForeign ? <Foreign /> : children}
      </main>
      <Toasts />
      <Overlay />
    </>
  );
}

function Foreign() {
  return (
    <div class="empty">
      <h1>
        You are not in the team <Text text={teamId.value} />
      </h1>
      <p>You are signed in as {session.value!.account.email}. Ask an admin of that team for an invite.</p>
      <a class="button" href="/">
        Your projects
      </a>
    </div>
  );
}

/** A name for the title of the window, in which nothing hides. */
const inTitle = (name: string | undefined) => name && visibleText(name);
