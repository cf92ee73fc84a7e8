import { loadRe2 } from "./re2.generated.ts";

export type CompiledRegex =
  | { readonly ok: true; readonly test: (text: string) => boolean }
  /** `part` is the piece of the source that the reason is about, where the compiler names one. */
  | { readonly ok: false; readonly reason: string; readonly part: string | undefined };

/**
 * Compiles RE2 syntax: matching takes time linear in the text whatever the expression, and an expression too large to
 * compile is refused. The engine is evaluated on the first call.
 */
export function compileRegex(source: string, ignoreCase: boolean): CompiledRegex {
  const { RE2JS, RE2JSSyntaxException } = loadRe2();
  try {
    const regex = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return { ok: true, test: (text) => regex.test(text) };
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return { ok: false, reason: error.getDescription(), part: error.getPattern() || undefined };
  }
}
