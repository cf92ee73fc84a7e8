import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Credential } from "./team-config.ts";

/** Some hundred statements; a larger file is not ours. */
const MAX_BYTES = 256 * 1024;

/**
 * The file that keeps the last statement of each team, beside config.json: `{"acme@account.example.com": "<JWS>"}`. It is a
 * cache: what cannot be read is asked for anew, and what cannot be written is asked for again the next time. Whoever reads a
 * statement verifies it, so that nothing here needs to be believed.
 */
export class StatementFile {
  readonly #path: string;

  /** `configPath` is that of config.json. */
  constructor(configPath: string) {
    this.#path = join(dirname(configPath), "statements.json");
  }

  read(of: Team): string | undefined {
    const value = this.#all()[keyOf(of)];
    return typeof value === "string" ? value : undefined;
  }

  /** Keeps a statement; undefined forgets the one that is kept, so that an old one does not come back with an old clock. */
  write(of: Team, statement: string | undefined): void {
    const { [keyOf(of)]: before, ...others } = this.#all();
    if (before === statement) return;
    const all = statement === undefined ? others : { ...others, [keyOf(of)]: statement };
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      // Two commands at once each write a file of their own. The later one wins, and a statement that is lost is asked for.
      const temporary = `${this.#path}.${process.pid}`;
      writeFileSync(temporary, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
      renameSync(temporary, this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }

  #all(): Readonly<Record<string, unknown>> {
    try {
      // A pipe without a writer would block for ever.
      const stats = statSync(this.#path);
      if (!stats.isFile() || stats.size > MAX_BYTES) return {};
      const value: unknown = JSON.parse(readFileSync(this.#path, "utf8"));
      return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
    } catch (error) {
      if (!(error instanceof SyntaxError) && (error as NodeJS.ErrnoException).code === undefined) throw error;
      return {};
    }
  }
}

type Team = Pick<Credential, "team" | "url">;

const keyOf = ({ team, url }: Team) => `${team}@${new URL(url).host}`;
