import type { Scope } from "../../schema/rpc.generated.ts";
import type { PersonIn } from "../records/people.ts";
import type { AccessTokenKind } from "../records/tables.ts";
import type { TeamScope } from "./roles.ts";

/** Who asks, for which team, and what that may do there. */
export interface Grant {
  /** The public id of its token or session. */
  readonly id: string;
  /** `nobody` asks for an operation that needs no credential. */
  readonly kind: AccessTokenKind | "session" | "nobody";
  /** The team that the request is about; "" for a person who is in none, or named none of several. */
  readonly team: string;
  /** The name of the credential in the audit: the address of the person, else the public id of the token. */
  readonly actor: string;
  /** The person; undefined for a program. */
  readonly person: PersonIn | undefined;
  /** The id of the person who answers for it: who asks, or who made the token; "" if that is whoever runs the service. */
  readonly by: string;
  readonly scopes: ReadonlySet<Scope | TeamScope>;
  /** The bounds of a token of a deployed app: the project that it may write to, and the stage of its events, or "". */
  readonly app?: { readonly project: string; readonly stage: string };
}

/** Whoever has no credential. */
export const NOBODY: Grant = {
  id: "",
  kind: "nobody",
  team: "",
  actor: "",
  person: undefined,
  by: "",
  scopes: new Set(),
};
