import { type Page, type ProjectSection, pathOf } from "../address/page.ts";
import { theme, zone } from "../data/preferences.ts";
import { mayDo, page, project, projects, session, team, teamId } from "../data/session.ts";
import { Menu, type MenuEntry } from "../kit/menu.tsx";
import { Text } from "../kit/text.tsx";
import { overlay } from "./open.ts";
import { signOut } from "./sign-out.ts";

const SECTIONS: readonly { readonly section: ProjectSection; readonly text: string }[] = [
  { section: "events", text: "Explore" },
  { section: "searches", text: "Searches" },
  { section: "alerts", text: "Alerts" },
  { section: "notifications", text: "Notifications" },
  { section: "settings", text: "Settings" },
];

/** The bar at the top: the project and its pages, the search over pages, the person. */
export function Header() {
  const at = page.value;
  const inProject = at !== undefined && "project" in at ? at : undefined;
  return (
    <header class="top">
      <a class="mark" href="/" aria-label="Your projects">
        <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
          <rect width="32" height="32" rx="7" />
          <path d="M6 17h4v9H6zM11.500 12h4v14h-4zM17 6h4v20h-4zM22.500 14h4v12h-4z" />
        </svg>
      </a>
      {session.value !== undefined && teamId.value !== "" && (
        <Menu
          class="button quiet switch"
          name={`Project: ${project.value?.name ?? "none"}`}
          label={
            <>
              <span class="text name">
                {inProject ? (
                  <Text text={project.value?.name ?? inProject.project} />
                ) : (
                  <Text text={team.value?.name ?? teamId.value} />
                )}
              </span>
              <span aria-hidden="true">▾</span>
            </>
          }
          entries={switchEntries()}
        />
      )}
      {inProject && (
        <nav aria-label="Project">
          {SECTIONS.map(({ section, text }) => (
            <a
              key={section}
              href={pathOf({ kind: "project", team: inProject.team, project: inProject.project, section })}
              aria-current={inProject.section === section ? "page" : undefined}
            >
              {text}
            </a>
          ))}
        </nav>
      )}
      <span class="grow" />
      {session.value !== undefined && (
        <>
          <button
            type="button"
            class="button quiet find"
            onClick={() => (overlay.value = "find")}
            aria-keyshortcuts="Control+K"
          >
            <span class="find-text">Find</span> <kbd>Ctrl K</kbd>
          </button>
          <Menu
            class="button quiet person"
            align="right"
            name={`${session.value.account.email || "API token"}, you and the team`}
            label={<PersonLabel />}
            entries={personEntries()}
          />
        </>
      )}
    </header>
  );
}

function PersonLabel() {
  return (
    <>
      <span class="text email">{session.value!.account.email || "API token"}</span>
      <span aria-hidden="true">▾</span>
    </>
  );
}

function switchEntries(): readonly MenuEntry[] {
  const team = teamId.value;
  const at = page.value;
  const current = at !== undefined && "project" in at ? at.project : undefined;
  const others = session.value!.account.teams.filter(({ id }) => id !== team);
  const ofTeam = (section: "projects" | "members" | "tokens" | "audit") => pathOf({ kind: "team", team, section });
  return [
    ...(projects.value ?? []).map(
      ({ id, name }): MenuEntry => ({
        text: <Text text={name} />,
        href: pathOf({ kind: "project", team, project: id!, section: "events" }),
        isChosen: id === current,
      }),
    ),
    ...((projects.value ?? []).length > 0 ? (["line"] as const) : []),
    { text: "All projects", href: ofTeam("projects") },
    ...(others.length === 0 ? [] : [{ title: "Other teams" }]),
    ...others.map(
      ({ id, name }): MenuEntry => ({
        text: <Text text={name} />,
        href: pathOf({ kind: "team", team: id, section: "projects" }),
      }),
    ),
  ];
}

function personEntries(): readonly MenuEntry[] {
  const team = teamId.value;
  const ofTeam = (section: Extract<Page, { kind: "team" }>["section"]) => pathOf({ kind: "team", team, section });
  return [
    ...(team === "" ? [] : [{ text: "Members", href: ofTeam("members") }]),
    ...(mayDo("tokens:read")
      ? [
          { text: "API tokens", href: ofTeam("tokens") },
          { text: "Audit", href: ofTeam("audit") },
        ]
      : []),
    { text: "Your account", href: "/account" },
    "line" as const,
    { title: "Times in" },
    { text: "UTC", isChosen: zone.value === "utc", onChoose: () => (zone.value = "utc") },
    { text: "Local time", isChosen: zone.value === "local", onChoose: () => (zone.value = "local") },
    { title: "Colours" },
    { text: "As the system", isChosen: theme.value === "auto", onChoose: () => (theme.value = "auto") },
    { text: "Light", isChosen: theme.value === "light", onChoose: () => (theme.value = "light") },
    { text: "Dark", isChosen: theme.value === "dark", onChoose: () => (theme.value = "dark") },
    "line" as const,
    { text: "Query language", href: "/help/language" },
    { text: "API reference", href: "/reference" },
    { text: "Keys", onChoose: () => (overlay.value = "keys") },
    "line" as const,
    { text: "Sign out", onChoose: () => void signOut() },
  ];
}
