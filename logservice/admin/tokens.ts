import type { Scope, Token } from "../../schema/rpc.generated.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import * as tokens from "../access/tokens.ts";
import { OperatorError, RpcError } from "../error.ts";
import { writeAudit } from "../records/audit.ts";
import type { AuditRow } from "../records/tables.ts";
import { requireDataDirectory, withRecords } from "./data-directory.ts";

/** All that a token may be allowed to do. */
export const SCOPES = rpcSchema.definitions.Scope!.enum as readonly Scope[];

export interface NewToken {
  /** The public id. */
  readonly id: string;
  /** The token itself, which is stored nowhere. */
  readonly secret: string;
}

export async function addToken(
  folder: string,
  token: { readonly scopes: readonly Scope[]; readonly description: string },
  nowMs: number,
): Promise<NewToken> {
  await requireDataDirectory(folder);
  return withRecords(folder, ({ db }) =>
    db.transaction().execute(async (db) => {
      const at = new Date(nowMs).toISOString();
      const added = await tokens.addToken(db, token, at);
      await writeAudit(db, auditRow(at, "add_token", added.id));
      return added;
    }),
  );
}

export async function listTokens(folder: string): Promise<Token[]> {
  await requireDataDirectory(folder);
  return withRecords(folder, ({ db }) => tokens.listTokens(db));
}

export async function removeToken(folder: string, idOrSecret: string, nowMs: number): Promise<void> {
  await requireDataDirectory(folder);
  await withRecords(folder, ({ db }) =>
    db.transaction().execute(async (db) => {
      const { id } = await tokens.removeToken(db, idOrSecret);
      await writeAudit(db, auditRow(new Date(nowMs).toISOString(), "remove_token", id));
    }),
  ).catch((error: unknown) => {
    if (!(error instanceof RpcError)) throw error;
    throw new OperatorError(error.message, { hint: "tool service token ls shows them", cause: error });
  });
}

/** The line of the audit about a change that was made on this machine. */
function auditRow(at: string, operation: string, target_id: string): Omit<AuditRow, "id"> {
  return { at, actor: "terminal", address: "", project_id: "", result: "done", operation, target_id };
}
