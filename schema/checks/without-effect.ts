import { type Fix, quote } from "../../grammar/problem.ts";
import type { Location } from "../../grammar/route/index.ts";
import { withDefaults } from "../defaults.ts";
import { removal } from "../edits.ts";
import { memberOf, type Node, type ObjectNode, plainValue, type StringNode } from "../json.ts";
import type { Meanings } from "../languages.ts";
import type { ProblemReport } from "../report.ts";

/** Settings that are right one by one, and of which one hides another or does more than anybody wants. */
export function checkEffects(report: ProblemReport, root: ObjectNode, { locations }: Pick<Meanings, "locations">) {
  checkCommandOfSite(report, root);
  checkWarming(report, root);
  checkOwnDomain(report, root, locations);
  const functions = [root, ...stagesOf(root)].map((owner) => memberOf(owner, "function")?.value);
  for (const settings of functions) checkWholeAccount(report, memberOf(settings, "policy")?.value);
}

const stagesOf = (root: ObjectNode): readonly Node[] => {
  const stages = memberOf(root, "stages")?.value;
  return stages?.type === "object" ? stages.members.flatMap(({ value }) => value ?? []) : [];
};

/** A static site starts no program, so that a command of its proxy hides nothing and does nothing. */
function checkCommandOfSite(report: ProblemReport, root: ObjectNode): void {
  const type = memberOf(root, "type");
  if (type?.value?.type !== "string" || type.value.value !== "static") return;
  for (const owner of [root, ...stagesOf(root)]) {
    const proxy = memberOf(owner, "proxy")?.value;
    const command = memberOf(proxy, "command");
    if (proxy?.type !== "object" || command?.value?.type !== "string" || command.value.value === "") continue;
    report.warning("config/unused-command", command.key.span, `"type": "static" serves files and starts no command`, {
      hint: `write "type": "server" for an app that is started; it serves the files of "static", too`,
      fixes: [report.suggest(type.value, "server"), removal(proxy, command)],
    });
  }
}

/** `"warm": false` beside a number of containers to keep warm. */
function checkWarming(report: ProblemReport, root: ObjectNode): void {
  const ofStages = stagesOf(root).map((stage) => memberOf(stage, "function")?.value);
  const isWarm = (settings: Node | undefined, is: boolean) => {
    const warm = memberOf(settings, "warm")?.value;
    return warm?.type === "boolean" && warm.value === is;
  };
  const own = memberOf(root, "function")?.value;
  // A stage that is warm takes what is written for all.
  const others = ofStages.some((settings) => isWarm(settings, true)) ? [] : [own];
  for (const settings of [...others, ...ofStages]) {
    if (settings?.type !== "object" || !isWarm(settings, false)) continue;
    const unused = memberOf(settings, "warm_count");
    // `tool config` prints the default.
    const usual = withDefaults({ name: "app" }, { env: {} }).function.warm_count;
    if (unused?.value === undefined || plainValue(unused.value) === usual) continue;
    const warm = memberOf(settings, "warm")!;
    report.warning("config/unused-warming", unused.key.span, `"warm_count" does nothing: "warm" is false`, {
      hint: `write "warm": true to keep containers warm, or remove "warm_count"`,
      fixes: [
        { title: 'Change "warm" to true', edits: [{ span: warm.value!.span, text: "true" }], isSuggestion: true },
        removal(settings, unused),
      ],
    });
  }
}

/** A rule to a domain of the app: with it all stages send their visitors to one, which may be the same again. */
function checkOwnDomain(report: ProblemReport, root: ObjectNode, locations: ReadonlyMap<StringNode, Location>): void {
  const redirects = memberOf(root, "redirects")?.value;
  const stages = memberOf(root, "stages")?.value;
  if (redirects?.type !== "object" || stages?.type !== "object") return;
  const domains = new Map<string, string>();
  for (const { key, value } of stages.members) {
    const domain = memberOf(value, "domain")?.value;
    if (domain?.type === "string" && domain.value !== "") domains.set(domain.value.toLowerCase(), key.value);
  }
  for (const rule of redirects.members) {
    const node = memberOf(rule.value, "location")?.value;
    const location = node?.type === "string" ? locations.get(node) : undefined;
    const host = /^https?:\/\/([^/:]+)/.exec(location?.origin ?? "")?.[1];
    const stage = host === undefined ? undefined : domains.get(host);
    if (stage === undefined) continue;
    const string = node as StringNode;
    const path = string.value.slice(location!.origin.length) || "/";
    const fixes: (Fix | undefined)[] = [
      report.suggest(string, path.startsWith("/") ? path : `/${path}`),
      removal(redirects, rule),
    ];
    report.warning(
      "config/own-domain",
      string.span,
      `${quote(host!)} is the domain of this app's stage ${quote(stage)}`,
      {
        hint: "a path alone stays on the stage that was asked",
        fixes,
      },
    );
  }
}

/** `*` on `*`: a function that may do everything in its account. */
function checkWholeAccount(report: ProblemReport, policy: Node | undefined): void {
  if (policy?.type !== "array") return;
  for (const statement of policy.items) {
    const effect = memberOf(statement, "Effect")?.value;
    const [actions, resources] = ["Action", "Resource"].map((name) => starIn(memberOf(statement, name)?.value));
    if (actions === undefined || resources === undefined) continue;
    if (effect?.type === "string" && effect.value !== "Allow") continue;
    if (memberOf(statement, "Condition") !== undefined) continue;
    report.warning(
      "config/whole-account",
      actions.span,
      `the function may do everything with everything in its account`,
      {
        hint: "list the actions that it needs, such as s3:GetObject",
        fix: report.suggest(actions, "s3:GetObject"),
      },
    );
  }
}

function starIn(node: Node | undefined): StringNode | undefined {
  const items = node?.type === "array" ? node.items : node === undefined ? [] : [node];
  return items.find((item): item is StringNode => item.type === "string" && item.value === "*");
}
