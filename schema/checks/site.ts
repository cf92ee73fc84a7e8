import { quote } from "../../grammar/problem.ts";
import { humanBytes } from "../../grammar/units/bytes.ts";
import type { Directory } from "../directory.ts";
import { decide, type IgnoreDecision, type IgnoreRule, parseIgnore, ROOT } from "../ignore/index.ts";
import { memberOf, type ObjectNode } from "../json.ts";
import type { ProblemReport } from "../report.ts";
import type { AppType } from "./static.ts";

/** "Served files are limited to 6 MB each" (specification, "static"): 6 MiB, as the platform counts an answer. */
export const MAX_SERVED_BYTES = 6 * 1024 * 1024;

/** A site of more is looked at no further. */
const MAX_ENTRIES = 50_000;

/**
 * A static site: whether it has a file, and none that cannot be served. In a server app the same of its own static
 * directory, as warnings: the app itself may be all that anybody asks.
 */
export function checkSite(report: ProblemReport, root: ObjectNode, directory: Directory, type: AppType) {
  if (directory.size === undefined) return;
  const settings = memberOf(root, "static");
  const dir = memberOf(settings?.value, "dir")?.value;
  if (dir !== undefined && dir.type !== "string") return;
  const top = (dir?.value ?? ".").split("/").filter((name) => name !== "" && name !== ".");
  if (top.includes("..") || directory.kind(top.join("/") || ".") !== "directory") return;
  const at = dir?.span ?? settings?.key.span ?? memberOf(root, "type")?.value?.span ?? memberOf(root, "name")?.key.span;
  const span = at ?? { start: root.span.start, end: root.span.start + 1 };
  const { served, large, outside, left } = lookAt(directory, top);
  const say = type === "static" ? report.error.bind(report) : report.warning.bind(report);
  if (outside.length > 0) {
    const [path] = outside as [string];
    const more = outside.length === 1 ? "" : `, and ${outside.length - 1} more like it`;
    report.warning("config/linked-file", span, `${quote(path)} leads out of ${quote(top.join("/") || ".")}${more}`, {
      hint: "such a link is not served: put the file itself there",
    });
  }
  if (large.length > 0) {
    const [{ path, bytes }] = large as [(typeof large)[0]];
    const more = large.length === 1 ? "" : `, and ${large.length - 1} more like it`;
    say(
      "config/file-size",
      span,
      `${quote(path)} has ${bytes} bytes, a served file at most ${MAX_SERVED_BYTES} (6 MB)${more}`,
      {
        hint: `${humanBytes(bytes)} cannot be served: keep it elsewhere, or exclude it in .toolignore`,
      },
    );
  }
  // The output of a build is not there yet.
  const hooks = memberOf(root, "hooks")?.value;
  const isBuilt = ["prebuild", "build", "postbuild"].some((name) => memberOf(hooks, name) !== undefined);
  if (served === 0 && !isBuilt && type === "static") {
    report.error("config/empty-site", span, `there is no file to serve in ${quote(top.join("/") || ".")}`, {
      hint:
        left !== undefined
          ? `.toolignore leaves out ${quote(left.path)} (line ${left.rule.line}: ${left.rule.text}): change that line, or add a file that it does not match`
          : dir === undefined
            ? `add an index.html, or name the folder: "static": { "dir": "public" }`
            : "add an index.html",
    });
  }
}

interface Large {
  readonly path: string;
  readonly bytes: number;
}

/** The files that are deployed and served, the largest too large one first, and a file that .toolignore leaves out. */
function lookAt(directory: Directory, top: readonly string[]) {
  const rules = parseIgnore(directory.read(".toolignore") ?? "");
  const large: Large[] = [];
  const outside: string[] = [];
  let served = 0;
  let leftOut: { readonly path: string; readonly rule: IgnoreRule } | undefined;
  let entries = MAX_ENTRIES;
  const walk = (folder: IgnoreDecision) => {
    for (const { name, kind, isLink } of directory.list?.(folder.names.join("/") || ".") ?? []) {
      if (--entries < 0) return;
      const decision = decide(folder, name, kind === "directory", { rules });
      const path = decision.names.join("/");
      if (kind === "directory") {
        if (name !== ".git" && path !== ".tool") walk(decision);
      } else if (decision.reason?.kind === "rule") {
        // A page is likelier to be missed than what is beside it.
        if (leftOut === undefined || (!isPage(leftOut.path) && isPage(path)))
          leftOut = { path, rule: decision.reason.rule };
      } else if (decision.reason === undefined && path !== "tool.json" && path !== "out.zip") {
        if (isLink && directory.leadsOutOf?.(top.join("/") || ".", path)) {
          outside.push(path);
          continue;
        }
        served++;
        const bytes = directory.size!(path) ?? 0;
        if (bytes > MAX_SERVED_BYTES) large.push({ path, bytes });
      }
    }
  };
  let folder = ROOT;
  for (const name of top) folder = decide(folder, name, true, { rules });
  walk(folder);
  return { served, left: leftOut, large: large.sort((a, b) => b.bytes - a.bytes), outside: outside.sort() };
}

const isPage = (path: string) => /\.html?$/.test(path);
