import { quote } from "../../grammar/problem.ts";
import { memberOf, type Node } from "../json.ts";
import type { Report } from "../report.ts";
import { domainProblem } from "./domain.ts";
import { checkFunction, type FunctionContext } from "./function.ts";

export function checkStages(report: Report, stages: Node | undefined, settings: FunctionContext) {
  if (stages?.type !== "object") return;
  const places = new Map<string, string>();
  for (const { key, value: stage } of stages.members) {
    if (!/^[a-z][a-z0-9_-]*$/.test(key.value)) {
      report.error("config/stage-name", key.span, `${quote(key.value)} is no name of a stage`, {
        hint: "write lower-case letters, digits, - and _, beginning with a letter",
      });
    }
    checkFunction(report, memberOf(stage, "function")?.value, settings);

    const domain = memberOf(stage, "domain")?.value;
    const path = memberOf(stage, "path")?.value;
    const wrongDomain = domain?.type === "string" ? domainProblem(domain.value) : undefined;
    if (domain?.type === "string" && wrongDomain !== undefined) {
      report.error("config/domain", domain.span, wrongDomain.message, {
        hint: wrongDomain.hint,
        fix: wrongDomain.fixed === undefined ? undefined : report.replace(domain, wrongDomain.fixed),
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
          },
        );
      }
      places.set(place, key.value);
    }
    checkZone(report, memberOf(stage, "zone")?.value, domain);
  }
}

function checkBasePath(report: Report, node: { value: string; span: { start: number; end: number } }) {
  // Segments of the characters that the gateway allows in a base path.
  if (/^\/?([A-Za-z0-9$_.+!*'()~-]+(\/[A-Za-z0-9$_.+!*'()~-]+)*\/?)?$/.test(node.value)) return;
  report.error("config/stage-path", node.span, `${quote(node.value)} is no base path`, {
    hint: "write a path such as /v1",
  });
}

function checkZone(report: Report, zone: Node | undefined, domain: Node | undefined) {
  if (zone?.type === "boolean" && zone.value) {
    report.error("config/zone", zone.span, `"zone" is true`, {
      hint: "write false for no zone, or the zone's name; leave it out for the default",
    });
  }
  if (zone?.type !== "string") return;
  const wrong = domainProblem(zone.value);
  if (wrong !== undefined) {
    report.error("config/domain", zone.span, wrong.message, { hint: wrong.hint });
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
      },
    );
  }
}
