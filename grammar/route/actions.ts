import type { RouteToken } from "./ast.ts";

/**
 * The meaning of each rule of route.ohm, as in grammar/query/actions.ts. A rule that is a token gives it; the start
 * rules give their tokens in order.
 */
export const actions = {
  route: (_source: string, _start: number, _end: number, tokens: RouteToken[]) => tokens,
  location: (_source: string, _start: number, _end: number, origin: RouteToken[] | undefined, tokens: RouteToken[]) =>
    origin === undefined ? tokens : [...origin, ...tokens],
  origin: (
    _source: string,
    _start: number,
    _end: number,
    scheme: RouteToken,
    _slashes: undefined,
    authority: RouteToken,
  ) => [{ ...scheme, kind: "origin" }, authority],
  scheme: (_source: string, _start: number, _end: number, name: RouteToken, _colon: undefined) => [
    { ...name, kind: "scheme" },
  ],
  schemeName: token("schemeName"),
  authority: token("authority"),
  param: token("param"),
  wildcards: token("wildcards"),
  escape: token("escape"),
  percentByte: token("percentByte"),
  regexGroup: token("regexGroup"),
  foreign: token("foreign"),
  dollar: token("dollar"),
  nameless: token("nameless"),
  badEscape: token("badEscape"),
  badPercent: token("badPercent"),
  unencoded: token("unencoded"),
  outsidePath: token("outsidePath"),
  query: token("query"),
  plain: token("plain"),
};

function token(kind: string) {
  return (source: string, start: number, end: number): RouteToken => ({
    kind,
    text: source.slice(start, end),
    span: { start, end },
  });
}
