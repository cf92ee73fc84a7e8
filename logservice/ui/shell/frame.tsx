import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { pageKey, titleOf } from "../../address/names.ts";
import { askUntilBack, goneSince } from "../data/call.ts";
import { page, project, session, team, teamId } from "../data/session.ts";
import { timeParts, zoneName } from "../kit/format.ts";
import { SignedOut } from "../kit/signed-out.tsx";
import { Text } from "../kit/text.tsx";
import { Toasts } from "../kit/toasts.tsx";
import { visibleText } from "../kit/visible.ts";
import { PageHeader } from "./header.tsx";
import { Overlay } from "./overlay.tsx";
import { usePageFocus } from "./use-page-focus.ts";

/** The frame around every page: the header, problems of the service, messages, and the windows of the keys. */
export function PageFrame({ children }: { readonly children: ComponentChildren }) {
  const at = page.value;
  // Names of others, and what an address says instead of one.
  const title = visibleText(titleOf(at, { project: project.value?.name, team: team.value?.name }));
  // With the page, not after its painting: a reader of the screen says the title first.
  useLayoutEffect(() => {
    document.title = title;
  }, [title]);
  usePageFocus(pageKey(at));
  useEffect(askUntilBack, []);
  const isForeign = session.value !== undefined && teamId.value !== "" && team.value === undefined;
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <PageHeader />
      <SignedOut class="banner" />
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
