import { quote } from "../../grammar/problem.ts";
import { cleanName, cleanPath } from "../clean-text.ts";
import { removal } from "../edits.ts";
import { memberOf, type Node, type ObjectNode, type StringNode } from "../json.ts";
import type { ProblemReport } from "../report.ts";
import { domainProblem } from "./domain.ts";
import { checkFunction, type FunctionContext } from "./function.ts";

export function checkStages(report: ProblemReport, stages: Node | undefined, settings: FunctionContext) {
  if (stages?.type !== "object") return;
  const places = new Map<string, string>();
  for (const { key, value: stage } of stages.members) {
    checkName(report, key);
    checkFunction(report, memberOf(stage, "function")?.value, settings);

    const domain = memberOf(stage, "domain")?.value;
    const path = memberOf(stage, "path")?.value;
    const wrongDomain = domain?.type === "string" ? domainProblem(domain.value) : undefined;
    if (domain?.type === "string" && wrongDomain !== undefined) {
      report.error("config/domain", domain.span, wrongDomain.message, {
        hint: wrongDomain.hint,
        fix:
          wrongDomain.fixed === undefined
            ? report.suggest(domain, wrongDomain.near)
            : report.replace(domain, wrongDomain.fixed),
      });
    }
    if (path?.type === "string") checkBasePath(report, path);
    if (domain?.type === "string" && wrongDomain === undefined) {
      const base = path?.type === "string" ? path.value.replace(/^\/+|\/+$/g, "") : "";
      const place = `${domain.value.toLowerCase().replace(/\.$/, "")}/${base}`;
      const other = places.get(place);
      if (other !== undefined) {
        report.error(
          "config/duplicate-domain",
          domain.span,
          `the stage ${quote(other)} has this domain and path already`,
          {
            hint: `give ${quote(key.value)} another domain or "path"`,
            fix: report.suggest(domain, `${key.value.replaceAll("_", "-")}.${domain.value}`),
          },
        );
      }
      places.set(place, key.value);
    }
    if (stage?.type === "object") checkZone(report, stage, domain);
  }
}

/** The name that `tool env -s` has for all stages together. */
const ALL_STAGES = "all";

/** A name to suggest for a stage that is called so. */
const INSTEAD_OF_ALL = "shared";

function checkName(report: ProblemReport, key: StringNode) {
  if (key.value === ALL_STAGES) {
    report.error("config/stage-name", key.span, `no stage can be called ${quote(ALL_STAGES)}`, {
      hint: `\`tool env -s ${ALL_STAGES}\` means all stages: choose another name; settings for all stages are written outside of stages`,
      fix: report.suggest(key, INSTEAD_OF_ALL),
    });
  } else if (!/^[a-z][a-z0-9_-]*$/.test(key.value)) {
    const near = cleanName(key.value, { others: "-_", lower: true });
    report.error("config/stage-name", key.span, `${quote(key.value)} is not a valid stage name`, {
      hint: "write lower-case letters, digits, - and _, beginning with a letter",
      fix: report.suggest(key, near === ALL_STAGES ? INSTEAD_OF_ALL : near),
    });
  }
}

function checkBasePath(report: ProblemReport, node: StringNode) {
  // Segments of the characters that the gateway allows in a base path.
  if (/^\/?([A-Za-z0-9$_.+!*'()~-]+(\/[A-Za-z0-9$_.+!*'()~-]+)*\/?)?$/.test(node.value)) return;
  report.error("config/stage-path", node.span, `${quote(node.value)} is not a base path`, {
    hint: "write a path such as /v1",
    fix: report.suggest(node, cleanPath(node.value).replace(/[^A-Za-z0-9$_.+!*'()~/-]+/g, "-")),
  });
}

function checkZone(report: ProblemReport, stage: ObjectNode, domain: Node | undefined) {
  const member = memberOf(stage, "zone");
  const zone = member?.value;
  if (member === undefined || zone === undefined) return;
  if (zone?.type === "boolean" && zone.value) {
    report.error("config/zone", zone.span, `"zone" is true`, {
      hint: "write false for no zone, or the zone's name; leave it out for the default",
      fixes: [
        removal(stage, member, { isLossless: true }),
        { title: "Change to false", edits: [{ span: zone.span, text: "false" }], isSuggestion: true },
      ],
    });
  }
  if (zone?.type !== "string") return;
  const wrong = domainProblem(zone.value);
  if (wrong !== undefined) {
    const near = wrong.fixed ?? wrong.near;
    report.error("config/domain", zone.span, wrong.message, {
      hint: wrong.hint,
      fixes: [
        /^(false|no|off|none)$/i.test(zone.value)
          ? { title: "Change to false", edits: [{ span: zone.span, text: "false" }], isSuggestion: true }
          : undefined,
        zone.value === "" ? removal(stage, member, { isLossless: true }) : undefined,
        report.suggest(zone, parentOf(domain) ?? near),
      ],
    });
    return;
  }
  if (domain?.type !== "string" || domainProblem(domain.value) !== undefined) return;
  const name = domain.value.toLowerCase();
  const apex = zone.value.toLowerCase().replace(/\.$/, "");
  if (name !== apex && !name.endsWith(`.${apex}`)) {
    report.error(
      "config/outside-zone",
      zone.span,
      `the domain ${quote(domain.value)} is not in the zone ${quote(zone.value)}`,
      {
        hint: "the domain is the zone's name, or ends with it after a dot",
        fixes: [
          report.suggest(zone, parentOf(domain)),
          report.suggest(domain, `${name.split(".")[0]}.${apex}`),
          removal(stage, member),
        ],
      },
    );
  }
}

/** The name that a domain of three labels and more is below, else the domain itself. */
function parentOf(domain: Node | undefined): string | undefined {
  if (domain?.type !== "string" || domainProblem(domain.value) !== undefined) return undefined;
  const labels = domain.value.toLowerCase().split(".");
  return labels.slice(labels.length > 2 ? 1 : 0).join(".");
}
