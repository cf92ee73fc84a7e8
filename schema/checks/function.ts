import { type Fix, quote } from "../../grammar/problem.ts";
import { defaultRole } from "../defaults.ts";
import { addition, removal, removeItem } from "../edits.ts";
import { type ArrayNode, memberOf, type Node, type StringNode } from "../json.ts";
import type { Meanings } from "../languages.ts";
import { REGIONS, SEPARATE_REGIONS } from "../regions.ts";
import type { ProblemReport } from "../report.ts";
import { checkMinutes } from "./alerts.ts";

/** Facts about the app that the checks of its function settings need. */
export interface FunctionContext {
  readonly meanings: Meanings;
  /** `name` and `regions` of the file. */
  readonly name: Node | undefined;
  readonly regions: Node | undefined;
}

/** Function settings, of the app or of one stage. */
export function checkFunction(report: ProblemReport, settings: Node | undefined, context: FunctionContext) {
  checkMinutes(report, memberOf(settings, "warm_rate")?.value, context.meanings, "warm_rate");
  checkRole(report, memberOf(settings, "role")?.value, context);
  checkLayers(report, memberOf(settings, "layers")?.value, context.regions);
  const vpc = memberOf(settings, "vpc")?.value;
  checkIds(report, memberOf(vpc, "subnets")?.value, SUBNETS);
  checkIds(report, memberOf(vpc, "security_groups")?.value, SECURITY_GROUPS);
  checkPolicy(report, memberOf(settings, "policy")?.value);
}

/** ARN of a role, as the function platform takes it ("CreateFunction", Role). */
const ROLE = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/;

function checkRole(report: ProblemReport, role: Node | undefined, { name, regions }: FunctionContext) {
  if (role?.type !== "string" || role.value === "" || ROLE.test(role.value)) return;
  // The role that deploying makes, as `tool config` prints it.
  const written =
    regions?.type === "array" ? regions.items.flatMap((one) => (one.type === "string" ? one.value : [])) : [];
  const all = [...REGIONS, ...SEPARATE_REGIONS, ...written];
  if (name?.type === "string" && all.some((region) => role.value === defaultRole(name.value, region))) return;
  report.error("config/role", role.span, `${quote(role.value)} is not the ARN of a role`, {
    hint: `write it as arn:aws:iam::123456789012:role/${/^[\w+=,.@-]{1,64}$/.test(role.value) ? role.value : "app"}, or leave it out for the tool's own`,
    fixes: roleFixes(report, role),
  });
}

/** The ARN that a text is a part of, with an example's account where it has none. */
function roleFixes(report: ProblemReport, role: StringNode): (Fix | undefined)[] {
  const plain = role.value.trim();
  const whole = plain.replace(/^(?:arn:)?(?=aws[a-z-]*:)/, "arn:");
  if (ROLE.test(whole)) return [report.replace(role, whole)];
  const name = /([\w+=,.@-]+)$/.exec(plain.replace(/^.*:\d{12}$/, ""))?.[1] ?? "app";
  const account = /\d{12}/.exec(plain)?.[0] ?? "123456789012";
  return [report.suggest(role, `arn:aws:iam::${account}:role/${name}`)];
}

const LAYER = /^arn:aws[a-z-]*:lambda:([a-z0-9-]+):\d{12}:layer:[\w-]{1,140}:\d+$/;
/** Lambda quotas, "Function layers". */
const MAX_LAYERS = 5;

function checkLayers(report: ProblemReport, layers: Node | undefined, regions: Node | undefined) {
  if (layers?.type !== "array") return;
  const region = regions?.type === "array" && regions.items.length === 1 ? regions.items[0] : undefined;
  for (const [i, layer] of layers.items.entries()) {
    if (layer.type !== "string" || layer.value === "") continue;
    const [, layerRegion] = LAYER.exec(layer.value) ?? [];
    if (layerRegion === undefined) {
      const isWithoutVersion = LAYER.test(`${layer.value}:1`);
      report.error(
        "config/layer",
        layer.span,
        isWithoutVersion
          ? `${quote(layer.value)} names no version of the layer`
          : `${quote(layer.value)} is not the ARN of a layer's version`,
        {
          hint: isWithoutVersion
            ? `add one, such as ${layer.value}:1`
            : "write one such as arn:aws:lambda:us-west-2:123456789012:layer:fonts:3",
          fixes: [...layerFixes(report, layer, region), withoutItem(layers, layer)],
        },
      );
    } else if (region?.type === "string" && REGIONS.includes(region.value) && layerRegion !== region.value) {
      report.error("config/layer", layer.span, `the layer is in ${layerRegion}, and the app in ${region.value}`, {
        hint: "a function takes layers of its own region only",
        fixes: [
          report.suggest(layer, layer.value.replace(`:${layerRegion}:`, `:${region.value}:`)),
          withoutItem(layers, layer),
        ],
      });
    }
    if (i === MAX_LAYERS) {
      report.error("config/layer", layer.span, `a function takes at most ${MAX_LAYERS} layers`, {
        hint: "remove those that are not needed; Python and Java use one more for the runtime",
        fix: withoutItem(layers, layer),
      });
    }
  }
}

/** The ARN that a text is a part of, with an example's account, region and version where it has none. */
function layerFixes(report: ProblemReport, layer: StringNode, region: Node | undefined): (Fix | undefined)[] {
  const plain = layer.value.trim();
  const whole = plain.replace(/^(?:arn:)?(?=aws[a-z-]*:)/, "arn:");
  if (LAYER.test(whole)) return [report.replace(layer, whole)];
  if (LAYER.test(`${whole}:1`)) return [report.suggest(layer, `${whole}:1`)];
  const [, name = "fonts", version = "1"] = /(?:^|layer:)([\w-]{1,140})(?::(\d+))?$/.exec(plain) ?? [];
  const place = region?.type === "string" && REGIONS.includes(region.value) ? region.value : "us-west-2";
  return [report.suggest(layer, `arn:aws:lambda:${place}:123456789012:layer:${name}:${version}`)];
}

interface Ids {
  readonly code: string;
  readonly pattern: RegExp;
  readonly what: string;
  readonly example: string;
  /** Lambda's limits for a function's network. */
  readonly max: number;
}

/** Identifiers have 8 or 17 hexadecimal digits. */
const SUBNETS: Ids = {
  code: "config/subnet",
  pattern: /^subnet-([0-9a-f]{8}|[0-9a-f]{17})$/,
  what: "subnet",
  example: "subnet-0123456789abcdef0",
  max: 16,
};
const SECURITY_GROUPS: Ids = {
  code: "config/security-group",
  pattern: /^sg-([0-9a-f]{8}|[0-9a-f]{17})$/,
  what: "security group",
  example: "sg-0123456789abcdef0",
  max: 5,
};

function checkIds(report: ProblemReport, list: Node | undefined, { code, pattern, what, example, max }: Ids) {
  if (list?.type !== "array") return;
  const seen = new Set<string>();
  for (const [i, item] of list.items.entries()) {
    if (item.type !== "string" || item.value === "") continue;
    if (!pattern.test(item.value)) {
      report.error(code, item.span, `${quote(item.value)} is not the identifier of a ${what}`, {
        hint: `write one such as ${example}: 8 or 17 digits of 0-9 and a-f`,
        fixes: [...idFixes(report, item, { pattern, example }), withoutItem(list, item)],
      });
    } else if (seen.has(item.value)) {
      report.error(code, item.span, `the ${what} ${quote(item.value)} is listed twice`, {
        hint: "remove one of them",
        fix: { title: "Remove this one, which is the same", edits: [removeItem(list, item)] },
      });
    }
    seen.add(item.value);
    if (i === max) {
      report.error(code, item.span, `a function takes at most ${max} ${what}s`, {
        hint: "remove those that are not needed",
        fix: withoutItem(list, item),
      });
    }
  }
}

/** The identifier without blanks, in the form that it has, or the example. */
function idFixes(
  report: ProblemReport,
  node: StringNode,
  { pattern, example }: Pick<Ids, "pattern" | "example">,
): Fix[] {
  const prefix = example.slice(0, example.indexOf("-") + 1);
  const digits = node.value
    .toLowerCase()
    .replace(/\s/g, "")
    .replace(/^[a-z_]*(?:subnet|sg|group|id)[-_:]?/, "");
  const plain = prefix + digits;
  if (pattern.test(plain)) return [report.replace(node, plain)];
  const suggestion = report.suggest(node, example);
  return suggestion === undefined ? [] : [suggestion];
}

function withoutItem(list: ArrayNode, item: StringNode): Fix {
  return { title: `Remove ${quote(item.value)}`, edits: [removeItem(list, item)], isSuggestion: true };
}

function checkPolicy(report: ProblemReport, policy: Node | undefined) {
  if (policy?.type !== "array") return;
  for (const [i, statement] of policy.items.entries()) {
    if (statement.type !== "object") continue;
    for (const name of ["Action", "Resource"]) {
      const not = memberOf(statement, `Not${name}`);
      const plain = memberOf(statement, name);
      if (plain === undefined && not === undefined) {
        report.error(
          "config/missing-key",
          { start: statement.span.start, end: statement.span.start + 1 },
          `"${name}" is missing in item ${i + 1} of "policy"`,
          {
            hint: name === "Action" ? `add "Action": ["s3:GetObject"]` : `add "Resource": "*"`,
            fix:
              name === "Action"
                ? addition(report.source, statement, {
                    name: "Action",
                    value: '["s3:GetObject"]',
                    order: ["Action", "Resource", "NotResource"],
                  })
                : addition(report.source, statement, {
                    name: "Resource",
                    value: '"*"',
                    order: ["Resource", "Condition"],
                  }),
          },
        );
      } else if (plain !== undefined && not !== undefined) {
        report.error("config/policy", not.key.span, `"${name}" and "Not${name}" exclude each other`, {
          hint: "remove one of them",
          fixes: [removal(statement, not), removal(statement, plain)],
        });
      }
      for (const member of [plain, not]) {
        const list = member?.value;
        for (const item of list?.type === "array" ? list.items : list === undefined ? [] : [list]) {
          if (item.type !== "string" || item.value === "") continue;
          if (name === "Action") checkAction(report, item);
          else checkResource(report, item);
        }
      }
    }
  }
}

/** `service:action`, both of letters, digits and wildcards (IAM reference, "Action"). */
const ACTION = /^(\*|[a-zA-Z0-9-]+:[a-zA-Z0-9*?]+)$/;

function checkAction(report: ProblemReport, item: StringNode) {
  if (ACTION.test(item.value)) return;
  // `s3GetObject`, `s3.GetObject`, `s3/GetObject`: the service is in front of the first capital letter.
  const [, service, action] = /^([a-z0-9-]+?)[.:/ _-]*([A-Z*][a-zA-Z0-9*?]*)$/.exec(item.value) ?? [];
  const near = service === undefined ? undefined : `${service}:${action}`;
  report.error("config/policy-action", item.span, `${quote(item.value)} is not an action`, {
    hint: near === undefined ? "write a service and an action, such as s3:GetObject" : `write ${near}`,
    fix: near === undefined ? undefined : report.replace(item, near),
  });
}

/** Six parts, each of which may be a wildcard (IAM reference, "Resource"). */
const RESOURCE = /^(\*|arn:[^:\s]+:[^:\s]+:[^:\s]*:[^:\s]*:.+)$/;

function checkResource(report: ProblemReport, item: StringNode) {
  if (RESOURCE.test(item.value)) return;
  report.error("config/policy-resource", item.span, `${quote(item.value)} is not the ARN of a resource`, {
    hint: `write one such as arn:aws:s3:::my-bucket/*, or "*" for all`,
    fixes: resourceFixes(report, item),
  });
}

/** The ARN that a text is the end of; the objects of a bucket of that name. */
function resourceFixes(report: ProblemReport, item: StringNode): (Fix | undefined)[] {
  const plain = item.value.trim();
  if (RESOURCE.test(plain)) return [report.replace(item, plain)];
  const whole = plain.replace(/^(?:arn:)?(?:aws:)?(?=[a-z0-9-]+:)/, "arn:aws:");
  if (RESOURCE.test(whole)) return [report.suggest(item, whole)];
  return [
    /^[a-z0-9][a-z0-9.-]+$/.test(plain) ? report.suggest(item, `arn:aws:s3:::${plain}/*`) : undefined,
    report.suggest(item, "*"),
  ];
}
