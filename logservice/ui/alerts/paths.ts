import { pathOf } from "../../address/page.ts";
import { teamId } from "../data/session.ts";

/** The page of an alert, or of a new one: `new`. */
export const alertPath = (project: string, id: string) =>
  pathOf({ kind: "item", team: teamId.value, project, section: "alerts", id });

/** The page of all alerts of a project. */
export const listPath = (project: string) =>
  pathOf({ kind: "project", team: teamId.value, project, section: "alerts" });
