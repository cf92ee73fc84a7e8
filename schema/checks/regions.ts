import { quote } from "../../grammar/problem.ts";
import { didYouMean } from "../did-you-mean.ts";
import type { Node } from "../json.ts";
import type { Meanings } from "../languages.ts";
import { isGlob, REGIONS, SEPARATE_REGIONS } from "../regions.ts";
import type { Report } from "../report.ts";

/** All patterns together match exactly one region. */
export function checkRegions(report: Report, regions: Node | undefined, meanings: Meanings) {
  if (regions?.type !== "array") return;
  const chosen = new Set<string>();
  for (const item of regions.items) {
    if (item.type !== "string" || item.value === "") continue;
    const matched = isGlob(item.value) ? matching(item.value) : [item.value];
    if (isGlob(item.value)) {
      if (!meanings.globs.has(item)) continue;
      if (matched.length === 0) {
        report.error("config/unknown-region", item.span, `${quote(item.value)} matches no region`, {
          hint: "write a region such as us-west-2",
        });
        continue;
      }
    } else if (!REGIONS.includes(item.value) && !SEPARATE_REGIONS.includes(item.value)) {
      const near = didYouMean(item.value, REGIONS);
      const hint = near !== undefined ? `did you mean ${quote(near)}?` : undefined;
      if (/^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/.test(item.value)) {
        report.warning("config/unknown-region", item.span, `no region is known as ${quote(item.value)}`, {
          hint: hint ?? "it is used as it stands: check the spelling",
        });
      } else {
        report.error("config/unknown-region", item.span, `${quote(item.value)} is no region`, {
          hint: hint ?? "write a region such as us-west-2",
          fix: near === undefined ? undefined : report.replace(item, near),
        });
        continue;
      }
    }
    const before = chosen.size;
    for (const region of matched) chosen.add(region);
    if (chosen.size <= 1 || before > 1) continue;
    const several =
      matched.length > 1 ? `${quote(item.value)} matches ${some(matched)}` : `${quote(item.value)} is a second region`;
    report.error("config/several-regions", item.span, `${several}: only a single region is supported`, {
      hint: before === 0 ? `write one of them, such as ${matched[0]}` : `remove it, or the other`,
    });
  }

  function matching(pattern: string): string[] {
    const item =
      regions?.type === "array"
        ? regions.items.find((node) => node.type === "string" && node.value === pattern)
        : undefined;
    const glob = item?.type === "string" ? meanings.globs.get(item) : undefined;
    return glob === undefined ? [] : REGIONS.filter(glob);
  }
}

function some(regions: readonly string[]): string {
  if (regions.length <= 3) return regions.join(", ");
  return `${regions.slice(0, 2).join(", ")} and ${regions.length - 2} more`;
}
