import { readFileSync } from "node:fs";
import { isLoopback } from "../../../grammar/address/loopback.ts";
import type { PostgresPoolOptions } from "./pool.ts";

/** The database of the records, as it is connected to. */
export interface PostgresPlace extends Omit<PostgresPoolOptions, "clock" | "isForMigrations"> {
  /** A name or an address; or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/** The place for people: without the password. */
export const placeName = ({ host, port, database }: PostgresPlace): string =>
  host.startsWith("/") ? `the database ${database} at ${host}` : `the database ${database} at ${host}:${port}`;

const DEFAULT_PORT = 5432;
const SSL_MODES = ["disable", "require", "verify-full"] as const;

/**
 * Reads an address such as postgres://tool@db.example.com/logs?sslmode=verify-full. Returns what is wrong with it as a sentence
 * if it is not of this form, or has a password: other people of the machine can see arguments.
 */
export function readPostgresAddress(
  text: string,
  password: string | undefined,
): { readonly ok: true; readonly value: PostgresPlace } | { readonly ok: false; readonly problems: readonly [string] } {
  const wrong = (problem: string) => ({ ok: false, problems: [problem] }) as const;
  // A mistyped address is not repeated: it may have a password, and what refuses it may write to a log.
  if (!URL.canParse(text) || !/^postgres(ql)?:$/.test(new URL(text).protocol))
    return wrong("it is no address such as postgres://user@host/database");
  const url = new URL(text);
  if (url.password !== "")
    return wrong(
      "the address has a password, which others can see: give it by --records-password FILE, or in TOOL_RECORDS_PASSWORD",
    );
  const parameters = new Map(url.searchParams);
  const socket = parameters.get("host");
  const sslmode = parameters.get("sslmode");
  const root = parameters.get("sslrootcert");
  const unknown = [...parameters.keys()].find((key) => !["host", "sslmode", "sslrootcert"].includes(key));
  if (unknown !== undefined) {
    // Before an @ it is a password with a question mark.
    const which = /@|%40/.test(url.search) ? "an unknown parameter" : `a parameter ${JSON.stringify(unknown)}`;
    return wrong(`the address has ${which}: there are sslmode, sslrootcert and host`);
  }
  if (sslmode !== undefined && !SSL_MODES.some((one) => one === sslmode))
    return wrong(`sslmode is one of ${SSL_MODES.join(", ")}`);
  const host = socket ?? url.hostname.replace(/^\[|\]$/g, "");
  const [database, user] = [url.pathname.slice(1), url.username].map(decoded);
  if (database === undefined || user === undefined)
    return wrong("a % in the address does not begin a character: write it as %25");
  if (host === "" || database === "" || user === "")
    return wrong("it needs a user, a host and a database: postgres://user@host/database");
  const isNear = host.startsWith("/") || isLoopback(host);
  const mode = sslmode ?? (isNear ? "disable" : "verify-full");
  let ca = {};
  try {
    if (root !== undefined) ca = { ca: readFileSync(root, "utf8") };
  } catch (error) {
    return wrong(`${root} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  return {
    ok: true,
    value: {
      ...{ host, port: Number(url.port || DEFAULT_PORT), database, user },
      ...(password !== undefined && { password }),
      ssl: mode === "disable" ? false : { rejectUnauthorized: mode === "verify-full", ...ca },
    },
  };
}

/** A part of an address without its escapes; undefined if these are not UTF-8. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
