import type { HtmlContext } from "./ast.ts";

/** Where in a page a piece of text ends. A value that is put there is escaped for that place. */
export interface HtmlState {
  readonly mode: "text" | "comment" | "tag" | "value" | "raw";
  /** The element whose tag or raw text this is, in lower case. */
  readonly element: string;
  /** In a tag the attribute that is being written, in a value the one that has it. */
  readonly attribute: string;
  readonly quote: '"' | "'" | "";
  /** Whether no text of the value, or of an attribute's name, has been written yet: an output may be empty. */
  readonly atStart: boolean;
}

export const PAGE_START: HtmlState = { mode: "text", element: "", attribute: "", quote: "", atStart: false };

// Elements whose content is not markup (HTML, 13.1.2): it ends at their closing tag only.
const RAW = /^(?:script|style|title|textarea)$/;

const URL_ATTRIBUTE = /^(?:href|src|action|formaction|poster|cite|data|background|xlink:href)$/;

/** The state after `text`. Reads as browsers do as far as escaping needs it; broken markup never throws. */
export function advance(state: HtmlState, text: string): HtmlState {
  let now = state;
  let at = 0;
  /** Reads what `pattern` matches here. */
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  while (at < text.length) {
    if (now.mode === "text") {
      take(/[^<]+/y);
      if (take(/<!--/y)) now = { ...PAGE_START, mode: "comment" };
      else {
        const tag = take(/<([/!?]?[a-z][^\s/>]*)/iy);
        if (tag) now = { ...PAGE_START, mode: "tag", element: tag[1]!.toLowerCase() };
        else take(/</y);
      }
    } else if (now.mode === "comment") {
      const end = text.indexOf("-->", at);
      at = end < 0 ? text.length : end + 3;
      if (end >= 0) now = PAGE_START;
    } else if (now.mode === "raw") {
      const close = new RegExp(`</${now.element}(?=[\\s/>])`, "gi");
      const end = take(close);
      if (end) now = { ...PAGE_START, mode: "tag", element: `/${now.element}` };
      else at = text.length;
    } else if (now.mode === "tag") {
      now = advanceTag(now, take);
    } else {
      now = advanceValue(now, take);
    }
  }
  return now;
}

function advanceTag(now: HtmlState, take: (pattern: RegExp) => RegExpExecArray | null): HtmlState {
  if (take(/>/y)) return RAW.test(now.element) ? { ...PAGE_START, mode: "raw", element: now.element } : PAGE_START;
  const value = take(/\s*=\s*(["']?)/y);
  if (value && now.attribute !== "") {
    return { ...now, mode: "value", quote: value[1] as HtmlState["quote"], atStart: true };
  }
  if (value) return now;
  // A space may still be followed by the equals sign, so the attribute is forgotten when the next one starts.
  if (take(/[\s/]+/y)) return { ...now, atStart: true };
  const name = take(/[^\s/>=]+/y)![0].toLowerCase();
  return { ...now, attribute: now.atStart ? name : now.attribute + name, atStart: false };
}

function advanceValue(now: HtmlState, take: (pattern: RegExp) => RegExpExecArray | null): HtmlState {
  const rest = now.quote === '"' ? /[^"]+/y : now.quote === "'" ? /[^']+/y : /[^\s>]+/y;
  if (take(rest)) return { ...now, atStart: false };
  if (now.quote !== "") take(/["']/y);
  return { ...now, mode: "tag", attribute: "", quote: "", atStart: true };
}

/** How a value that is put where `state` ends must be escaped. */
export function htmlContext(state: HtmlState): HtmlContext {
  if (state.mode === "raw") {
    return state.element === "script" || state.element === "style" ? state.element : "text";
  }
  if (state.mode === "tag") return "unquoted";
  if (state.mode !== "value") return "text";
  if (state.attribute.startsWith("on")) return "script";
  if (state.attribute === "style") return "style";
  if (state.atStart && URL_ATTRIBUTE.test(state.attribute)) return state.quote === "" ? "unquoted-url" : "url";
  return state.quote === "" ? "unquoted" : "text";
}

/** The state where branches meet that may leave it in either: whichever is escaped more strictly. */
export function join(a: HtmlState, b: HtmlState): HtmlState {
  return a.atStart ? a : { ...a, atStart: b.atStart };
}

/** Whether two branches of a template leave the page in places that escape alike. */
export function isSamePlace(a: HtmlState, b: HtmlState): boolean {
  return placeOf(a) === placeOf(b);
}

function placeOf(state: HtmlState): string {
  if (state.mode === "text" || state.mode === "comment") return state.mode;
  if (state.mode === "raw") return `raw ${state.element}`;
  // The name of an attribute matters only in its value, but an element whose content is raw matters from its tag on.
  const element = RAW.test(state.element) ? state.element : "";
  return `${state.mode} ${element} ${state.mode === "value" ? `${state.attribute} ${state.quote}` : ""}`;
}
