import { type Fix, type Problem, quote as quoteLines, type Remedy, type Span } from "../problem.ts";
import { percentEncode } from "./path.ts";

// Everything that can be wrong with a route pattern or a location, each with what to do about it.

/** A pattern is matched for every request, and no URL of that length is met in practice: browsers stop near 2,000. */
export const MAX_ROUTE_LENGTH = 2048;

type Subject = "route pattern" | "location";

export const empty = (subject: Subject) =>
  make(
    "empty",
    `a ${subject} is empty`,
    { start: 0, end: 0 },
    {
      hint: subject === "location" ? `write "/", or a URL` : `write "/*" for every path`,
      fix:
        subject === "location"
          ? suggest("Write /", { start: 0, end: 0 }, "/")
          : suggest("Write /*", { start: 0, end: 0 }, "/*"),
    },
  );

export const tooLong = (subject: Subject, length: number) =>
  make(
    "too-long",
    `a ${subject} has ${length} characters`,
    { start: MAX_ROUTE_LENGTH, end: length },
    { hint: `at most ${MAX_ROUTE_LENGTH}` },
  );

// ---- patterns

export const missingSlash = (source: string) =>
  make(
    "missing-slash",
    `${quote(source)} does not start with a slash`,
    { start: 0, end: source.length },
    { hint: `write ${quote(`/${source}`)}`, fix: insert("Insert the slash", 0, "/") },
  );

export const urlAsPattern = (origin: string, path: string) =>
  make(
    "url-as-pattern",
    `${quote(origin)} is not part of a path, and a pattern matches paths only`,
    { start: 0, end: origin.length },
    {
      hint: `write ${quote(path || "/")}`,
      fix: replace("Keep the path only", { start: 0, end: origin.length }, path.startsWith("/") ? "" : "/"),
    },
  );

export const nameless = (text: string, span: Span) =>
  make("nameless-param", `${quote(text)} has no name after it`, span, {
    hint: "write :name, or \\: for the character",
    fix: suggest("Write :name", span, ":name"),
  });

/** `count`: how many times the name occurs up to this place. */
export const duplicateParam = (name: string, count: number, span: Span) =>
  make("duplicate-param", `":${name}" is used ${count === 2 ? "twice" : `${count} times`} in one pattern`, span, {
    hint: `give it another name, such as :${name}${count}`,
    fix: suggest(`Write :${name}${count}`, span, `:${name}${count}`),
  });

export const reservedName = (span: Span, last: boolean) =>
  make("reserved-name", `":splat" is what a trailing * captures, not a segment`, span, {
    hint: last ? `write *, or give it another name` : "give it another name",
    fix: last ? replace("Write *", span, "*") : suggest("Write :rest", span, ":rest"),
  });

export const doubleStar = (text: string, span: Span) =>
  make("double-star", `${quote(text)} means the same as "*"`, span, {
    hint: "write *: it takes slashes too",
    fix: replace("Write *", span, "*"),
  });

export const adjacentCaptures = (text: string, span: Span, trailingStar: boolean) =>
  make("adjacent-captures", `in ${quote(text)} the captures are not separated`, span, {
    hint: trailingStar ? "write * alone (a location calls it :splat)" : "separate the captures with text, such as /",
    fix: trailingStar
      ? suggest("Write * alone", span, "*")
      : suggest("Put a / between them", span, text.replace(/.(?=[:*])/, "$&/")),
  });

export const repeatedParam = (text: string, span: Span) =>
  make("repeated-param", `${quote(text)} is a quantifier, which patterns do not have`, span, {
    hint: `write * for several segments, or %2B for the character "+"`,
    fix: suggest("Write *", span, "*"),
  });

export const optionalParam = (text: string, span: Span) =>
  make("optional-param", `${quote(text)} is an optional segment, which patterns do not have`, span, {
    hint: "write two rules, with and without it",
    fix: suggest(`Write ${text.slice(0, -1)}, for the rule with it`, span, text.slice(0, -1)),
  });

/** `end` is where the pattern ends. */
export const queryInPattern = (character: string, span: Span, end: number) =>
  character === "?"
    ? make("query", `"?" starts a query, and a pattern matches the path only`, span, {
        hint: `remove it, or write %3F for the character`,
        fix: suggest("Remove the query", { start: span.start, end }, ""),
      })
    : make("fragment", `"#" starts a fragment, which no server sees`, span, {
        hint: `remove it, or write %23 for the character`,
        fix: suggest("Remove the fragment", { start: span.start, end }, ""),
      });

/** `isLimit`: it follows a parameter, whose text it limits. */
export const regularExpression = (text: string, span: Span, isLimit = false) =>
  make("regular-expression", `${quote(text)} is a regular expression, and patterns have none`, span, {
    hint: "write :name for one segment, * for any characters",
    fix: isLimit ? suggest("Remove the expression", span, "") : plainCapture(text, span),
  });

/** A fix that writes the capture of a group or of a whole expression, without its limits. */
function plainCapture(text: string, span: Span): Fix | undefined {
  const [, param] = /^(:[A-Za-z_]\w*)\(/.exec(text) ?? [];
  if (param !== undefined) return suggest(`Write ${param}`, span, param);
  if (/^\(\.[*+]\)\??$/.test(text)) return suggest("Write *", span, "*");
  if (text.startsWith("(")) return suggest("Write :name", span, ":name");
  const plain = text
    .replace(/^\^|\$$/g, "")
    .replace(/\\([/.-])/g, "$1")
    .replace(/\(\.[*+]\)|\.[*+]/g, "*")
    .replace(/\([^()]*\)[*+?]?/g, ":name");
  return /^\/[\w/.:*~-]*$/.test(plain) ? suggest(`Write ${plain}`, span, plain) : undefined;
}

// ---- patterns and locations

export const foreignParam = (subject: Subject, text: string, span: Span) => {
  // The identifier that other tools mean: {id}, {id:int}, <int:id>, [...slug], ${id}.
  const rest = /\*|\.\.\.|:path|path:/.test(text);
  const names = text.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? [];
  const name = text.startsWith("<") ? names.at(-1) : names[0];
  const ours = rest ? (subject === "location" ? ":splat" : "*") : `:${name ?? "name"}`;
  const bracket = text.startsWith("$") ? "%24" : percentEncode(text[0]!);
  return make(
    "foreign-param",
    `${quote(text)} is how other tools write ${rest ? "the rest of a path" : "a parameter"}`,
    span,
    {
      hint: `write ${ours}, or ${bracket} for the character itself`,
      fix: name !== undefined || rest ? replace(`Write ${ours}`, span, ours) : undefined,
    },
  );
};

export const badEscape = (subject: Subject, text: string, span: Span, isAfterSlash: boolean) =>
  make("escape", text === "\\" ? `"\\" has nothing after it` : `${quote(text)} is not an escape`, span, {
    hint: `${subject === "location" ? "write / between segments; " : ""}the escapes are \\* \\: \\\\`,
    fix:
      text === "\\" || isAfterSlash
        ? suggest("Remove it", { start: span.start, end: span.start + 1 }, "")
        : suggest("Write /", { start: span.start, end: span.start + 1 }, "/"),
  });

export const badPercent = (text: string, span: Span) =>
  make("percent", `${quote(text)} is not a percent-encoded byte`, span, {
    hint: "write %25 for the percent sign",
    fix: replace("Write %25", { start: span.start, end: span.start + 1 }, "%25"),
  });

export const unencoded = (subject: Subject, character: string, span: Span) => {
  const code = character.codePointAt(0)!;
  const encoded = percentEncode(character);
  const lone = code >= 0xd800 && code <= 0xdfff;
  const what =
    code === 0x20
      ? "a space"
      : lone
        ? "half a character"
        : /\s/.test(character)
          ? "white space"
          : "a control character";
  return make(
    "unencoded",
    `${what} is not allowed in a ${subject === "location" ? "URL" : "path"}${code === 0x20 ? "" : ` (U+${code.toString(16).toUpperCase().padStart(4, "0")})`}`,
    span,
    {
      hint: lone || span.start === 0 ? "remove it" : `write ${encoded}, or remove it`,
      fix: // Nothing can be before the slash at the start.
        lone || span.start === 0 ? replace("Remove it", span, "") : replace(`Write ${encoded}`, span, encoded),
    },
  );
};

// ---- locations

export const relativeLocation = (source: string) =>
  make(
    "relative-location",
    `${quote(source)} starts neither with a slash nor with https://`,
    { start: 0, end: source.length },
    {
      hint: source.startsWith("\\") ? 'write "/" between segments' : `write ${quote(`/${source}`)} or a whole URL`,
      fix: /^[\w:]/.test(source) ? insert("Insert the slash", 0, "/") : undefined,
    },
  );

export const locationScheme = (scheme: string, span: Span, source: string) =>
  /^https?$/i.test(scheme)
    ? make("scheme", `"${scheme}:" is not followed by //`, span, {
        hint: `write ${scheme}://host/path`,
        // One slash of two may be there.
        fix: replace(`Write ${scheme}://`, { start: 0, end: /^[^:]*:\/*/.exec(source)![0].length }, `${scheme}://`),
      })
    : make("scheme", `a redirect to "${scheme}:" is refused`, span, {
        hint: "http and https are allowed",
        // Other schemes have no host to go to.
        fix: /^(?:h?t{1,3}p?s{0,2}|ftp)$/i.test(scheme)
          ? suggest("Write https://", { start: 0, end: /^[^:]*:\/*/.exec(source)![0].length }, "https://")
          : undefined,
      });

export const protocolRelative = (source: string) =>
  make(
    "protocol-relative",
    `${quote(source)} has a host but no http or https`,
    { start: 0, end: source.match(/^\/+/)![0].length },
    {
      hint: `write ${quote(source.replace(/^\/+/, "https://"))}, or one slash for a path`,
      fix: suggest("Write https://", { start: 0, end: source.match(/^\/+/)![0].length }, "https://"),
    },
  );

export const userinfo = (text: string, span: Span) =>
  make("userinfo", `${quote(text)} before the host is a user name`, span, {
    hint: "remove it: a location is public, and browsers hide it from the reader",
    fix: suggest("Remove it", span, ""),
  });

export const placeholderInHost = (text: string, span: Span) =>
  make("placeholder-in-host", `${quote(text)} would let the client choose the host`, span, {
    hint: "write the host itself; placeholders go after it",
  });

export const host = (text: string, span: Span) =>
  text === ""
    ? make("host", "the URL has no host", span, { hint: "write https://example.com/path" })
    : make("host", `${quote(text)} is not a host`, span, {
        hint: /[^\x00-\x7f]/.test(text)
          ? "write its ASCII form, xn--..."
          : "write a name such as example.com, with a port if needed",
      });

export const starInLocation = (span: Span) =>
  make("star-in-location", `"*" captures in patterns and has no meaning in a location`, span, {
    hint: "write :splat, or \\* for the character",
    fix: replace("Write :splat", span, ":splat"),
  });

export const numberedGroup = (text: string, span: Span) =>
  make("numbered-group", `${quote(text)} is how other tools write a captured group`, span, {
    hint: "write :name or :splat, or %24 for the character itself",
    fix: suggest("Write :splat", span, ":splat"),
  });

function make(code: string, message: string, span: Span, { hint = "", fix }: Remedy): Problem {
  return { code: `route/${code}`, severity: "error", message, hint, span, ...(fix && { fix }) };
}

function replace(title: string, span: Span, text: string): Fix {
  return { title, edits: [{ span, text }] };
}

function suggest(title: string, span: Span, text: string): Fix {
  return { ...replace(title, span, text), isSuggestion: true };
}

function insert(title: string, at: number, text: string): Fix {
  return replace(title, { start: at, end: at }, text);
}

/** A message is one line, whatever is quoted. */
function quote(text: string): string {
  return quoteLines(text.replace(/[\t\n\v\f\r]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))));
}
