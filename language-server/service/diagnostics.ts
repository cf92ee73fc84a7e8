import type { Diagnostic, DiagnosticRelatedInformation, TextEdit } from "vscode-languageserver-types";
import { type Fix, fixesOf, type Problem, quote } from "../../grammar/problem.ts";
import { parseQuery } from "../../grammar/query/index.ts";
import { parseTemplate } from "../../grammar/template/index.ts";
import { checkInSteps } from "../../schema/check.ts";
import { SYNTAX_CODES } from "../../schema/json.ts";
import { withSoundFixes } from "../../schema/sound-fixes.ts";
import type { ToolDocument } from "./document.ts";
import type { Project } from "./project.ts";

export interface DiagnosticOptions {
  /** False where the client's own JSON support reports syntax. */
  readonly syntax: boolean;
}

/** What a diagnostic carries for code actions: a change that removes it. */
export interface DiagnosticData {
  readonly fix?: OfferedFix;
}

export interface OfferedFix {
  readonly title: string;
  readonly edits: readonly TextEdit[];
  /** See `Fix`: never made together with others. */
  readonly isSuggestion?: true;
}

// DiagnosticSeverity and DiagnosticTag of the protocol. Constants, so that its types are all that is imported.
const SEVERITY = { error: 1, warning: 2 } as const;
const DEPRECATED = 2;

/**
 * The problems of a document as the protocol has them. A generator: checks of a long text stop in between, so that
 * other requests are answered and a check that nobody waits for is given up.
 */
export function* diagnose(
  document: ToolDocument,
  project: Project,
  options: DiagnosticOptions,
): Generator<undefined, Diagnostic[]> {
  const problems = yield* problemsOf(document, project);
  const diagnostics = problems.map((problem) => toDiagnostic(document, problem));
  latest.set(document, { problems, diagnostics, offered: new Map() });
  return diagnostics.filter(
    ({ code }) => options.syntax || document.kind !== "config" || !SYNTAX_CODES.has(String(code)),
  );
}

interface Found {
  readonly problems: readonly Problem[];
  readonly diagnostics: readonly Diagnostic[];
  /** The fixes that were asked for. */
  readonly offered: Map<Diagnostic, readonly OfferedFix[]>;
}

const latest = new WeakMap<ToolDocument, Found>();

/**
 * What `diagnose` found last in this version, syntax included: a client asks for actions with every move of the cursor,
 * and a long text takes longer to check than that may take. Checked now where it was not.
 */
export function latestDiagnostics(document: ToolDocument, project: Project): readonly Diagnostic[] {
  return latestOf(document, project).diagnostics;
}

function latestOf(document: ToolDocument, project: Project): Found {
  const known = latest.get(document);
  if (known !== undefined) return known;
  atOnce(diagnose(document, project, { syntax: true }));
  return latest.get(document)!;
}

/** The fixes of some of the latest diagnostics, the likeliest first, each tried out: see `withSoundFixes`. */
export function offeredFixes(
  document: ToolDocument,
  project: Project,
  asked: readonly Diagnostic[],
): ReadonlyMap<Diagnostic, readonly OfferedFix[]> {
  const { problems, diagnostics, offered } = latestOf(document, project);
  const unknown = new Set(
    diagnostics.flatMap((one, i) => (asked.includes(one) && !offered.has(one) ? [problems[i]] : [])),
  );
  if (unknown.size > 0) {
    const isAsked = (problem: Problem) => unknown.has(problem);
    const directory = document.name === "tool.json" ? project.directory : undefined;
    const options = { memory: document.memory, ...(directory && { directory }) };
    const check = (text: string) => atOnce(checkInSteps(text, options)).problems;
    const sound = document.kind === "config" ? withSoundFixes(document.text, problems, check, isAsked) : problems;
    for (const [i, one] of diagnostics.entries()) {
      if (unknown.has(problems[i]!))
        offered.set(
          one,
          fixesOf(sound[i]!).map((fix) => offeredFix(document, fix)),
        );
    }
  }
  return offered;
}

function atOnce<T>(steps: Generator<undefined, T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

const offeredFix = (document: ToolDocument, fix: Fix): OfferedFix => ({
  title: fix.title,
  edits: editsOf(document, fix),
  ...(fix.isSuggestion && { isSuggestion: true }),
});

function* problemsOf(document: ToolDocument, project: Project): Generator<undefined, readonly Problem[]> {
  switch (document.kind) {
    case "config": {
      // Only there are the files around it the project's.
      const directory = document.name === "tool.json" ? project.directory : undefined;
      const { parsed, memory } = document;
      return (yield* checkInSteps(document.text, { parsed, memory, ...(directory && { directory }) })).problems;
    }
    case "query": {
      // One query a file; the newline that files end with is none of it.
      const parsed = parseQuery(document.text);
      return parsed.ok ? [] : parsed.problems;
    }
    case "template": {
      const parsed = parseTemplate(document.text);
      return parsed.ok ? [] : parsed.problems;
    }
    case "ignore":
      // Every text is a list of patterns.
      return [];
  }
}

function toDiagnostic(document: ToolDocument, problem: Problem): Diagnostic {
  const { code, severity, message, hint, span, fix } = problem;
  const related = relatedTo(document, problem);
  const data: DiagnosticData | undefined = fix && { fix: offeredFix(document, fix) };
  return {
    range: document.rangeOf(span),
    severity: SEVERITY[severity],
    code,
    source: "tool",
    message: hint === undefined ? message : `${message}\n${hint}`,
    ...(code.startsWith("config/deprecated-") && { tags: [DEPRECATED] }),
    ...(related && { relatedInformation: [related] }),
    ...(data && { data }),
  };
}

export function editsOf(document: ToolDocument, fix: Fix): TextEdit[] {
  return fix.edits.map(({ span, text }) => ({ range: document.rangeOf(span), newText: text }));
}

/** Where the other one of two stands that cannot be side by side. */
function relatedTo(document: ToolDocument, { code, span }: Problem): DiagnosticRelatedInformation | undefined {
  if (code !== "config/duplicate-key") return undefined;
  const place = document.pathAt(span.start + 1);
  if (place?.member === undefined) return undefined;
  const parent = document.nodeAt(place.path.slice(0, -1)).node;
  const name = place.member.key.value;
  const first = parent?.type === "object" ? parent.members.find(({ key }) => key.value === name) : undefined;
  if (first === undefined || first === place.member) return undefined;
  return {
    location: { uri: document.uri, range: document.rangeOf(first.key.span) },
    message: `${quote(name)} stands here first`,
  };
}
