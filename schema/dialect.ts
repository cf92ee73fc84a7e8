import { applyEdits, type Problem, type Span, type TextEdit } from "../grammar/problem.ts";
import { injections } from "./checks/inject.ts";
import { DEFAULT_TIMEOUTS, functionTimeout } from "./defaults.ts";
import {
  copyOf,
  type Member,
  memberOf,
  type Node,
  type ObjectNode,
  parseJson,
  removeMembers,
  withValue,
} from "./json.ts";
import type { ProblemReport } from "./report.ts";

// Names in older files, and today's names for the same.
const INJECT_TYPES: Readonly<Record<string, string>> = { segment: "tracker", "google analytics": "analytics" };
const DROPPED: Readonly<Record<string, string>> = {
  runtime: "the runtime follows from the project's marker file",
  endpoint: "the address follows from the stage and its domain",
  timeout: "the function's timeout follows from proxy.timeout and proxy.listen_timeout",
};

/** One use of the older dialect. */
interface Use {
  readonly code: string;
  readonly span: Span;
  readonly message: string;
  readonly hint: string;
  /** The change that the migration made, in a sentence; undefined if it cannot make it. */
  readonly note: string | undefined;
  /** Edits of keys and values that stay. */
  readonly replace: readonly TextEdit[];
  /** The member that is removed. */
  readonly remove?: { readonly object: ObjectNode; readonly member: Member };
  /** Puts the tree into today's form. */
  settle(): void;
}

/**
 * Reports every use of the older dialect with its fix. Returns the tree for the checks after it: a copy in today's form,
 * or `written` itself if nothing in it is of the older dialect.
 */
export function checkDialect(report: ProblemReport, written: ObjectNode): ObjectNode {
  if (findUses(report.source, written).length === 0 && derivedTimeout(written) === undefined) return written;
  const root = copyOf(written);
  const derived = derivedTimeout(root);
  const uses = findUses(report.source, root);
  for (const use of uses) {
    const edits = [
      ...use.replace,
      ...(use.remove ? removeMembers(use.remove.object, new Set([use.remove.member])) : []),
    ];
    const problem: Problem = {
      code: use.code,
      severity: "error",
      message: use.message,
      hint: use.note === undefined ? use.hint : `${use.hint} (\`tool validate --fix\` does)`,
      span: use.span,
      ...(use.note !== undefined && { fix: { title: use.hint, edits } }),
    };
    report.add(problem);
  }
  for (const use of uses) use.settle();
  if (derived !== undefined) derived.object.members.splice(derived.object.members.indexOf(derived.member), 1);
  return root;
}

/**
 * The text in today's form, and each change as a sentence. Text outside the edits stays as it is,
 * formatting included; a text that holds nothing of the older dialect, or no object, is given back unchanged.
 */
export function migrateUses(text: string): { edits: TextEdit[]; notes: string[] } {
  const { root } = parseJson(text);
  if (root?.type !== "object") return { edits: [], notes: [] };
  const uses = findUses(text, root).filter(({ note }) => note !== undefined);
  const removals = new Map<ObjectNode, Set<Member>>();
  for (const { remove } of uses) {
    if (remove === undefined) continue;
    const members = removals.get(remove.object) ?? new Set();
    removals.set(remove.object, members.add(remove.member));
  }
  const gone = [...removals].flatMap(([object, members]) => removeMembers(object, members));
  const kept = uses.flatMap(({ replace }) => replace);
  // Edits inside of something removed go with it.
  const edits = [...gone, ...kept].filter(
    (edit) =>
      !gone.some(
        (other) =>
          other !== edit &&
          other.span.start <= edit.span.start &&
          edit.span.end <= other.span.end &&
          other.span.end - other.span.start > edit.span.end - edit.span.start &&
          edit.span.end > edit.span.start,
      ),
  );
  return { edits, notes: [...new Set(uses.map(({ note }) => note!))] };
}

/** `function.timeout` as `tool config` prints it: what follows from the proxy's says nothing else. */
function derivedTimeout(root: ObjectNode): { readonly object: ObjectNode; readonly member: Member } | undefined {
  const object = memberOf(root, "function")?.value;
  const member = memberOf(object, "timeout");
  if (object?.type !== "object" || member?.value?.type !== "number") return undefined;
  const proxy = memberOf(root, "proxy")?.value;
  const secondsOf = (name: keyof typeof DEFAULT_TIMEOUTS) => {
    const written = memberOf(proxy, name)?.value;
    return written === undefined ? DEFAULT_TIMEOUTS[name] : written.type === "number" ? written.value : undefined;
  };
  const timeout = secondsOf("timeout");
  const listen_timeout = secondsOf("listen_timeout");
  // A problem of the proxy's timeouts is reported there.
  const isKnown = timeout !== undefined && listen_timeout !== undefined && (proxy?.type ?? "object") === "object";
  if (!isKnown) return { object, member };
  const derived = functionTimeout({ timeout, listen_timeout });
  return member.value.value === derived ? { object, member } : undefined;
}

function findUses(source: string, root: ObjectNode): Use[] {
  const derived = derivedTimeout(root)?.member;
  const uses: Use[] = functionUses(source, root, "").filter(
    ({ remove }) => derived === undefined || remove?.member !== derived,
  );
  const stages = memberOf(root, "stages")?.value;
  if (stages?.type === "object") {
    for (const { key, value } of stages.members) {
      if (value?.type === "object") uses.push(...functionUses(source, value, `stages.${key.value}.`));
    }
  }
  for (const section of ["logs", "error_pages"]) {
    const object = memberOf(root, section)?.value;
    if (object?.type === "object") uses.push(...enableUses(object, section));
  }
  for (const item of injections(memberOf(root, "inject")?.value)) uses.push(...injectUses(item));
  return uses.sort((a, b) => a.span.start - b.span.start);
}

/** `lambda`, and what of it (or of `function`) is not a setting any more. `prefix` says whose it is, for the notes. */
function functionUses(source: string, owner: ObjectNode, prefix: string): Use[] {
  const uses: Use[] = [];
  for (const member of owner.members) {
    const name = member.key.value;
    if (name !== "lambda" && name !== "function") continue;
    const dropped = droppedUses(member.value, `${prefix}${name}`);
    if (name === "lambda") {
      const counts = memberOf(owner, "lambda") === member;
      const duplicate = () => duplicateUse({ ...LAMBDA, span: member.key.span }, owner, member, `${prefix}lambda`);
      uses.push(counts ? lambdaUse(source, owner, member, prefix) : duplicate());
    }
    uses.push(...dropped);
  }
  return uses;
}

function droppedUses(settings: Node | undefined, path: string): Use[] {
  if (settings?.type !== "object") return [];
  const dropped = settings.members.filter(({ key }) => Object.hasOwn(DROPPED, key.value));
  return dropped.map((member) => ({
    code: `config/deprecated-${member.key.value}`,
    span: member.key.span,
    message: `"${member.key.value}" is no longer a setting of the function`,
    hint: `remove it: ${DROPPED[member.key.value]}`,
    note: `dropped "${path}.${member.key.value}": ${DROPPED[member.key.value]}`,
    replace: [],
    remove: { object: settings, member },
    settle: () => void settings.members.splice(settings.members.indexOf(member), 1),
  }));
}

/** An older key that the same one follows, which is the one that counts. */
function duplicateUse(
  use: Pick<Use, "code" | "span" | "message">,
  object: ObjectNode,
  member: Member,
  path: string,
): Use {
  return {
    ...use,
    hint: "remove it: the second one takes effect",
    note: `removed the first "${path}": the last one takes effect`,
    replace: [],
    remove: { object, member },
    settle: () => void object.members.splice(object.members.indexOf(member), 1),
  };
}

const LAMBDA = { code: "config/deprecated-lambda", message: `"lambda" is called "function" now` };
const ENABLE = {
  code: "config/deprecated-enable",
  message: `"enable" is called "disable" now, with the opposite value`,
};

function lambdaUse(source: string, owner: ObjectNode, member: Member, prefix: string): Use {
  const base = { ...LAMBDA, span: member.key.span, hint: `write "function"` };
  const today = memberOf(owner, "function")?.value;
  const settings = member.value;
  const kept =
    settings?.type === "object" ? settings.members.filter(({ key }) => !Object.hasOwn(DROPPED, key.value)) : [];
  if (settings?.type === "object" && settings.members.length > 0 && kept.length === 0) {
    return {
      ...base,
      hint: "remove it: none of its members is still a setting",
      note: `removed "${prefix}lambda": none of its members is still a setting`,
      replace: [],
      remove: { object: owner, member },
      settle: () => void owner.members.splice(owner.members.indexOf(member), 1),
    };
  }
  if (today === undefined) {
    return {
      ...base,
      note: `renamed "${prefix}lambda" to "function"`,
      replace: [{ span: member.key.span, text: '"function"' }],
      settle: () => {
        member.key = withValue(member.key, "function");
      },
    };
  }
  if (today.type !== "object" || settings?.type !== "object") {
    return {
      ...base,
      hint: `"function" is there already: remove one of them`,
      note: undefined,
      replace: [],
      settle: () => drop(),
    };
  }
  const moved = kept.filter(({ key }) => memberOf(today, key.value) === undefined);
  return {
    ...base,
    hint: `"function" is there already: move the settings of "lambda" into it`,
    note: mergeNote(prefix, moved, kept),
    replace: moved.length === 0 ? [] : [insertion(source, today, moved)],
    remove: { object: owner, member },
    settle: () => {
      drop();
      today.members.push(...moved);
    },
  };

  function drop() {
    owner.members.splice(owner.members.indexOf(member), 1);
  }
}

function mergeNote(prefix: string, moved: readonly Member[], kept: readonly Member[]): string {
  const names = (members: readonly Member[]) => members.map(({ key }) => `"${key.value}"`).join(", ");
  const there = kept.filter((member) => !moved.includes(member));
  const parts = [
    ...(moved.length > 0 ? [`moved ${names(moved)} of "${prefix}lambda" into "function"`] : []),
    ...(there.length > 0 ? [`dropped ${names(there)} of "${prefix}lambda": "function" has it`] : []),
  ];
  return parts.length > 0 ? parts.join("; ") : `removed "${prefix}lambda": "function" is there already`;
}

/** The edit that writes members after the last one that an object keeps, with the blanks between its own. */
function insertion(source: string, object: ObjectNode, members: readonly Member[]): TextEdit {
  const texts = members.map(({ key, value }) => source.slice(key.span.start, (value ?? key).span.end));
  const stays = object.members.filter(({ key }) => !Object.hasOwn(DROPPED, key.value));
  const last = stays.at(-1);
  if (last === undefined) {
    // Before a first member that is itself dropped, or into empty braces.
    const at = object.span.start + 1;
    return { span: { start: at, end: at }, text: texts.join(", ") };
  }
  const blank = source.slice(object.span.start + 1, object.members[0]!.key.span.start);
  const end = (last.value ?? last.key).span.end;
  return { span: { start: end, end }, text: texts.map((text) => `,${blank || " "}${text}`).join("") };
}

/** `enable` of logs and error pages, today `disable` with the opposite value. */
function enableUses(object: ObjectNode, section: string): Use[] {
  const members = object.members.filter(({ key }) => key.value === "enable");
  return members.map((member, i) => {
    const base = { ...ENABLE, span: member.key.span };
    if (i < members.length - 1) return duplicateUse(base, object, member, `${section}.enable`);
    return enableUse(base, object, member, section);
  });
}

function enableUse(
  base: Pick<Use, "code" | "span" | "message">,
  object: ObjectNode,
  member: Member,
  section: string,
): Use {
  const drop = () => void object.members.splice(object.members.indexOf(member), 1);
  if (memberOf(object, "disable") !== undefined) {
    const note = `dropped "${section}.enable": "disable" is there already`;
    return {
      ...base,
      hint: `remove it: "disable" is there already`,
      note,
      replace: [],
      remove: { object, member },
      settle: drop,
    };
  }
  const { value } = member;
  if (value?.type !== "boolean") {
    return { ...base, hint: `write "disable": true or "disable": false`, note: undefined, replace: [], settle: drop };
  }
  const opposite = { ...value, value: !value.value };
  return {
    ...base,
    hint: `write "disable": ${opposite.value}`,
    note: `replaced "${section}.enable": ${value.value} with "disable": ${opposite.value}`,
    replace: [
      { span: member.key.span, text: '"disable"' },
      { span: value.span, text: String(opposite.value) },
    ],
    settle: () => {
      member.key = withValue(member.key, "disable");
      member.value = opposite;
    },
  };
}

function injectUses(item: ObjectNode): Use[] {
  const member = memberOf(item, "type");
  const type = member?.value;
  if (type?.type !== "string" || !Object.hasOwn(INJECT_TYPES, type.value)) return [];
  const today = INJECT_TYPES[type.value]!;
  return [
    {
      code: "config/deprecated-inject-type",
      span: type.span,
      message: `the type "${type.value}" is called "${today}" now`,
      hint: `write "${today}"`,
      note: `replaced the inject type "${type.value}" with "${today}"`,
      replace: [{ span: type.span, text: `"${today}"` }],
      settle: () => {
        member!.value = withValue(type, today);
      },
    },
  ];
}

/**
 * Rewrites the older dialect of tool.json (`lambda`, `enable`, older inject types) as today's. `notes` says each change
 * in a sentence; without any, `text` is the text given. What is not edited stays byte for byte, formatting included.
 */
export function migrateConfig(text: string): { text: string; notes: string[] } {
  const { edits, notes } = migrateUses(text);
  return { text: applyEdits(text, edits), notes };
}
