import { call } from "../data/call.ts";
import { mayDo } from "../data/session.ts";
import { isGone } from "../kit/no-item.tsx";

/** A token that a person made, as far as whoever asks may know it. */
export interface MadeToken {
  readonly id: string;
  readonly kind: "API" | "CI" | "unknown";
  /** The name that it had. */
  readonly name: string;
}

/** The tokens with these ids, with their names for those who may see tokens. */
export async function tokensWithIds(ids: readonly string[]): Promise<readonly MadeToken[]> {
  if (!mayDo("tokens:read") || !mayDo("team:write")) return ids.map((id) => ({ id, kind: "unknown", name: "" }));
  const [api, ci] = await Promise.all([call("get_tokens", {}), call("get_ci_tokens", {})]);
  return ids.map((id): MadeToken => {
    const ofCi = ci.tokens.find((token) => token.id === id);
    if (ofCi !== undefined) return { id, kind: "CI", name: ofCi.name };
    const ofApi = api.tokens.find((token) => token.id === id);
    return { id, kind: ofApi === undefined ? "unknown" : "API", name: ofApi?.description ?? "" };
  });
}

/** Removes tokens one after another. One that is gone already keeps none of the others. */
export async function removeTokens(tokens: readonly MadeToken[]): Promise<void> {
  for (const { id, kind } of tokens)
    await call(kind === "CI" ? "remove_ci_token" : "remove_token", { token_id: id }).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
}
