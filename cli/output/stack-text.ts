import type { DomainCertificate, StackChange, StackPlan, StackResource, StackStatus } from "../platform/stack.ts";

export interface TextOptions {
  readonly color: boolean;
  readonly columns: number;
  /** If not, lines are as long as they are: a file or the log of a build is read elsewhere. */
  readonly isTerminal?: boolean;
}

/** The sandbox that a stack is in. */
interface Here {
  readonly endpoint: string;
}

/** A stack's status, for people, in the region or in the sandbox. Without a newline at the end. */
export function renderStatus(status: StackStatus, options: TextOptions, sandbox?: Here): string {
  const { bold, dim } = painters(options);
  const blocks = [`${bold(status.name)} in ${placeOf(status, sandbox)}: ${wordsOf(status.state)}`];
  blocks.push(
    block("Stages", options, [
      ...table(
        status.stages.flatMap(({ stage, endpoint, isDeployed }): [string, string][] => [
          [stage, endpoint],
          ...(isDeployed ? [] : [["", dim(`waits for its first deploy: tool deploy ${stage}`)] as [string, string]]),
        ]),
        options,
      ),
    ]),
  );
  const waiting = status.certificates.filter(({ state }) => state !== "issued");
  blocks.push(
    block(
      "Certificates",
      options,
      waiting.flatMap((one) => certificateLines(one, options)),
    ),
  );
  blocks.push(...(sandbox === undefined ? dnsBlocks(status, options) : [domainsHere(status, options, sandbox)]));
  const groups = groupsOf(status.resources);
  const column = typeColumn(
    status.resources.map((one) => resourceRow(one)),
    options,
  );
  blocks.push(
    block(
      "Resources",
      options,
      groups.flatMap(([stage, resources]) => [
        ...(groups.length > 1 ? [`  ${dim(stage ?? "app")}`] : []),
        ...resources.map((one) => rowText(resourceRow(one), column, options)),
      ]),
    ),
  );
  if (status.isBehind) blocks.push("the stack does not match tool.json: tool stack plan shows the difference");
  return blocks.filter((text) => text !== "").join("\n\n");
}

function resourceRow({ about, type, state }: StackResource): Row {
  return { left: `    ${nameOf(about, type)}`, type, note: state.endsWith("_COMPLETE") ? "" : wordsOf(state) };
}

/** The DNS records that the owner of the domains has to enter elsewhere. */
function dnsBlocks({ stages, zones }: StackStatus, options: TextOptions): string[] {
  const { dim } = painters(options);
  const pointed = stages.filter(({ domain, target }) => {
    return domain !== undefined && target !== undefined && !zones.some(({ name }) => isIn(domain, name));
  });
  const records = table(
    pointed.map(({ domain, target }) => [domain!, `ALIAS or CNAME ${target}`]),
    options,
  );
  const servers = table(
    zones.map(({ name, nameservers }) => [name, nameservers.join(" ")]),
    options,
  );
  if (zones.some(({ isOurs }) => isOurs)) servers.push(dim("  enter them at the domain's registrar"));
  return [
    block("Records to create at the domain's DNS provider", options, records),
    block("Name servers", options, servers),
  ];
}

/** In the sandbox nothing but a Host header leads to a domain. Lines are whole, to be copied. */
function domainsHere({ resources }: StackStatus, options: TextOptions, { endpoint }: Here): string {
  const paths = resources.filter(({ type }) => type === PATH_TYPE);
  const lines = paths.map(({ about }) => {
    const [, host, path] = /^([^/]*)(.*)$/.exec(about)!;
    return `  curl -H 'Host: ${host}' ${endpoint}${path}`;
  });
  return block("Domains", options, lines);
}

/** Says that a stack has no changes; `isAll` unless those of the log service follow. */
export const unchangedText = (isAll: boolean) =>
  isAll ? "nothing to do: the stack matches tool.json" : "no changes to the stack";

/** The changes that `apply` would make, for people. */
export function renderPlan(plan: StackPlan, options: TextOptions, sandbox?: Here, isAll = true): string {
  const { bold, dim, green, yellow, red } = painters(options);
  const waiting = plan.certificates.flatMap((one) => certificateLines(one, options));
  const certificates = block("Domains that are left out until their certificate is issued", options, waiting);
  if (plan.changes.length === 0) {
    return [certificates, unchangedText(isAll)].filter((text) => text !== "").join("\n\n");
  }
  const title = plan.isNew
    ? `${bold(plan.name)} in ${placeOf(plan, sandbox)} has no stack yet; these would be created`
    : `Changes to ${bold(plan.name)} in ${placeOf(plan, sandbox)}`;
  const column = typeColumn(
    plan.changes.map((change) => changeRow(change)),
    options,
  );
  const groups = groupsOf(plan.changes).map(([stage, changes]) =>
    block(
      stage ?? "app",
      options,
      changes.flatMap((change) => changeLines(change)),
    ),
  );
  return [title, ...groups, certificates, summary(plan.changes)].filter((text) => text !== "").join("\n\n");

  function changeRow({ action, about, type, replaced, isKept }: StackChange): Row {
    const mark =
      action === "add" ? green("+") : action === "remove" ? red("-") : replaced === "no" ? yellow("~") : red("!");
    const note =
      replaced === "yes"
        ? "REPLACED"
        : replaced === "possibly"
          ? "may be REPLACED"
          : isKept
            ? "kept in the account"
            : action === "remove"
              ? "REMOVED"
              : "";
    return {
      left: `  ${mark} ${nameOf(about, type)}`,
      type,
      note: note === "" || replaced === "no" ? note : red(note),
    };
  }

  function changeLines(change: StackChange): string[] {
    const values = change.properties.map(({ path, before, after }) => {
      if (before === undefined && after === undefined) return `      ${path} ${dim("follows from another change")}`;
      return clip(`      ${path}: ${before ?? dim("none")} -> ${after ?? dim("none")}`, roomOf(options));
    });
    return [rowText(changeRow(change), column, options), ...values];
  }
}

function summary(changes: readonly StackChange[]): string {
  const count = (matches: (change: StackChange) => boolean, text: string) => {
    const amount = changes.filter(matches).length;
    return amount === 0 ? [] : [`${amount} ${text}`];
  };
  return [
    ...count(({ action }) => action === "add", "to add"),
    ...count(({ action, replaced }) => action === "change" && replaced === "no", "to change"),
    ...count(({ replaced }) => replaced === "yes", "to REPLACE"),
    ...count(({ replaced }) => replaced === "possibly", "that may be REPLACED"),
    ...count(({ action, isKept }) => action === "remove" && !isKept, "to remove"),
    ...count(({ isKept }) => isKept, "to keep in the account"),
  ].join(", ");
}

/** A domain whose certificate is not issued yet: its state, and what its owner has to do. */
function certificateLines({ domain, state, reason, validation }: DomainCertificate, options: TextOptions): string[] {
  const { bold } = painters(options);
  const head = (text: string) => `  ${bold(domain)}: ${text}`;
  if (state === "missing") return [head("tool stack apply requests it")];
  if (state === "failed")
    return [head(`failed${reason === undefined ? "" : ` (${reason})`}; tool stack apply requests another`)];
  if (validation?.by === "record") {
    return validation.isMade
      ? [
          head("pending; the validation record is in the domain's zone"),
          "    it is issued within minutes if the domain's registrar has the zone's name servers",
        ]
      : [
          head("pending; create this record at the domain's DNS provider"),
          `    ${validation.name} CNAME ${validation.value}`,
        ];
  }
  return [
    head("pending; follow the link in the mail to one of"),
    ...wrap((validation?.addresses ?? []).join(", "), options.columns - 4).map((line) => `    ${line}`),
  ];
}

/** A resource, its type and a note at the end. */
interface Row {
  readonly left: string;
  readonly type: string;
  readonly note: string;
}

/** Where the types of a block begin: the column at which most of them have room. Undefined on a narrow terminal. */
function typeColumn(rows: readonly Row[], { columns }: TextOptions): number | undefined {
  if (columns < 70) return undefined;
  const starts = [...new Set(rows.map(({ left }) => visible(left) + 2))].sort((a, b) => a - b);
  const countFitting = (column: number) => rows.filter((row) => hasRoom(row, column, columns)).length;
  return starts.reduce((best, column) => (countFitting(column) > countFitting(best) ? column : best), starts[0] ?? 0);
}

function hasRoom({ left, type, note }: Row, column: number, columns: number): boolean {
  const end = column + visible(type) + (note === "" ? 0 : 2 + visible(note));
  return visible(left) + 2 <= column && end <= columns;
}

/** Without the type if it has no room. */
function rowText(row: Row, column: number | undefined, options: TextOptions): string {
  const { left, type, note } = row;
  const { dim } = painters(options);
  const isTyped = column !== undefined && hasRoom(row, column, options.columns);
  const typed = isTyped ? `${left}${" ".repeat(column - visible(left))}${dim(type)}` : left;
  return note === "" ? typed : `${typed}  ${note}`;
}

const PATH_TYPE = "AWS::ApiGateway::BasePathMapping";

/** The path of a domain is known by its address alone. */
const nameOf = (about: string, type: string) => (type === PATH_TYPE ? `path ${about}` : about);

const placeOf = ({ region }: { readonly region: string }, sandbox: Here | undefined) =>
  sandbox === undefined ? region : "the sandbox";

function block(title: string, options: TextOptions, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [painters(options).bold(title), ...lines].join("\n");
}

/** Two columns, the second wrapped under itself. */
function table(rows: readonly (readonly [string, string])[], { columns }: TextOptions): string[] {
  const left = Math.max(0, ...rows.map(([name]) => name.length)) + 4;
  return rows.flatMap(([name, text]) =>
    wrap(text, columns - left).map((line, i) => (i === 0 ? `  ${name}`.padEnd(left) : " ".repeat(left)) + line),
  );
}

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1)!;
    if (line !== "" && visible(line) + 1 + visible(word) > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

/** Columns that a value may take. */
export const roomOf = ({ columns, isTerminal = true }: TextOptions) =>
  isTerminal ? columns : Number.POSITIVE_INFINITY;

function clip(line: string, columns: number): string {
  return visible(line) <= columns ? line : `${line.slice(0, columns - 1)}…`;
}

function groupsOf<T extends { readonly stage: string | undefined }>(items: readonly T[]): [string | undefined, T[]][] {
  const stages = [undefined, ...new Set(items.flatMap(({ stage }) => stage ?? []))];
  const groups = stages.map((stage): [string | undefined, T[]] => [
    stage,
    items.filter((item) => item.stage === stage),
  ]);
  return groups.filter(([, members]) => members.length > 0);
}

const isIn = (domain: string, zone: string) => domain === zone || domain.endsWith(`.${zone}`);

/** `UPDATE_ROLLBACK_COMPLETE` -> `update rollback complete` */
const wordsOf = (state: string) => state.toLowerCase().replaceAll("_", " ");

const visible = (text: string) => text.replace(/\u001b\[\d+m/g, "").length;

export function painters({ color }: TextOptions) {
  const paint = (code: number) => (text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33) };
}

/** `changed: retention of the log, for ever -> 30 days` */
export function retentionLines(changes: readonly StackChange[]): string[] {
  const daysOf = (value: string | undefined) => (value === undefined ? "for ever" : `${value} days`);
  return changes
    .filter(({ about }) => about === "retention of the log")
    .flatMap(({ about, properties }) =>
      properties.map(({ before, after }) => `changed: ${about}, ${daysOf(before)} -> ${daysOf(after)}`),
    );
}

/** After `stack rotate-logs-token`: what uses the new token of a stage, and what becomes of the versions that have the old one. */
export function rotationText(stage: string, versions: readonly string[], isEnded: boolean): string {
  const made = `${stage} has a new token`;
  const all = versions.join(", ");
  if (versions.length === 0) return `${made}: the next deploy uses it`;
  if (!isEnded) {
    return `${made}: tool deploy ${stage} uses it; the old one ends when no version has it that can be rolled back to (now ${all})`;
  }
  const some = versions.length === 1 ? `version ${all} sends` : `versions ${all} send`;
  return `${made}; ${some} nothing any more: tool deploy ${stage} uses the new one`;
}
