/** For an error: a package with a binary for each platform, which an installation may be without, cannot be loaded. */
export const withoutPackage = (name: string) =>
  `the log service needs the package ${name}, which is not installed here or has no binary for ${process.platform} on ${process.arch}: install tool with its log service (with npm without --omit=optional; not tool-cli)`;
