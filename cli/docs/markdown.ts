import { escapeHtml } from "../../schema/html.ts";

/**
 * Renders the subset of Markdown that descriptions of the schema use as HTML: paragraphs, lists, fenced code, tables,
 * `code`, **bold**, *emphasis*, [links](https://...). Everything else is text.
 */
export function markdownToHtml(markdown: string): string {
  const html: string[] = [];
  const blocks = markdown.trim().split(/\n{2,}(?=(?:[^`]|`(?!``)|```[\s\S]*?```)*$)/);
  for (const block of blocks) {
    const fence = /^```\w*\n([\s\S]*?)\n?```$/.exec(block);
    const lines = block.split("\n");
    if (fence !== null) html.push(`<pre><code>${escapeHtml(fence[1]!)}</code></pre>`);
    else if (lines.every((line) => /^\s*[-*] /.test(line))) {
      html.push(`<ul>${lines.map((line) => `<li>${inline(line.replace(/^\s*[-*] /, ""))}</li>`).join("")}</ul>`);
    } else if (lines.length > 2 && /^\|[\s:|-]+\|$/.test(lines[1]!)) {
      const [head, , ...rows] = lines.map((line) => line.replace(/^\||\|$/g, "").split("|"));
      const row = (cells: readonly string[], tag: string) =>
        `<tr>${cells.map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`).join("")}</tr>`;
      html.push(`<table>${row(head!, "th")}${rows.map((cells) => row(cells, "td")).join("")}</table>`);
    } else html.push(`<p>${inline(lines.join(" "))}</p>`);
  }
  return html.join("\n");
}

function inline(text: string): string {
  // Code first, as nothing inside it is markup.
  return text
    .split(/(`[^`]+`)/)
    .map((part) =>
      /^`[^`]+`$/.test(part)
        ? `<code>${escapeHtml(part.slice(1, -1))}</code>`
        : escapeHtml(part)
            .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
            .replace(/(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])/g, "<em>$1</em>")
            .replace(/\[([^\]]+)\]\((https:[^)\s]+|#[\w.-]+)\)/g, '<a href="$2">$1</a>'),
    )
    .join("");
}
