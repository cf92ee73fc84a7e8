import type { Highlighting, Leaf } from "../build/highlight.ts";

/**
 * How route patterns and locations are coloured. The grammar has a rule for each mistake, so the table is its list of
 * tokens in the order in which `routeToken` and `locationToken` try them.
 */
export const highlighting: Highlighting = {
  name: "toolroute",
  scopeName: "source.toolroute",
  fileTypes: [],
  isOneLine: true,
  starts: ["route", "location"],
  rules: `
    originStart = originScheme "://" host
    originScheme = schemeName
    host = authority
    schemeStart = schemeName ":"
    // Blanks are skipped, and line ends: the other tokens are single characters.
    literal = ~space any
  `,
  contexts: {
    route: {
      leaves: [
        param(),
        wildcards("keyword.other.wildcard"),
        ...escapes(),
        // After a backslash it is often the backslash that is wrong, and looking for the end each time is not linear.
        { ...mistake("regexGroup"), notAfter: "\\" },
        ...["foreign", "nameless", "badEscape", "badPercent", "unencoded", "outsidePath"].map(mistake),
        literal(),
      ],
    },
    location: {
      leaves: [
        {
          rule: "originStart",
          type: "keyword",
          scope: "markup.underline.link string.other.link",
          isFirst: true,
        },
        { rule: "schemeStart", type: "invalid", scope: "invalid.illegal.scheme", isFirst: true },
        param(),
        // A location has no wildcard: its place is taken by ":splat".
        wildcards("invalid.illegal.wildcard"),
        ...escapes(),
        ...["foreign", "dollar", "badEscape", "badPercent", "unencoded"].map(mistake),
        { rule: "query", type: "punctuation", scope: "punctuation.separator.query" },
        literal(),
      ],
    },
  },
};

function param(): Leaf {
  // Themes that leave parameters plain have a colour for keys.
  return { rule: "param", type: "parameter", scope: "support.type.property-name.json variable.parameter" };
}

function wildcards(scope: string): Leaf {
  return { rule: "wildcards", type: scope.startsWith("invalid") ? "invalid" : "operator", scope };
}

function escapes(): Leaf[] {
  return ["escape", "percentByte"].map((rule) => ({ rule, type: "escape", scope: "constant.character.escape" }));
}

function mistake(rule: string): Leaf {
  const kind = rule.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return { rule, type: "invalid", scope: `invalid.illegal.${kind}` };
}

function literal(): Leaf {
  return { rule: "literal", type: "string", scope: "string.unquoted" };
}
