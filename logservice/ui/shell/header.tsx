import { PROJECT_NAMES, TEAM_NAMES } from "../../address/names.ts";
import { type ProjectSection, pathOf, type TeamSection } from "../../address/page.ts";
import { letterKeys, theme, zone } from "../data/preferences.ts";
import { mayDo, page, project, projects, session, team, teamId } from "../data/session.ts";
import { Menu, type MenuEntry } from "../kit/menu.tsx";
import { isNarrow } from "../kit/narrow.ts";
import { Text } from "../kit/text.tsx";
import { visibleText } from "../kit/visible.ts";
import { overlay } from "./open.ts";
import { signOut } from "./sign-out.ts";

/** The pages of a project that the bar leads to. */
const SECTIONS: readonly ProjectSection[] = ["events", "searches", "alerts", "notifications", "settings"];
/** The pages of a team that the bar leads to. */
const TEAM_SECTIONS: readonly TeamSection[] = ["projects", "usage", "members", "tokens", "audit"];
const maySee = (section: TeamSection) => ["projects", "usage", "members"].includes(section) || mayDo("tokens:read");

/** From so many projects on, the switcher offers to find one by name. */
const MANY = 10;

/** The bar at the top: the project and its pages, the search over pages, the person. */
export function PageHeader() {
  const at = page.value;
  const inProject = at !== undefined && "project" in at ? at : undefined;
  // How to send events is a part of the settings.
  const section = inProject?.section === "start" ? "settings" : inProject?.section;
  const inTeam = at?.kind === "team" ? at : undefined;
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
          name={
            inProject
              ? `Project: ${visibleText(project.value?.name ?? inProject.project)}`
              : `Team: ${visibleText(team.value?.name ?? teamId.value)}`
          }
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
        <nav aria-label="Project" ref={showCurrent}>
          {SECTIONS.map((one) => (
            <a
              key={one}
              href={pathOf({ kind: "project", team: inProject.team, project: inProject.project, section: one })}
              aria-current={section === one ? "page" : undefined}
            >
              {PROJECT_NAMES[one]}
            </a>
          ))}
        </nav>
      )}
      {inTeam && (
        <nav aria-label="Team" ref={showCurrent}>
          {TEAM_SECTIONS.filter(maySee).map((section) => (
            <a
              key={section}
              href={pathOf({ kind: "team", team: inTeam.team, section })}
              aria-current={inTeam.section === section ? "page" : undefined}
            >
              {TEAM_NAMES[section]}
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

/** On a narrow screen the menu is scrolled: the current page is in sight. */
function showCurrent(nav: HTMLElement | null): void {
  if (isNarrow.peek()) nav?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
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
  const all = projects.value ?? [];
  return [
    ...(all.length >= MANY
      ? ([{ text: "Find a project …", onChoose: () => (overlay.value = "find") }, "line"] as const)
      : []),
    ...all.map(
      ({ id, name }): MenuEntry => ({
        text: <Text text={name} />,
        href: pathOf({ kind: "project", team, project: id!, section: "events" }),
        isChosen: id === current,
      }),
    ),
    ...(all.length > 0 ? (["line"] as const) : []),
    { text: "All projects", href: pathOf({ kind: "team", team, section: "projects" }) },
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
  const sections = team === "" ? [] : TEAM_SECTIONS.filter((section) => section !== "projects" && maySee(section));
  return [
    ...sections.map((section) => ({ text: TEAM_NAMES[section], href: pathOf({ kind: "team", team, section }) })),
    { text: "Your account", href: "/account" },
    "line" as const,
    { title: "Times in" },
    { text: "UTC", isChosen: zone.value === "utc", onChoose: () => (zone.value = "utc") },
    { text: "Local time", isChosen: zone.value === "local", onChoose: () => (zone.value = "local") },
    { title: "Colours" },
    { text: "Same as system", isChosen: theme.value === "auto", onChoose: () => (theme.value = "auto") },
    { text: "Light", isChosen: theme.value === "light", onChoose: () => (theme.value = "light") },
    { text: "Dark", isChosen: theme.value === "dark", onChoose: () => (theme.value = "dark") },
    { title: "Single-key shortcuts" },
    { text: "On", isChosen: letterKeys.value === "on", onChoose: () => (letterKeys.value = "on") },
    { text: "Off", isChosen: letterKeys.value === "off", onChoose: () => (letterKeys.value = "off") },
    "line" as const,
    { text: "Query language", href: "/help/language" },
    { text: "API reference", href: "/reference" },
    { text: "Keyboard shortcuts", onChoose: () => (overlay.value = "keys") },
    "line" as const,
    { text: "Sign out", onChoose: () => void signOut() },
  ];
}
