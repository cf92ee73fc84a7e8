import { type CodeAction, CodeActionKind, type Diagnostic } from "vscode-languageserver-types";
import type { TextEdit } from "../../grammar/problem.ts";
import { variableNameProblem, variableValueProblem } from "../../schema/index.ts";
import { type Member, memberOf, removeMembers } from "../../schema/json.ts";
import type { ToolDocument } from "./document.ts";
import { Refusal } from "./method.ts";

/** The command that the fix of a secret asks for, with the argument `{ uri, name, stage }`. */
export const MOVE_SECRET = "tool.moveSecret";

/** A run of the program `tool` that must end well before a text is changed. */
export interface ToolRun {
  /** The address of the folder to run in, with a slash at its end. */
  readonly folder: string;
  readonly words: readonly string[];
  /** The input that the program reads. It may be secret: it is for no argument, no message and no log. */
  readonly input: string;
  /** The work in a few words, as the title of a progress or a question. */
  readonly title: string;
  /** The stages that are affected, in words. */
  readonly stages: string;
}

export interface Move extends ToolRun {
  readonly uri: string;
  /** The text to show if the program failed, before its own words. */
  readonly failed: string;
  /** Returns the change that follows once it has ended well, in the text as it is then; undefined if that is closed. */
  after(document: ToolDocument | undefined, place: string): Moved;
}

export interface Moved {
  readonly edits: readonly TextEdit[];
  readonly message: string;
  /** The message to show instead if the edits are not made. */
  readonly unchanged: string;
}

/** The name that `tool env` has for all stages together. */
const ALL_STAGES = "all";

/**
 * The actions that move a variable out of tool.json: for all stages where it is a secret of `environment`, for one stage
 * where it was written into a stage, which has no `environment`. Only where they are sure to be read as they were written.
 */
export function moveSecretActions(document: ToolDocument, { code, range }: Diagnostic, clientDiagnostic: Diagnostic) {
  // `tool env` reads the tool.json of its folder, not a draft beside it.
  if (document.name !== "tool.json" || !document.uri.startsWith("file:")) return [];
  const { path = [] } = document.pathAt(document.offsetAt(range.start) + 1) ?? {};
  const variables =
    code === "config/secret" && path[0] === "environment" && path.length === 2
      ? [{ name: String(path[1]), stage: ALL_STAGES }]
      : code === "config/not-per-stage" && path.length === 3 && path[2] === "environment"
        ? namesIn(document, String(path[1])).map((name) => ({ name, stage: String(path[1]) }))
        : [];
  return variables
    .filter(({ name, stage }) => movable(document, name, stage) !== undefined)
    .map(({ name, stage }): CodeAction => {
      const title = stage === ALL_STAGES ? titleOf(name) : `${titleOf(name)}, for ${stage}`;
      const command = { title, command: MOVE_SECRET, arguments: [{ uri: document.uri, name, stage }] };
      return { title, kind: CodeActionKind.QuickFix, diagnostics: [clientDiagnostic], command };
    });
}

/** Returns the work of the command. Throws a Refusal if there is nothing to move. */
export function moveSecret(argument: unknown, documentOf: (uri: string) => ToolDocument | undefined): Move {
  const { uri, name, stage = ALL_STAGES } = (argument ?? {}) as Record<string, unknown>;
  const document = typeof uri === "string" ? documentOf(uri) : undefined;
  if (document?.kind !== "config") throw new Refusal(`${MOVE_SECRET}: "uri" names no tool.json that is open`);
  if (typeof name !== "string" || typeof stage !== "string") throw new Refusal(`${MOVE_SECRET}: "name" is missing`);
  const value = movable(document, name, stage);
  if (value === undefined) throw new Refusal(`tool.json has no variable ${JSON.stringify(name)} that could be moved`);
  const stages = stage === ALL_STAGES ? "all stages" : `the stage ${stage}`;
  return {
    uri: document.uri,
    folder: document.uri.slice(0, document.uri.lastIndexOf("/") + 1),
    // Nothing on stdin is refused: what should write it there may have failed.
    words: ["env", "add", ...(value === "" ? [`${name}=`] : [name, "-"]), "-s", stage],
    input: value,
    title: titleOf(name),
    stages,
    failed: `${name} stays in tool.json`,
    after(now, place) {
      const isSame = now !== undefined && movable(now, name, stage) === value;
      const kept = `${name} is kept by tool env now, for ${stages}${place}`;
      return {
        edits: isSame ? removal(now, name, stage) : [],
        message: `${kept}, and no longer by tool.json. Deploy again: until then a stage has the value of its last deploy.`,
        unchanged: isSame
          ? `${kept}, but the editor did not change tool.json: remove it there.`
          : `${kept}, with the value that it had. tool.json was changed or closed meanwhile, so it is still there: move it again, or remove it.`,
      };
    },
  };
}

const titleOf = (name: string) => `Move ${name} to tool env`;

/** From the root to the object that has the variables. */
const pathOf = (stage: string) => (stage === ALL_STAGES ? ["environment"] : ["stages", stage, "environment"]);

function namesIn(document: ToolDocument, stage: string): string[] {
  const { node } = document.nodeAt(pathOf(stage));
  return node?.type === "object" ? node.members.map(({ key }) => key.value) : [];
}

/** The value of a variable; undefined if it cannot be moved, or if slips in the text leave in doubt what it is. */
function movable(document: ToolDocument, name: string, stage: string): string | undefined {
  // A stage's name becomes an argument.
  if (document.parsed.problems.length > 0 || !/^[a-z][a-z0-9_-]*$/.test(stage)) return undefined;
  const { node } = document.nodeAt([...pathOf(stage), name]);
  if (node?.type !== "string" || variableNameProblem(name) !== undefined) return undefined;
  // Half a surrogate pair is no text that a program could be given.
  const isText = variableValueProblem(name, node.value) === undefined && !/\p{Surrogate}/u.test(node.value);
  // The line end of a single line would be left out, as that of `echo` is; nobody has such a secret.
  const isExact = !/^[^\n]*\n$/.test(node.value);
  return isText && isExact ? node.value : undefined;
}

/** Takes a variable out, and with the last one the object that held it. */
function removal(document: ToolDocument, name: string, stage: string): TextEdit[] {
  const path = pathOf(stage);
  const owner = document.nodeAt(path.slice(0, -1)).node;
  const environment = memberOf(owner, "environment");
  const variable = memberOf(environment?.value, name);
  if (owner?.type !== "object" || environment?.value?.type !== "object" || variable === undefined) return [];
  const isLast = environment.value.members.length === 1;
  const gone: Member = isLast ? environment : variable;
  return removeMembers(isLast ? owner : environment.value, new Set([gone]));
}
