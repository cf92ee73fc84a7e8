/**
 * A command line that runs without the loaders that the test runner puts into all Node programs it starts, whatever
 * environment they are given. Compilers and package managers do not all work with them, and VS Code is large.
 */
export function withoutLoaders(program: string, args: readonly string[]): [string, string[]] {
  return ["env", ["-u", "NODE_OPTIONS", program, ...args]];
}
