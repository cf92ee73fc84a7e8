import type { Page, ProjectSection, TeamSection } from "./page.ts";

/** The names of the pages of a project, in the order of the menu. */
export const PROJECT_NAMES: Readonly<Record<ProjectSection, string>> = {
  events: "Explore",
  searches: "Searches",
  alerts: "Alerts",
  notifications: "Notifications",
  start: "Send events",
  settings: "Settings",
};

/** The names of the pages of a team. */
export const TEAM_NAMES: Readonly<Record<TeamSection, string>> = {
  projects: "Projects",
  usage: "Usage",
  members: "Members",
  tokens: "API tokens",
  audit: "Audit",
};

/** Title of the window: the page first, as tabs cut the end off. `project` and `team` are names to show. */
export function titleOf(
  page: Page | undefined,
  { project, team }: { readonly project?: string | undefined; readonly team?: string | undefined },
): string {
  return [...titleParts(page, { project, team }), "Logs"].join(" · ");
}

function titleParts(
  page: Page | undefined,
  names: { readonly project?: string | undefined; readonly team?: string | undefined },
): readonly string[] {
  if (page === undefined) return ["No such page"];
  switch (page.kind) {
    case "home":
      return [];
    case "help":
      return ["Query language"];
    case "team":
      return [TEAM_NAMES[page.section], names.team ?? page.team];
    case "project":
      return [PROJECT_NAMES[page.section], names.project ?? page.project];
    case "item":
      return [PROJECT_NAMES[page.section], names.project ?? page.project];
  }
}

/**
 * Returns a key that stays the same as long as the same page is shown: changes within it, such as a query, are not part
 * of it.
 */
export function pageKey(page: Page | undefined): string {
  if (page === undefined) return "";
  if (page.kind === "help" || page.kind === "home") return page.kind;
  return [page.team, "project" in page ? page.project : "", page.section, page.kind].join("\n");
}
