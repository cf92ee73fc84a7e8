import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { goneSince, isSignedOut } from "../data/call.ts";
import { here } from "../data/location.ts";
import { project, session, team, teamId } from "../data/session.ts";
import { ago } from "../kit/format.ts";
import { Toasts } from "../kit/toasts.tsx";
import { Header } from "./header.tsx";
import { Overlay } from "./overlay.tsx";

/** What is around every page: the header, what is wrong with the service, messages, and the windows of the keys. */
export function Frame({ children }: { readonly children: ComponentChildren }) {
  const name = project.value?.name;
  useEffect(() => {
    document.title = name === undefined ? "Logs" : `${name} · Logs`;
  }, [name]);
  const isForeign = session.value !== undefined && teamId.value !== "" && team.value === undefined;
  return (
    <>
      <a class="skip" href="#content">
        To the content
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
          The log service has not answered since {ago(goneSince.value, Date.now())}. It is asked again every few
          seconds; what is shown is from before.
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
      <h2>You are not in the team {JSON.stringify(teamId.value)}</h2>
      <p>You are signed in as {session.value!.account.email}. Ask an admin of that team for an invite.</p>
      <a class="button" href="/">
        To your own projects
      </a>
    </div>
  );
}
