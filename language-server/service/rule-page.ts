import { ruleHelp, ruleTitle } from "../../schema/rules.ts";

/** The explanation of a code, as a short page of Markdown, for an editor that shows it next to the problem. */
export function rulePage(code: string): string {
  return [
    `# ${code}`,
    `${ruleTitle(code)}.`,
    ruleHelp(code),
    "The setting `tool.diagnostics.severity` changes how severe the editor takes it:",
    `\`\`\`json\n"tool.diagnostics.severity": { "${code}": "information" }\n\`\`\``,
  ].join("\n\n");
}
