import type { Directory } from "../../schema/directory.ts";
import { parseJson } from "../../schema/json.ts";
import { rootSchema } from "../../schema/keywords.ts";
import { eachLanguage } from "../../schema/languages.ts";

/** A project in which every path is that a configuration names, and what such projects have beside. */
export function folderOf(config: string): Directory {
  const files = new Set(["package.json", "README.md", "src/index.ts", "test/all.js", "public/index.html"]);
  const { root } = parseJson(config);
  if (root !== undefined) {
    eachLanguage(root, rootSchema, (language, { value }, { path }) => {
      // A folder by a file in it.
      if (language === "path") files.add(path.at(-1) === "file" ? value : `${value.replace(/\/$/, "")}/index.html`);
      if (language === "command")
        for (const [file] of value.matchAll(/[\w./-]+\.\w+|\.\/\w+/g)) files.add(file.replace(/^\.\//, ""));
    });
  }
  const scripts = Object.fromEntries(
    [...config.matchAll(/(?<=npm (?:run )?)[\w:]+/g)].map(([name]) => [name, "node ."]),
  );
  const texts = new Map([["package.json", JSON.stringify({ scripts })]]);
  const inside = (folder: string) => {
    const prefix = folder === "." || folder === "" ? "" : `${folder.replace(/^\.\//, "").replace(/\/+$/, "")}/`;
    const names = new Map<string, "file" | "directory">();
    for (const file of files) {
      if (!file.startsWith(prefix)) continue;
      const [name, ...rest] = file.slice(prefix.length).split("/");
      names.set(name!, rest.length > 0 ? "directory" : "file");
    }
    return [...names].map(([name, kind]) => ({ name, kind }));
  };
  const plain = (path: string) => path.replace(/^\.\//, "").replace(/\/+$/, "");
  return {
    kind: (path) => (files.has(plain(path)) ? "file" : inside(path).length > 0 ? "directory" : undefined),
    read: (path) => (files.has(plain(path)) ? (texts.get(plain(path)) ?? "") : undefined),
    list: (path) => (inside(path).length > 0 ? inside(path) : undefined),
  };
}
