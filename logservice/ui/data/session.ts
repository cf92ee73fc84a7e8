import { computed, signal } from "@preact/signals";
import type { Account, Project, Scope, Team } from "../../../schema/rpc.generated.ts";
import { ROLE_SCOPES, type TeamScope } from "../../access/roles.ts";
import type { FirstData, FirstEvents } from "../../address/first-data.ts";
import { pageAt } from "../../address/page.ts";
import { here } from "./location.ts";

/** Who is signed in and what the service is; undefined until the first data have arrived. */
export const session = signal<Pick<FirstData, "account" | "version" | "isMailing" | "isTexting"> | undefined>(
  undefined,
);

/** The first answers of the explorer that came with the page, of the address that it was read for; taken by the first view. */
export const firstEvents = signal<(FirstEvents & { readonly href: string }) | undefined>(undefined);

/** The projects of the current team; undefined while they are not known. */
export const projects = signal<readonly Project[] | undefined>(undefined);

/** The page at the address; undefined if there is none. */
export const page = computed(() => pageAt(here.value.path));

const account = computed<Account | undefined>(() => session.value?.account);

/** The team of the address, else the only one of the person; "" if neither is known. */
export const teamId = computed(() => {
  const at = page.value;
  if (at !== undefined && "team" in at) return at.team;
  const teams = account.value?.teams ?? [];
  return teams.length === 1 ? teams[0]!.id : (account.value?.team_id ?? "");
});

/** The current team as the person is in it; undefined if the person is not. */
export const team = computed<Team | undefined>(() => account.value?.teams.find(({ id }) => id === teamId.value));

/** The project of the address; undefined where there is none or it is not known. */
export const project = computed<Project | undefined>(() => {
  const at = page.value;
  return at !== undefined && "project" in at ? projects.value?.find(({ id }) => id === at.project) : undefined;
});

/** Whether the person may do what needs a scope in the current team. */
export function mayDo(scope: Scope | TeamScope): boolean {
  const role = team.value?.role;
  return role !== undefined && ROLE_SCOPES[role].has(scope);
}
