/** The settings that users can change, under their names in the editor: `tool.codeLens.enabled` and so on. */
export interface EditorSettings {
  /** Whether completion may ask the AWS account of the app's credentials; off unless the user turns it on. */
  readonly awsNames: boolean;
  readonly codeLens: boolean;
  readonly diagnostics: boolean;
  readonly inlayHints: boolean;
  /** Where the traffic of rules and stages is from: nowhere, the development log, or the log service if there is one. */
  readonly traffic: "off" | "development" | "service";
  /** `tool.diagnostics.severity`: by code, or by area as `query/*`, how severe a problem is shown. */
  readonly severity: Readonly<Record<string, SeverityName>>;
}

/** A severity of the protocol, or nothing at all. */
export type SeverityName = "error" | "warning" | "information" | "hint" | "off";

const SEVERITIES: readonly unknown[] = ["error", "warning", "information", "hint", "off"] satisfies SeverityName[];

/** By default everything is on that asks nobody, and as severe as the checks say. */
export const DEFAULT_SETTINGS: EditorSettings = {
  awsNames: false,
  codeLens: true,
  diagnostics: true,
  inlayHints: true,
  traffic: "development",
  severity: {},
};

/** Reads the section `tool` of an editor's settings. Unknown names and values of another type are ignored. */
export function readSettings(section: unknown): EditorSettings {
  const isOn = (name: "awsNames" | "codeLens" | "diagnostics" | "inlayHints"): boolean => {
    const { enabled } = objectOf(objectOf(section)[name]);
    return typeof enabled === "boolean" ? enabled : DEFAULT_SETTINGS[name];
  };
  const { source } = objectOf(objectOf(section).traffic);
  const written = Object.entries(objectOf(objectOf(objectOf(section).diagnostics).severity));
  const severity = Object.fromEntries(written.filter(([, value]) => SEVERITIES.includes(value)));
  return {
    awsNames: isOn("awsNames"),
    codeLens: isOn("codeLens"),
    diagnostics: isOn("diagnostics"),
    inlayHints: isOn("inlayHints"),
    traffic: source === "off" || source === "service" ? source : DEFAULT_SETTINGS.traffic,
    severity: severity as EditorSettings["severity"],
  };
}

/** The severity of a code: as set for it, else for its area; undefined if neither is set. */
export function severityOf({ severity }: Pick<EditorSettings, "severity">, code: string): SeverityName | undefined {
  const area = `${code.slice(0, code.indexOf("/"))}/*`;
  if (Object.hasOwn(severity, code)) return severity[code];
  return Object.hasOwn(severity, area) ? severity[area] : undefined;
}

const objectOf = (value: unknown) =>
  (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
