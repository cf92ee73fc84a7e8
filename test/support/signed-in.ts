// A machine on which a person is signed in to a log service.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import type { TestService } from "./service.ts";

/** The variables of its commands. */
export async function signedIn(
  t: Test,
  service: TestService,
  role: "admin" | "member" = "admin",
  email = `${role}@example.com`,
) {
  const folder = mkdtempSync(join(tmpdir(), "tool-logs-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const token = await service.person(email, role);
  const { json } = await service.call("get_account", {}, token);
  const { team_id: team } = json.account;
  mkdirSync(join(folder, "tool"), { mode: 0o700 });
  const teams = { [team]: { team, email, url: service.running.url, token } };
  writeFileSync(join(folder, "tool/config.json"), JSON.stringify({ team, teams }), { mode: 0o600 });
  return { XDG_CONFIG_HOME: folder };
}

export const NOBODY = { XDG_CONFIG_HOME: "/nonexistent" };
