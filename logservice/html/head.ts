import { type Html, html } from "./html.ts";

/** Where the icon of all pages is served. */
export const FAVICON_PATH = "/favicon.svg";

export interface HeadParts {
  readonly title: string;
  /** The path of its stylesheet. */
  readonly stylesheet: string;
  /** Further tags before the title, each with a line end after it. */
  readonly before?: Html | undefined;
  /** Further tags at the end, each with a line end after it. */
  readonly after?: Html | undefined;
}

/** The beginning of every page, up to where its body follows. */
export function pageHead({ title, stylesheet, before, after }: HeadParts): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${before}<title>${title}</title>
<link rel="icon" href="${FAVICON_PATH}" type="image/svg+xml">
<link rel="stylesheet" href="${stylesheet}">
${after}</head>
`;
}
