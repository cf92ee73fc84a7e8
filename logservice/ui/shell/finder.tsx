import { useEffect, useId, useRef, useState } from "preact/hooks";
import { PROJECT_NAMES, TEAM_NAMES } from "../../address/names.ts";
import { type ProjectSection, pathOf, type TeamSection } from "../../address/page.ts";
import { searchOf } from "../../address/view.ts";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { go, mayLeaveFor } from "../data/location.ts";
import { mayDo, page, projects, session, teamId } from "../data/session.ts";
import { Dialog } from "../kit/dialog.tsx";
import { Text } from "../kit/text.tsx";
import { visibleText } from "../kit/visible.ts";
import { type Destination, matchingDestinations } from "./found-places.ts";

/** A search over pages, projects, teams and saved searches. */
export function Finder({ onClose }: { onClose(): void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const destinations = matchingDestinations(useDestinations(), typed);
  const chosen = Math.min(at, destinations.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const open = (destination: Destination | undefined) => {
    if (destination === undefined) return;
    onClose();
    if (!mayLeaveFor(destination.href)) return;
    if (destination.href === "/account" || destination.href === "/reference") location.assign(destination.href);
    else go(destination.href);
  };
  return (
    <Dialog title="Find" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Page, project or saved search"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={destinations.length > 0 ? `${id}-${chosen}` : undefined}
        autoFocus
        placeholder="A page, a project or a saved search"
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step !== undefined) {
            event.preventDefault();
            setAt((chosen + step + destinations.length) % Math.max(1, destinations.length));
          } else if (event.key === "Enter") {
            event.preventDefault();
            open(destinations[chosen]);
          }
        }}
      />
      <ul class="places" id={id} role="listbox" aria-label="Found" ref={list}>
        {destinations.map((destination, i) => (
          <li
            title={visibleText(destination.text)}
            key={destination.href + destination.text}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === chosen}
            onClick={() => open(destination)}
          >
            <Text text={destination.text} /> <span class="kind">{destination.kind}</span>
          </li>
        ))}
      </ul>
      <p class={destinations.length === 0 ? "hint none-found" : "spoken"} role="status">
        {destinations.length === 0 ? (
          <>
            No page, project or search matches “<Text text={typed.trim()} />
            ”.
          </>
        ) : typed.trim() === "" ? (
          ""
        ) : (
          `${destinations.length} found`
        )}
      </p>
    </Dialog>
  );
}

/** The saved searches of so many projects are looked through. */
const MOST_SEARCHED = 20;

function useDestinations(): readonly Destination[] {
  const team = teamId.value;
  const at = page.value;
  const project = at !== undefined && "project" in at ? at.project : undefined;
  const canSearch = mayDo("searches:read");
  // The project that one is in comes first.
  const all = [...(projects.value ?? [])].sort((a, b) => Number(b.id === project) - Number(a.id === project));
  const searched = canSearch ? all.slice(0, MOST_SEARCHED) : [];
  const searches = useLoaded(
    async (signal) =>
      (
        await Promise.all(
          searched.map(async ({ id, name }) => {
            const { searches } = await call("get_searches", { project_id: id! }, { signal });
            return searches.map((search) => ({ ...search, project: { id: id!, name } }));
          }),
        )
      ).flat(),
    [team, project, searched.length],
  );
  const ofProject = project === undefined ? [] : sectionsOf(team, project);
  return [
    ...ofProject,
    ...(searches.value.value ?? []).map(({ name, query, project: of }) => ({
      ...{ text: name, kind: of.id === project ? "saved search" : `saved search of ${visibleText(of.name)}` },
      href: pathOf({ kind: "project", team, project: of.id, section: "events" }) + searchOf({ query }),
    })),
    ...(projects.value ?? []).map(({ id, name }) => ({
      ...{ text: name, kind: "project" },
      href: pathOf({ kind: "project", team, project: id!, section: "events" }),
    })),
    ...(team === "" ? [] : teamDestinations(team)),
    ...session
      .value!.account.teams.filter(({ id }) => id !== team)
      .map(({ id, name }) => ({
        text: name,
        kind: "team",
        href: pathOf({ kind: "team", team: id, section: "projects" }),
      })),
    { text: "Query language", kind: "help", href: "/help/language" },
    { text: "API reference", kind: "help", href: "/reference" },
    { text: "Your account", kind: "page", href: "/account" },
  ];
}

function sectionsOf(team: string, project: string): Destination[] {
  return (Object.keys(PROJECT_NAMES) as ProjectSection[]).map((section) => ({
    ...{ text: PROJECT_NAMES[section], kind: "page" },
    href: pathOf({ kind: "project", team, project, section }),
  }));
}

function teamDestinations(team: string): Destination[] {
  const sections: readonly TeamSection[] = mayDo("tokens:read")
    ? ["projects", "usage", "members", "tokens", "audit"]
    : ["projects", "usage", "members"];
  return sections.map((section) => ({
    ...{ text: TEAM_NAMES[section], kind: "team page" },
    href: pathOf({ kind: "team", team, section }),
  }));
}
