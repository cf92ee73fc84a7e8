import type { Diagnostic, DiagnosticRelatedInformation, TextEdit } from "vscode-languageserver-types";
import { type Fix, fixesOf, type Problem, quote } from "../../grammar/problem.ts";
import { doubtsOf, parsePipeline, stagesNamedIn } from "../../grammar/query/index.ts";
import { parseTemplate } from "../../grammar/template/index.ts";
import { ignoreProblems } from "../../schema/ignore/index.ts";
import {
  type ConfigCheckOptions,
  checkInSteps,
  checkTemplate,
  developmentLogOf,
  type LogFacts,
  proKeysIn,
  proProblem,
  stageNames,
  unknownStages,
  withQueryFixes,
  withSoundFixes,
} from "../../schema/index.ts";
import { memberOf, SYNTAX_CODES } from "../../schema/json.ts";
import { ToolDocument } from "./document.ts";
import { uriOfPath } from "./paths.ts";
import { type Project, partOfProject } from "./project.ts";
import { DEFAULT_SETTINGS, type EditorSettings, severityOf } from "./settings.ts";
import { logFactsOf } from "./traffic.ts";
import { trafficOf } from "./traffic-of.ts";

export interface DiagnosticOptions {
  /** False if the client's own JSON support reports syntax. */
  readonly syntax: boolean;
  /** The severity that a code is shown with, if the user has set it. */
  readonly settings?: EditorSettings;
  /** Whether settings of Pro get a hint. */
  readonly hintsPro?: boolean;
  /** The address of a code's explanation, with `{code}` for the code. */
  readonly documentation?: string | undefined;
}

/** Data of a diagnostic for code actions: a change that removes it. */
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
const SEVERITY = { error: 1, warning: 2, information: 3, hint: 4 } as const;
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
  const hints = options.hintsPro && document.kind === "config" ? proHints(document.text) : [];
  const traffic = trafficOf(document, project, options.settings ?? DEFAULT_SETTINGS)?.traffic;
  const problemsAndHints = [...(yield* problemsOf(document, project, traffic && logFactsOf(traffic))), ...hints];
  const pairs = problemsAndHints.flatMap((problem) => {
    const diagnostic = toDiagnostic(document, problem, options);
    return diagnostic === undefined ? [] : [{ problem, diagnostic }];
  });
  const problems = pairs.map(({ problem }) => problem);
  const diagnostics = pairs.map(({ diagnostic }) => diagnostic);
  latest.set(document, { problems, diagnostics, offered: new Map() });
  return diagnostics.filter(
    ({ code }) => options.syntax || document.kind !== "config" || !SYNTAX_CODES.has(String(code)),
  );
}

interface Diagnosis {
  readonly problems: readonly Problem[];
  readonly diagnostics: readonly Diagnostic[];
  /** The fixes that were asked for. */
  readonly offered: Map<Diagnostic, readonly OfferedFix[]>;
}

const latest = new WeakMap<ToolDocument, Diagnosis>();

/**
 * The diagnostics that `diagnose` returned last for this version, syntax included: a client asks for actions with every
 * move of the cursor, and a long text takes longer to check than that may take. Checked now if it was not.
 */
export function latestDiagnostics(document: ToolDocument, project: Project): readonly Diagnostic[] {
  return latestOf(document, project).diagnostics;
}

function latestOf(document: ToolDocument, project: Project): Diagnosis {
  const diagnosis = latest.get(document);
  if (diagnosis !== undefined) return diagnosis;
  atOnce(diagnose(document, project, { syntax: true }));
  return latest.get(document)!;
}

/** The fixes of some of the latest diagnostics, the likeliest first, each tried out: see `withSoundFixes`. */
export function offeredFixes(
  document: ToolDocument,
  project: Project,
  selection: readonly Diagnostic[],
): ReadonlyMap<Diagnostic, readonly OfferedFix[]> {
  const { problems, diagnostics, offered } = latestOf(document, project);
  const pending = new Set(
    diagnostics.flatMap((one, i) => (selection.includes(one) && !offered.has(one) ? [problems[i]] : [])),
  );
  if (pending.size > 0) {
    const isPending = (problem: Problem) => pending.has(problem);
    const options = { memory: document.memory, ...surroundings(document, project) };
    const check = (text: string) => atOnce(checkInSteps(text, options)).problems;
    const sound = document.kind === "config" ? withSoundFixes(document.text, problems, check, isPending) : problems;
    for (const [i, one] of diagnostics.entries()) {
      if (pending.has(problems[i]!))
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

/** `log` are the fields of the log service; without them those of the development log count. */
function* problemsOf(
  document: ToolDocument,
  project: Project,
  log: LogFacts | undefined,
): Generator<undefined, readonly Problem[]> {
  switch (document.kind) {
    case "config": {
      const { parsed, memory } = document;
      const options = { parsed, memory, ...surroundings(document, project), ...(log && { log }) };
      return (yield* checkInSteps(document.text, options)).problems;
    }
    case "query": {
      // One query a file; the newline that files end with is none of it.
      const parsed = parsePipeline(document.query);
      if (!parsed.ok) return withQueryFixes(document.query, parsed.problems);
      const { fields } = log ?? developmentLogOf(project.directory, document.memory);
      const warnings = doubtsOf(parsed.value, fields);
      const config = project.config?.();
      // Only a tool.json says which stages there are.
      if (config === undefined) return warnings;
      return [...unknownStages(stagesNamedIn(parsed.value), stageNames(config.root)), ...warnings];
    }
    case "template": {
      const config = project.config?.();
      if (config !== undefined) {
        return checkTemplate(document.text, memberOf(config.section("error_pages")?.value, "variables")?.value);
      }
      const parsed = parseTemplate(document.text);
      return parsed.ok ? [] : parsed.problems;
    }
    case "ignore":
      return ignoreProblems(document.text);
  }
}

/** The surroundings that the check of a configuration may know: the project's files, for a tool.json and its parts only. */
function surroundings(document: ToolDocument, project: Project): ConfigCheckOptions {
  const isConfig = document.name === "tool.json";
  const part = isConfig ? undefined : partOfProject(document.uri, project);
  const directory = isConfig || part !== undefined ? project.directory : undefined;
  return { ...(directory && { directory }), ...(part && { partOf: part }) };
}

/** The code of settings that the free edition does not deploy: the text is right, so that it is the least of severities. */
const PRO = "config/pro";

const proHints = (text: string): Problem[] =>
  proKeysIn(text).map((key) => ({
    ...proProblem(key, "warning"),
    hint: "this is the free edition, which does not deploy it; tool team subscribe gets Pro",
  }));

/** Undefined if the user has switched the rule off. */
function toDiagnostic(
  document: ToolDocument,
  problem: Problem,
  { settings = DEFAULT_SETTINGS, documentation }: DiagnosticOptions,
): Diagnostic | undefined {
  const { code, message, hint, span, fix } = problem;
  const severity = severityOf(settings, code) ?? (code === PRO ? "hint" : problem.severity);
  if (severity === "off") return undefined;
  const related = relatedTo(document, problem);
  const data: DiagnosticData | undefined = fix && { fix: offeredFix(document, fix) };
  return {
    range: document.rangeOf(span),
    severity: SEVERITY[severity],
    code,
    ...(documentation !== undefined && {
      codeDescription: { href: documentation.replaceAll("{code}", encodeURIComponent(code)) },
    }),
    source: "tool",
    message: hint === undefined ? message : `${message}\n${hint}`,
    ...(code.startsWith("config/deprecated-") && { tags: [DEPRECATED] }),
    ...(related && { relatedInformation: [related] }),
    ...(data && { data }),
  };
}

function editsOf(document: ToolDocument, fix: Fix): TextEdit[] {
  return fix.edits.map(({ span, text }) => ({ range: document.rangeOf(span), newText: text }));
}

/** The place of the first of two duplicate keys; for an error page, the place of the mistake in its own text. */
function relatedTo(
  document: ToolDocument,
  { code, span, elsewhere }: Problem,
): DiagnosticRelatedInformation | undefined {
  const uri = elsewhere && uriOfPath(document.uri, elsewhere.path);
  if (elsewhere !== undefined && uri !== undefined) {
    const page = new ToolDocument({ uri, version: 0, text: elsewhere.text, kind: "template" });
    return { location: { uri, range: page.rangeOf(elsewhere.problem.span) }, message: elsewhere.problem.message };
  }
  if (code !== "config/duplicate-key") return undefined;
  const place = document.pathAt(span.start + 1);
  if (place?.member === undefined) return undefined;
  const parent = document.nodeAt(place.path.slice(0, -1)).node;
  const name = place.member.key.value;
  const first = parent?.type === "object" ? parent.members.find(({ key }) => key.value === name) : undefined;
  if (first === undefined || first === place.member) return undefined;
  return {
    location: { uri: document.uri, range: document.rangeOf(first.key.span) },
    message: `${quote(name)} is first written here`,
  };
}
