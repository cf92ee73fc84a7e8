import { escapeHtml } from "../../schema/html.ts";

/**
 * Markup from a template: html`<p>${name}</p>`. Every value is escaped, unless it is markup of this function. `undefined`
 * and `false` become nothing. A value may be an element's content, or the whole of an attribute in quotes.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(textOf)));
}

export type HtmlValue = string | number | Html | readonly Html[] | false | undefined;

/** Markup that is safe to send. Only `html` makes it: a class, so that nothing that was parsed from JSON passes for it. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

function textOf(value: HtmlValue): string {
  if (value === undefined || value === false) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "object") return value.map(textOf).join("");
  return escapeHtml(String(value)).replaceAll("'", "&#39;");
}
