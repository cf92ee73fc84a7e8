import { type Html, html } from "./html.ts";

export interface FormParts {
  /** A path of this service. */
  readonly action: string;
  /** Proves that the form comes from a page of ours. */
  readonly form: string;
  readonly content: Html;
}

/** A form that is sent by POST with its token. */
export function postForm({ action, form, content }: FormParts): Html {
  return html`<form method="post" action="${ownPath(action)}">
<input type="hidden" name="form" value="${form}">
${content}
</form>`;
}

/**
 * A path of this service, for an attribute that leads somewhere. Anything else is a bug of the caller: escaping does not
 * keep `javascript:` or another origin out.
 */
export function ownPath(path: string): string {
  if (!/^\/(?![/\\])[^\s\\\p{C}]*$/u.test(path))
    throw new TypeError(`not a path of this service: ${JSON.stringify(path)}`);
  return path;
}

/** The problem of the form or one of its fields, announced at once. The field names it by aria-describedby. */
export function problemHtml(problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p class="problem" role="alert" id="problem">${problem}</p>\n`;
}

/** The attributes of a field whose descriptions have these ids; with a problem, that comes first. */
export function describedBy(problem: string | undefined, ...ids: readonly string[]): Html {
  const all = problem === undefined ? ids : ["problem", ...ids];
  const described = all.length > 0 && html` aria-describedby="${all.join(" ")}"`;
  return html`${described}${problem !== undefined && html` aria-invalid="true"`}`;
}
