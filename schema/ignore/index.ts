// .toolignore: which files are part of a deployment. One definition for the build and for editors.
export { explainPattern, lineAt, readPattern } from "./line.ts";
export {
  decide,
  type IgnoreDecision,
  type IgnoreOptions,
  type IgnoreRule,
  mayHold,
  parseIgnore,
  ROOT,
  vainRule,
} from "./rules.ts";
export { ignoreProblems } from "./text.ts";
