// Texts that want to be run, or not to be seen. What is run calls __ran, which every page of the tests has.

export interface HostileText {
  readonly text: string;
  /** The text that must be read in the place of characters that would hide. */
  readonly shows: string;
}

const verbatim = (text: string): HostileText => ({ text, shows: text });

export const HOSTILE_TEXTS: Readonly<Record<string, HostileText>> = {
  "a script": verbatim("<script>__ran('a script')</script>"),
  "the end of a script": verbatim("</script><script>__ran('the end of a script')</script>"),
  "the end of a title": verbatim("</title></textarea></style><script>__ran('the end of a title')</script>"),
  "a comment": verbatim("--><script>__ran('a comment')</script><!--"),
  "a handler": verbatim(`"><img src=x onerror="__ran('a handler')">`),
  "a handler of SVG": verbatim("<svg/onload=__ran('svg')>"),
  "a handler in an attribute": verbatim(`' autofocus onfocus=__ran('focus') x='`),
  "a picture of others": verbatim("<img src=http://203.0.113.1/pixel.png>"),
  "a frame": verbatim("<iframe srcdoc='<script>parent.__ran(1)</script>'></iframe>"),
  "a style of others": verbatim("<link rel=stylesheet href=//203.0.113.1/x.css><style>*{display:none}</style>"),
  "a link that runs": verbatim("javascript:__ran('a link')"),
  "a template": verbatim("{{constructor.constructor(\"__ran('a template')\")()}} {% __ran('literal') %}"),
  "quotes and backslashes": verbatim(`a"b\\c'd\`e\\"f`),
  "words of the query language": verbatim(`" or 1 = 1 | count by path`),
  "an override of the order": { text: "invoice\u202egpj.exe", shows: "invoiceU+202Egpj.exe" },
  "isolates of the order": { text: "a\u2066b\u2067c\u2069d", shows: "aU+2066bU+2067cU+2069d" },
  "no width": { text: "ad\u200bmin\ufeff", shows: "adU+200BminU+FEFF" },
  "a soft hyphen": { text: "pay\u00adpal", shows: "payU+00ADpal" },
  tags: { text: "tag\u{e0041}\u{e007f}", shows: "tagU+E0041U+E007F" },
  "colours of a terminal": { text: "\u001b[31mred\u001b[0m\u001b[2K", shows: "␛[31mred␛[0m␛[2K" },
  "control characters": {
    text: "bell\u0007 back\u0008 delete\u007f next\u0085",
    shows: "bell␇ back␈ deleteU+007F nextU+0085",
  },
  "a NUL": { text: "before\u0000after", shows: "before␀after" },
  "a return": { text: "all is well\rnothing is", shows: "all is well␍nothing is" },
  "letters from right to left": verbatim("שגיאה בהזמנה خطأ"),
  "many marks": verbatim(`Z${"\u0351\u036b\u0343\u0317".repeat(8)}algo`),
  "a family": verbatim("👩‍👩‍👧‍👦 🏳️‍🌈"),
  "a formula": verbatim(`=HYPERLINK("http://203.0.113.1/","pay")`),
  "a formula with a plus": verbatim("+1+cmd|' /C calc'!A0"),
  "a formula with an at": verbatim("@SUM(1+1)*cmd"),
};

/** Names that objects of JavaScript have anyway. */
export const PROTOTYPE_NAMES = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf"];

/** The characters that nobody would see: control characters and those that only format, but not the joiner of emoji. */
const UNSEEN =
  "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e" +
  "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]|\\r(?!\\n)";

/**
 * An expression for what is wrong with a page that shows such texts: what would not be seen in its texts, titles and names,
 * elements that are none of ours, addresses that run. In the query box nothing may hide either; other texts that a person
 * types are the person's.
 */
export const HOSTILE_FINDINGS = `(() => {
  const unseen = new RegExp(${JSON.stringify(UNSEEN)}, "u");
  const faults = [];
  const look = (where, text) => {
    if (text && unseen.test(text)) faults.push(where + ": " + JSON.stringify(text.slice(0, 120)));
  };
  look("the title of the window", document.title);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.closest("script, textarea"))
      look(node.parentElement.tagName + "." + node.parentElement.className, node.data);
  }
  for (const box of document.querySelectorAll(".query-text")) look("the query box", box.value);
  for (const element of document.body.querySelectorAll("[title], [aria-label], [alt], [placeholder]"))
    for (const name of ["title", "aria-label", "alt", "placeholder"])
      look(element.tagName + " " + name, element.getAttribute(name));
  for (const element of document.querySelectorAll("img, iframe, object, embed, base, style, body link, body script"))
    if (element.id !== "first") faults.push("an element of others: " + element.outerHTML.slice(0, 120));
  for (const element of document.querySelectorAll("a[href], form[action]"))
    if (new URL(element.href ?? element.action).origin !== location.origin) faults.push("leads away: " + element.outerHTML.slice(0, 160));
  for (const element of document.querySelectorAll("*"))
    for (const { name } of element.attributes)
      if (name.startsWith("on")) faults.push("a handler: " + element.outerHTML.slice(0, 120));
  if ({}.polluted !== undefined) faults.push("every object has: polluted");
  return faults.slice(0, 8);
})()`;
