import type { Scope } from "../../schema/rpc.generated.ts";
import type { PersonIn } from "../records/people.ts";
import type { TokenKind } from "../records/tables.ts";
import type { TeamScope } from "./roles.ts";

/** Who asks, for which team, and what that may do there. */
export interface Grant {
  /** The public id of its token or session. */
  readonly id: string;
  readonly kind: TokenKind | "session";
  /** The team that the request is about; "" for a person who is in none, or named none of several. */
  readonly team: string;
  /** What the audit calls it: the address of the person, else the public id of the token. */
  readonly actor: string;
  /** The person; undefined for a program. */
  readonly person: PersonIn | undefined;
  readonly scopes: ReadonlySet<Scope | TeamScope>;
}
