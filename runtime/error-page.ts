/**
 * The page for clients that name HTML, where the project has no template of its own. A template itself, so that it
 * shows what a custom one can do; `message`, the proxy's own words, is given to this one alone. Nothing is loaded from
 * elsewhere: a page that reports a failure must not fail. The app's own Content-Security-Policy may refuse the style; the
 * page then reads well without it.
 */
export const ERROR_PAGE = `<!doctype html>
<html lang="en"{{with .Variables.color}} style="--accent: {{.}}"{{end}}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{{.StatusText}}</title>
<style>
:root { color-scheme: light dark; --paper: #fff; --ink: #1d2129; --quiet: #5b6472; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171c; --ink: #eceff4; --quiet: #9aa4b2; } }
html { background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { box-sizing: border-box; width: 100%; max-width: 34rem; padding: 2rem; }
main::before { content: ""; display: block; width: 3rem; height: .25rem; margin-bottom: 1.5rem; border-radius: .25rem; background: var(--accent, #3b6fd4); }
h1 { margin: 0; font-size: clamp(1.75rem, 6vw, 2.5rem); line-height: 1.2; letter-spacing: -.02em; text-wrap: balance; }
p { margin: 1rem 0 0; color: var(--quiet); }
a { color: inherit; text-underline-offset: .2em; }
a:focus-visible { outline: 2px solid var(--accent, #3b6fd4); outline-offset: .2em; }
.message::first-letter { text-transform: uppercase; }
.code { margin: 0 0 .5rem; font-variant-numeric: tabular-nums; }
</style>
</head>
<body>
<main>
<p class="code">Error {{.StatusCode}}</p>
<h1>{{.StatusText}}</h1>
{{if eq .StatusCode 404}}<p>There is nothing at this address. It may have moved, or the link may be wrong.</p>
{{else if .Variables.message}}<p class="message">{{.Variables.message}}.</p>
{{else if ge .StatusCode 500}}<p>Something went wrong on our side. Please try again in a moment.</p>
{{else}}<p>The request could not be answered.</p>
{{end}}{{with .Variables.support_email}}<p>If it keeps happening, write to <a href="mailto:{{.}}">{{.}}</a>.</p>
{{end}}</main>
</body>
</html>
`;
