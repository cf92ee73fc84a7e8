/**
 * The manifest that the extension is packed with: without npm's guard against publishing, and with the addresses of the
 * project where its repository is known. No `type` either, which is for the compiler: VS Code for the Web loads scripts, and
 * refuses what that calls a module.
 */
export function packedManifest(manifest, repository) {
  const { private: _, type, ...published } = manifest;
  const packed = { ...published, files: [...manifest.files, "LICENSE.txt"] };
  if (repository === undefined) return packed;
  return {
    ...packed,
    homepage: repository,
    repository: { type: "git", url: `${repository}.git`, directory: "vscode-extension" },
    bugs: { url: `${repository}/issues` },
  };
}
