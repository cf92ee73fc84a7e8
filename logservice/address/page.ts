/**
 * The page that an address of the web UI shows. The server answers these paths with the page, and the page shows them
 * without asking the server again.
 */
export type Page =
  | { readonly kind: "home" }
  | { readonly kind: "team"; readonly team: string; readonly section: TeamSection }
  | { readonly kind: "project"; readonly team: string; readonly project: string; readonly section: ProjectSection }
  /** One of the things of a section, or `new`. */
  | {
      readonly kind: "item";
      readonly team: string;
      readonly project: string;
      readonly section: ItemSection;
      readonly id: string;
    }
  | { readonly kind: "help"; readonly section: HelpSection };

/** The pages of a team. */
const TEAM_SECTIONS = ["projects", "usage", "members", "tokens", "audit"] as const;
export type TeamSection = (typeof TEAM_SECTIONS)[number];

/** The pages of a project. */
const PROJECT_SECTIONS = ["events", "searches", "alerts", "notifications", "start", "settings"] as const;
export type ProjectSection = (typeof PROJECT_SECTIONS)[number];

/** Sections whose things have a page of their own. */
const ITEM_SECTIONS = ["alerts", "notifications"] as const;
export type ItemSection = (typeof ITEM_SECTIONS)[number];

const HELP_SECTIONS = ["language"] as const;
export type HelpSection = (typeof HELP_SECTIONS)[number];

/** The path of a page, without a query. */
export function pathOf(page: Page): string {
  switch (page.kind) {
    case "home":
      return "/";
    case "team":
      return `/t/${encodeURIComponent(page.team)}/${page.section}`;
    case "project":
      return `${projectPath(page)}/${page.section}`;
    case "item":
      return `${projectPath(page)}/${page.section}/${encodeURIComponent(page.id)}`;
    case "help":
      return `/help/${page.section}`;
  }
}

function projectPath({ team, project }: { readonly team: string; readonly project: string }): string {
  return `/t/${encodeURIComponent(team)}/p/${encodeURIComponent(project)}`;
}

/** The page at a path; undefined if there is none. */
export function pageAt(path: string): Page | undefined {
  const parts = partsOf(path);
  if (parts === undefined) return undefined;
  const [first, team, third, project, section, id, ...rest] = parts;
  if (first === undefined) return { kind: "home" };
  if (first === "help") return help(parts);
  if (first !== "t" || !team || rest.length > 0) return undefined;
  if (third !== "p") {
    const name = third ?? "projects";
    return project === undefined && isOneOf(TEAM_SECTIONS, name) ? { kind: "team", team, section: name } : undefined;
  }
  if (!project) return undefined;
  const name = section ?? "events";
  if (id === undefined)
    return isOneOf(PROJECT_SECTIONS, name) ? { kind: "project", team, project, section: name } : undefined;
  return id !== "" && isOneOf(ITEM_SECTIONS, name) ? { kind: "item", team, project, section: name, id } : undefined;
}

function help([, section, ...rest]: readonly string[]): Page | undefined {
  const name = section ?? "language";
  return rest.length === 0 && isOneOf(HELP_SECTIONS, name) ? { kind: "help", section: name } : undefined;
}

/** The decoded parts of a path; undefined if one of them cannot be decoded. */
function partsOf(path: string): string[] | undefined {
  try {
    return path.replace(/^\/|\/$/g, "") === ""
      ? []
      : path
          .replace(/^\/|\/$/g, "")
          .split("/")
          .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function isOneOf<T extends string>(names: readonly T[], name: string): name is T {
  return (names as readonly string[]).includes(name);
}
