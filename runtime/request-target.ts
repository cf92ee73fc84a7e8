export interface RequestTarget {
  readonly path: string;
  /** With its question mark; empty if there is none. */
  readonly query: string;
  /** Host and port, if the target names them. */
  readonly authority?: string;
}

/** `/path?query`, `*`, or the absolute form `http://host/path?query` that proxies get. */
export function splitTarget(target: string): RequestTarget {
  const absolute = target.startsWith("/") ? null : /^https?:\/\/([^/?#]*)(.*)$/is.exec(target);
  const rest = absolute === null ? target : absolute[2]!;
  // A fragment has no business here; some clients send it all the same.
  const hash = rest.indexOf("#");
  const withoutFragment = hash === -1 ? rest : rest.slice(0, hash);
  const cut = withoutFragment.indexOf("?");
  const path = cut === -1 ? withoutFragment : withoutFragment.slice(0, cut);
  return {
    path: path === "" ? "/" : path,
    query: cut === -1 ? "" : withoutFragment.slice(cut),
    ...(absolute !== null && { authority: absolute[1]! }),
  };
}

/** The problem of a target (RFC 9112, section 3.2), in words for people; undefined if it has none. */
export function targetProblem(method: string, target: string): string | undefined {
  if (target === "*") return method === "OPTIONS" ? undefined : "only OPTIONS may ask for *";
  const { path, authority } = splitTarget(target);
  if (authority !== undefined && (authority === "" || !isAuthority(authority))) return "the target names no valid host";
  return path.startsWith("/") ? undefined : "the target is not a path";
}

/** Host and port of a Host header (RFC 3986, section 3.2): a name or an address, without user and path. May be empty. */
export function isAuthority(text: string): boolean {
  return /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i.test(text);
}
