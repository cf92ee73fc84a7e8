import { didYouMean } from "../../grammar/did-you-mean.ts";
import { quote } from "../../grammar/problem.ts";
import type { Node, StringNode } from "../json.ts";
import type { Meanings } from "../languages.ts";
import { isGlob, REGIONS, SEPARATE_REGIONS } from "../regions.ts";
import type { Report } from "../report.ts";

/** All patterns together match exactly one region. */
export function checkRegions(report: Report, regions: Node | undefined, meanings: Meanings) {
  if (regions?.type !== "array") return;
  const chosen = new Set<string>();
  for (const item of regions.items) {
    if (item.type !== "string" || item.value === "") continue;
    const matched = isGlob(item.value) ? checkGlob(report, item, meanings) : checkLiteral(report, item);
    const before = chosen.size;
    for (const region of matched) chosen.add(region);
    // Once is enough: what follows a second region is no worse.
    if (chosen.size <= 1 || before > 1) continue;
    const several =
      matched.length > 1 ? `${quote(item.value)} matches ${some(matched)}` : `${quote(item.value)} is a second region`;
    report.error("config/several-regions", item.span, `${several}: only a single region is supported`, {
      hint: before === 0 ? `write one of them, such as ${matched[0]}` : "remove it, or the other",
    });
  }
}

/** The regions that a pattern matches; those that need an account of their own are never meant by one. */
function checkGlob(report: Report, node: StringNode, meanings: Meanings): string[] {
  const glob = meanings.globs.get(node);
  if (glob === undefined) return [];
  const matched = REGIONS.filter(glob);
  if (matched.length === 0) {
    report.error("config/unknown-region", node.span, `${quote(node.value)} matches no region`, {
      hint: "write a region such as us-west-2",
    });
  }
  return matched;
}

/** The region that is named. One that has the form of a region may be newer than our list. */
function checkLiteral(report: Report, node: StringNode): string[] {
  const { value, span } = node;
  if (REGIONS.includes(value) || SEPARATE_REGIONS.includes(value)) return [value];
  const near = didYouMean(value, REGIONS);
  if (/^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/.test(value)) {
    report.warning("config/unknown-region", span, `no region is known as ${quote(value)}`, {
      hint: near === undefined ? "it is used as it stands: check the spelling" : `did you mean ${quote(near)}?`,
      fix: near === undefined ? undefined : report.replace(node, near),
    });
    return [value];
  }
  report.error("config/unknown-region", span, `${quote(value)} is no region`, {
    hint: near === undefined ? "write a region such as us-west-2" : `did you mean ${quote(near)}?`,
    fix: near === undefined ? undefined : report.replace(node, near),
  });
  return near === undefined ? [] : [near];
}

function some(regions: readonly string[]): string {
  if (regions.length <= 3) return regions.join(", ");
  return `${regions.slice(0, 2).join(", ")} and ${regions.length - 2} more`;
}
