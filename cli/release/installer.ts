import { formsOf } from "./statement.ts";

export interface InstallerValues {
  /** The project's address in the API of its Git host: `{origin}/releases/latest`. */
  readonly origin: string;
  /** `pro` or `free`. */
  readonly edition: string;
  /** The public keys that may sign a release, in base64. */
  readonly keys: readonly string[];
}

/** The text of a release's install.sh: that of `install.sh` beside this file, with the values filled in. */
export function fillInstaller(text: string, { origin, edition, keys }: InstallerValues): string {
  const forms = keys.map(formsOf);
  const values: Readonly<Record<string, string>> = {
    ORIGIN: origin,
    EDITION: edition,
    SSH_KEYS: forms.map(({ ssh }) => ssh).join("\n"),
    PEM_KEYS: forms.map(({ spki }) => spki).join("\n"),
  };
  // They are between single quotes.
  const wrong = Object.values(values).find((value) => !/^[\w:/.+=\n -]+$/.test(value));
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong)} cannot be a part of install.sh`);
  return text.replace(/@([A-Z_]+)@/g, (mark, name: string) => values[name] ?? mark);
}
