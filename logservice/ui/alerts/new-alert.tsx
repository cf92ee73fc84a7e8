import { useEffect, useState } from "preact/hooks";
import { call } from "../data/call.ts";
import { go, goFromHere, here } from "../data/location.ts";
import { mayDo } from "../data/session.ts";
import { openedSearch } from "../explorer/opened-search.ts";
import { say } from "../kit/toasts.tsx";
import { AlertForm } from "./alert-form.tsx";
import { alertOf, draftIn, searchOfDraft } from "./draft.ts";
import { firstEvaluated } from "./first-evaluated.ts";
import { alertPath, listPath } from "./paths.ts";

/** The address follows what is typed after this pause: browsers bound how often it may change. */
const FOLLOW_MS = 400;

/** A new alert: its address may say what it begins with. */
export function NewAlert({ projectId }: { readonly projectId: string }) {
  const [draft, setDraft] = useState(() => draftIn(here.value.search));
  const [isChanged, setChanged] = useState(false);
  const mayMake = mayDo("alerts:write");
  useEffect(() => {
    const { name, query } = draft;
    if (!mayMake || name !== "" || query.trim() === "") return;
    // Whoever has named the query calls the alert the same. Without an answer the person writes a name.
    void call("get_searches", { project_id: projectId }).then(
      ({ searches }) => {
        const searchName = openedSearch(searches, query, undefined)?.name ?? "";
        setDraft((before) => (before.name === "" ? { ...before, name: searchName } : before));
      },
      () => {},
    );
  }, []);
  // So a draft survives whatever leads away from it and back, and can be handed to somebody.
  useEffect(() => {
    if (!isChanged) return;
    const path = alertPath(projectId, "new");
    const timer = setTimeout(() => {
      if (location.pathname === path) go(`${path}${searchOfDraft(draft)}`, { replaces: true });
    }, FOLLOW_MS);
    return () => clearTimeout(timer);
  }, [draft]);
  return (
    <div class="page alert">
      <header>
        <h1>New alert</h1>
      </header>
      {!mayMake && <p class="note">Your role may not create alerts.</p>}
      <AlertForm
        projectId={projectId}
        id={undefined}
        draft={draft}
        isChanged={isChanged}
        isReadOnly={!mayMake}
        onChange={(part, isTyped) => {
          setDraft((before) => ({ ...before, ...part }));
          if (isTyped) setChanged(true);
        }}
        onSend={async () => {
          const goOn = goFromHere();
          const { id, first_evaluated_at } = await call("add_alert", { alert: alertOf(draft, projectId) });
          setChanged(false);
          say(`Alert created. ${firstEvaluated(first_evaluated_at)}`);
          goOn(alertPath(projectId, id), { replaces: true });
          scrollTo(0, 0);
        }}
      >
        <a class="button" href={listPath(projectId)}>
          Cancel
        </a>
      </AlertForm>
    </div>
  );
}
