import type { Scope } from "../../../schema/rpc.generated.ts";

type KindOf<S extends Scope> = S extends `${infer Kind}:${string}` ? Kind : never;

/** All of them: the compiler reports one that is missing. */
const ALL: Readonly<Record<KindOf<Scope>, true>> = {
  events: true,
  searches: true,
  alerts: true,
  notifications: true,
  projects: true,
  tokens: true,
};
export const SCOPE_KINDS = Object.keys(ALL) as readonly KindOf<Scope>[];

export const scopeOfKind = (kind: KindOf<Scope>, way: "read" | "write"): Scope => `${kind}:${way}`;

/** The scopes that most programs need. */
export const SCOPE_PRESETS: readonly { readonly text: string; readonly scopes: readonly Scope[] }[] = [
  { text: "Send events", scopes: ["events:write"] },
  { text: "Read events", scopes: ["events:read", "projects:read"] },
  { text: "Read everything", scopes: SCOPE_KINDS.map((kind) => scopeOfKind(kind, "read")) },
  {
    text: "Everything",
    scopes: SCOPE_KINDS.flatMap((kind) => [scopeOfKind(kind, "read"), scopeOfKind(kind, "write")]),
  },
];
