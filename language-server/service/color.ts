import { colord, extend, type RgbaColor } from "colord";
import hwb from "colord/plugins/hwb";
import names from "colord/plugins/names";
import type { Color, ColorInformation, ColorPresentation, Range } from "vscode-languageserver-types";
import type { Span } from "../../grammar/problem.ts";
import { memberOf, type StringNode } from "../../schema/json.ts";
import type { ToolDocument } from "./document.ts";

/** The colours among the variables of error pages, `color` or any other. */
export function documentColors(document: ToolDocument): ColorInformation[] {
  return colorsOf(document).map(({ node, rgba }) => ({
    range: document.rangeOf(node.content),
    color: { red: rgba.r / 255, green: rgba.g / 255, blue: rgba.b / 255, alpha: rgba.a },
  }));
}

/** How a picked colour may be written at a range; the form that is already there comes first. */
export function colorPresentations(document: ToolDocument, color: Color, range: Range): ColorPresentation[] {
  prepare();
  const rgba = { r: color.red * 255, g: color.green * 255, b: color.blue * 255, a: color.alpha };
  const picked = colord(rgba);
  const forms = [picked.toHex(), picked.toRgbString(), picked.toHslString()];
  const span: Span = { start: document.offsetAt(range.start), end: document.offsetAt(range.end) };
  const written = document.text.slice(span.start, span.end).toLowerCase();
  const first = written.startsWith("rgb") ? 1 : written.startsWith("hsl") ? 2 : 0;
  const name = picked.toName();
  const labels = [forms[first]!, ...forms.filter((_, i) => i !== first), ...(name === undefined ? [] : [name])];
  return labels.map((label) => ({ label, textEdit: { range, newText: label } }));
}

function colorsOf(document: ToolDocument): { node: StringNode; rgba: RgbaColor }[] {
  const variables = memberOf(document.section("error_pages")?.value, "variables")?.value;
  if (variables?.type !== "object") return [];
  prepare();
  return variables.members.flatMap(({ value }) => {
    // A text this long is not a colour.
    if (value?.type !== "string" || value.value.length > MAX_LENGTH) return [];
    const parsed = colord(value.value.trim().toLowerCase());
    return parsed.isValid() ? [{ node: value, rgba: parsed.toRgb() }] : [];
  });
}

// Several times the longest of colord's forms.
const MAX_LENGTH = 100;

let isPrepared = false;

/** colord keeps its plugins in a list of its own; nothing runs on import. */
function prepare() {
  if (!isPrepared) extend([names, hwb]);
  isPrepared = true;
}
