import type { Scope, Token } from "../../schema/rpc.generated.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import * as tokens from "../access/tokens.ts";
import { OperatorError, RpcError } from "../error.ts";
import { writeAudit } from "../records/audit.ts";
import type { Records } from "../records/open.ts";
import type { AuditRow } from "../records/tables.ts";
import { transact } from "../records/transact.ts";
import { type RecordsPlace, requireDataDirectory, withRecords } from "./data-directory.ts";
import { onlyTeam } from "./teams.ts";

/** All that a token may be allowed to do. */
export const SCOPES = rpcSchema.definitions.Scope!.enum as readonly Scope[];

export interface CreatedToken {
  /** The public id. */
  readonly id: string;
  /** The token itself, which is stored nowhere. */
  readonly secret: string;
}

export async function addToken(
  folder: string,
  token: {
    readonly scopes: readonly Scope[];
    readonly description: string;
    readonly team?: string | undefined;
    readonly expiresAt?: string;
  },
  nowMs: number,
  records?: RecordsPlace,
): Promise<CreatedToken> {
  await requireDataDirectory(folder, records);
  const add = ({ db }: Records) =>
    transact(db, async (db) => {
      const at = new Date(nowMs).toISOString();
      const team = await onlyTeam(db, token.team);
      const addedToken = await tokens.addToken(db, { ...token, team }, at);
      await writeAudit(db, { ...atTerminal(at, "add_token"), team_id: team, target_id: addedToken.id });
      return addedToken;
    });
  return withRecords(folder, add, { records });
}

/** The API tokens of all teams, oldest first. */
export async function listTokens(
  folder: string,
  records?: RecordsPlace,
): Promise<(Token & { readonly team: string })[]> {
  await requireDataDirectory(folder, records);
  return withRecords(folder, ({ db }) => tokens.listTokensOfAll(db), { records });
}

export async function removeToken(
  folder: string,
  idOrSecret: string,
  nowMs: number,
  records?: RecordsPlace,
): Promise<void> {
  await requireDataDirectory(folder, records);
  const remove = ({ db }: Records) =>
    transact(db, async (db) => {
      const { id, team_id } = await tokens.removeToken(db, idOrSecret);
      const at = new Date(nowMs).toISOString();
      await writeAudit(db, { ...atTerminal(at, "remove_token"), team_id, target_id: id });
    });
  await withRecords(folder, remove, { records }).catch((error: unknown) => {
    if (!(error instanceof RpcError)) throw error;
    throw new OperatorError(error.message, { hint: "tool service token ls shows them", cause: error });
  });
}

/** The fields of the audit that are the same for each change that was made on this machine. */
export function atTerminal(at: string, operation: string): Omit<AuditRow, "id" | "team_id" | "target_id" | "detail"> {
  return { at, actor: "terminal", address: "", project_id: "", result: "done", operation };
}
