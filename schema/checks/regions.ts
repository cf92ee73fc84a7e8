import { didYouMean } from "../../grammar/did-you-mean.ts";
import { type Fix, quote } from "../../grammar/problem.ts";
import { removeItem } from "../edits.ts";
import type { ArrayNode, Node, StringNode } from "../json.ts";
import type { Meanings } from "../languages.ts";
import { isGlob, REGIONS, SEPARATE_REGIONS } from "../regions.ts";
import type { ProblemReport } from "../report.ts";

/** All patterns together match exactly one region. */
export function checkRegions(report: ProblemReport, regions: Node | undefined, meanings: Meanings) {
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
    report.error("config/several-regions", item.span, `${several}: only one region is supported`, {
      hint: before === 0 ? `write one of them, such as ${matched[0]}` : "remove it, or the other",
      fixes:
        before === 0
          ? matched.slice(0, 5).map((region) => report.suggest(item, region))
          : regions.items.map((other) => only(regions, other)),
    });
  }
}

/** Leaves one region. */
function only(regions: ArrayNode, kept: Node): Fix | undefined {
  if (kept.type !== "string") return undefined;
  const { start } = regions.items[0]!.span;
  const { end } = regions.items.at(-1)!.span;
  if (regions.items.length === 2) {
    const gone = regions.items.find((item) => item !== kept)!;
    const title = `Remove ${gone.type === "string" ? quote(gone.value) : "the other"}`;
    return { title, edits: [removeItem(regions, gone)], isSuggestion: true };
  }
  return {
    title: `Keep ${kept.value} only`,
    edits: [{ span: { start, end }, text: JSON.stringify(kept.value) }],
    isSuggestion: true,
  };
}

/** The region that a broken pattern or an unknown name looks like. */
function nearest(report: ProblemReport, node: StringNode): (Fix | undefined)[] {
  const plain = node.value.toLowerCase().replace(/[^a-z0-9-]/g, "");
  const near = REGIONS.includes(plain) ? plain : didYouMean(plain, REGIONS);
  const alike = REGIONS.filter((region) => plain.length > 3 && (region.startsWith(plain) || plain.startsWith(region)));
  return [...(near === undefined ? [] : [near]), ...alike.slice(0, 4), "us-west-2"].map((region) =>
    report.suggest(node, region),
  );
}

/** The regions that differ from a name in the number only: those with one of its digits first. */
function inSamePlace(value: string): string[] {
  const [, place, digits = ""] = /^(.*-)(\d+)$/.exec(value) ?? [];
  const alike = place === undefined ? [] : REGIONS.filter((region) => region.slice(0, -1) === place);
  const isLikely = (region: string) => digits.includes(region.at(-1)!);
  return [...alike.filter(isLikely), ...alike.filter((region) => !isLikely(region))];
}

/** The regions that a pattern matches; those that need an account of their own are never meant by one. */
function checkGlob(report: ProblemReport, node: StringNode, meanings: Meanings): string[] {
  const glob = meanings.globs.get(node);
  if (glob === undefined) return [];
  const matched = REGIONS.filter(glob);
  if (matched.length === 0) {
    report.error("config/unknown-region", node.span, `${quote(node.value)} matches no region`, {
      hint: "write a region such as us-west-2",
      fixes: nearest(report, node),
    });
  }
  return matched;
}

/** The region that is named. One that has the form of a region may be newer than our list. */
function checkLiteral(report: ProblemReport, node: StringNode): string[] {
  const { value, span } = node;
  if (REGIONS.includes(value) || SEPARATE_REGIONS.includes(value)) return [value];
  const near = didYouMean(value, REGIONS);
  if (/^[a-z]{2,4}(-[a-z]+)+-\d{1,2}$/.test(value)) {
    report.warning("config/unknown-region", span, `no region is known as ${quote(value)}`, {
      hint: near === undefined ? "it is used as written: check the spelling" : `did you mean ${quote(near)}?`,
      fixes: (near === undefined ? inSamePlace(value) : [near]).map((region) => report.suggest(node, region)),
    });
    return [value];
  }
  report.error("config/unknown-region", span, `${quote(value)} is not a region`, {
    hint: near === undefined ? "write a region such as us-west-2" : `did you mean ${quote(near)}?`,
    fixes: near === undefined ? nearest(report, node) : [report.replace(node, near)],
  });
  return near === undefined ? [] : [near];
}

function some(regions: readonly string[]): string {
  if (regions.length <= 3) return regions.join(", ");
  return `${regions.slice(0, 2).join(", ")} and ${regions.length - 2} more`;
}
