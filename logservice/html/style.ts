/**
 * The stylesheet of the pages. Text has a contrast of at least 4.5:1 to what it is on, and the edges of fields and buttons
 * 3:1, in light and dark.
 */
export const PAGES_STYLE = `:root {
  color-scheme: light dark;
  --bg: #f7f7f5; --panel: #fff; --line: #e4e3df; --edge: #8d8a83; --ink: #1d1c1a; --soft: #5d5a54;
  --accent: #2855d9; --on-accent: #fff; --tint: #eaf0ff; --error: #b92525;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #131314; --panel: #1a1a1c; --line: #2c2c2f; --edge: #75726c; --ink: #e9e7e3; --soft: #a9a59e;
    --accent: #86a9ff; --on-accent: #131314; --tint: #1f2739; --error: #ff8078;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; min-height: 100svh; display: grid; place-items: center; padding: 24px 16px;
  background: var(--bg); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
main {
  width: 100%; max-width: 440px; padding: 28px 32px 32px;
  background: var(--panel); border: 1px solid var(--line); border-radius: 12px;
}
.brand { margin: 0 0 20px; color: var(--soft); font-size: 14px; font-weight: 600; }
h1 { margin: 0 0 16px; font-size: 24px; line-height: 1.25; font-weight: 600; }
h2 { margin: 24px 0 8px; font-size: 16px; font-weight: 600; }
p { margin: 0 0 16px; }
main > :last-child { margin-bottom: 0; }
/* Names of others do not turn the order of the text around them. */
strong { font-weight: 600; unicode-bidi: isolate; }
a { color: var(--accent); }
form { margin: 0 0 16px; }
label { display: block; margin: 0 0 6px; font-weight: 600; }
input, button { width: 100%; min-height: 44px; border-radius: 8px; font: inherit; }
input { padding: 8px 12px; background: var(--panel); color: var(--ink); border: 1px solid var(--edge); }
input[aria-invalid] { border-color: var(--error); }
.digits { font: 20px ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; letter-spacing: 0.15em; }
button {
  padding: 8px 16px; background: var(--panel); color: var(--ink); border: 1px solid var(--edge);
  font-weight: 600; cursor: pointer;
}
button + button { margin-top: 12px; }
button:hover { background: var(--tint); }
button.primary { background: var(--accent); color: var(--on-accent); border-color: var(--accent); }
button.primary:hover { filter: brightness(1.08); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.hint { margin-top: 8px; color: var(--soft); font-size: 14px; }
.hint p { margin: 0 0 8px; }
.problem {
  padding: 10px 12px; color: var(--error); border: 1px solid; border-left-width: 4px; border-radius: 8px; font-weight: 600;
}
.or { display: flex; align-items: center; gap: 12px; color: var(--soft); font-size: 14px; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
.command { margin: 0 0 16px; padding: 10px 12px; background: var(--tint); color: var(--ink); border-radius: 8px; white-space: pre-wrap; }
/* A part of a command goes to the next line as a whole. */
.command span { display: inline-block; max-width: 100%; }
code { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; }
.code {
  padding: 16px; text-align: center; background: var(--tint); border-radius: 8px;
  font: 600 40px/1.2 ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; letter-spacing: 0.06em;
}
.half + .half { margin-left: 0.4em; }
/* Read aloud, and neither shown nor copied. */
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); user-select: none; }
.teams { margin: 0 0 24px; padding: 0; list-style: none; }
.teams li { padding: 10px 12px; border-top: 1px solid var(--line); }
.teams li[aria-current] { background: var(--tint); border-radius: 8px; border-top-color: transparent; }
.teams li[aria-current] + li { border-top-color: transparent; }
.name { font-weight: 600; unicode-bidi: isolate; }
.id, .role { color: var(--soft); font-size: 14px; unicode-bidi: isolate; }
.role { display: block; }
@media (max-width: 480px) {
  body { padding: 12px; place-items: start center; }
  main { padding: 20px 20px 24px; }
  .code { padding: 12px 4px; font-size: 34px; }
}
`;
