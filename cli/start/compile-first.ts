import type { Context } from "../context.ts";

/** `go run` of packages or files, without options, which could change what is compiled. */
const GO_RUN = /^\s*(?:exec )?go run ((?:[\w./][\w./-]*\.go(?:\s+|$))+|[\w./][\w./-]*(?=\s|$))/;

/**
 * Gives the command that compiles all that another one compiles when it starts: the first time that takes longer than an app
 * may take to listen. Undefined if it compiles nothing.
 */
export function compilationOf(command: string): string | undefined {
  const what = GO_RUN.exec(command)?.[1]?.trim();
  return what === undefined ? undefined : `go build -o /dev/null ${what}`;
}

/**
 * Compiles before the app has only `listen_timeout` to start. What the compiler refuses is said by the start, which
 * compiles again. Ends early at a signal, which the caller hears too.
 */
export async function compileFirst(
  { io, directory }: Context,
  command: string | undefined,
  { env, say }: { readonly env: NodeJS.ProcessEnv; readonly say: (text: string) => void },
): Promise<void> {
  const compilation = command === undefined ? undefined : compilationOf(command);
  if (compilation === undefined) return;
  say(`Compiling: ${compilation}`);
  const { runInShell } = await import("../hooks/shell.ts");
  await runInShell(io, compilation, { directory, env, output: "kept" });
}
