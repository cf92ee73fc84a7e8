/** What people may turn off, under the names of the editor's settings: `tool.codeLens.enabled` and so on. */
export interface Settings {
  readonly codeLens: boolean;
  readonly diagnostics: boolean;
  readonly inlayHints: boolean;
}

/** Everything is on where nothing is said. */
export const DEFAULT_SETTINGS: Settings = { codeLens: true, diagnostics: true, inlayHints: true };

/** Reads the section `tool` of an editor's settings. What is no setting, or of another type, counts as not said. */
export function readSettings(section: unknown): Settings {
  const isOn = (name: keyof Settings): boolean => {
    const { enabled } = objectOf(objectOf(section)[name]);
    return typeof enabled === "boolean" ? enabled : DEFAULT_SETTINGS[name];
  };
  return { codeLens: isOn("codeLens"), diagnostics: isOn("diagnostics"), inlayHints: isOn("inlayHints") };
}

const objectOf = (value: unknown) =>
  (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
