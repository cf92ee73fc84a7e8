/** On disk, not yet saved, and in a repository that is browsed without a clone; not the old side of a comparison. */
const SCHEMES = ["file", "untitled", "vscode-vfs"];

/**
 * The documents that the server is sent. It goes by their names: JSON and HTML keep their own language ids, and the
 * features of the editor that come with them. A page of HTML is ours only in the folder of error pages, as the server knows.
 *
 * `schemes` are those of the workspace's folders: other extensions bring file systems of their own, above all on the web.
 */
export const documentSelector = (schemes: readonly string[] = []) =>
  [...new Set([...SCHEMES, ...schemes])].flatMap((scheme) => [
    ...["json", "jsonc"].flatMap((language) => [
      { scheme, language, pattern: "**/tool.json" },
      { scheme, language, pattern: "**/*.tool.json" },
    ]),
    { scheme, language: "html", pattern: "**/{[45][0-9][0-9],[45]xx,error}.html" },
    { scheme, language: "toolquery" },
    { scheme, language: "toolignore" },
    { scheme, language: "tooltemplate" },
  ]);
