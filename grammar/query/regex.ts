import { loadRe2 } from "./re2.generated.ts";

/** A compiled expression as a test of texts. The compiler finds one problem at most. */
export type CompiledRegex =
  | { readonly ok: true; readonly value: (text: string) => boolean }
  | { readonly ok: false; readonly problems: readonly [RegexProblem] };

interface RegexProblem {
  readonly message: string;
  /** The piece of the source that the message is about, if the compiler names one. */
  readonly part: string | undefined;
}

/**
 * Compiles RE2 syntax: matching takes time linear in the text whatever the expression, and an expression too large to
 * compile is refused. The engine is evaluated on the first call.
 */
export function compileRegex(source: string, ignoreCase: boolean): CompiledRegex {
  const { RE2JS, RE2JSSyntaxException } = loadRe2();
  try {
    const regex = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return { ok: true, value: (text) => regex.test(text) };
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return { ok: false, problems: [{ message: error.getDescription(), part: error.getPattern() || undefined }] };
  }
}
