import { quote } from "../../grammar/problem.ts";
import type { Node } from "../json.ts";
import type { Report } from "../report.ts";
import { isSecretName, isSecretText } from "./secrets.ts";

/** Set by the tool for every process (specification, "environment and provided variables"). */
const PROVIDED = ["PORT", "TOOL_STAGE"];

export function checkEnvironment(report: Report, environment: Node | undefined) {
  if (environment?.type !== "object") return;
  for (const { key, value } of environment.members) {
    const name = key.value;
    if (PROVIDED.includes(name)) {
      report.error("config/provided-variable", key.span, `the tool sets ${quote(name)} itself`, {
        hint: name === "PORT" ? "the app listens on $PORT: remove it" : "it holds the stage's name: remove it",
      });
    } else if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      report.error("config/variable-name", key.span, `${quote(name)} is no name of a variable`, {
        hint: "a name is letters, digits and _, not beginning with a digit",
      });
    }
    if (value?.type !== "string") continue;
    if (value.value.includes("\0")) {
      report.error("config/variable-value", value.span, `the value of ${quote(name)} holds a NUL character`, {
        hint: "remove it",
      });
    }
    const byValue = isSecretText(value.value);
    if (!byValue && !isSecretName(name, value.value)) continue;
    // The value is not quoted: this message ends up in logs.
    report.warning("config/secret", byValue ? value.span : key.span, `${quote(name)} looks like a secret`, {
      hint: "tool.json is plain text: keep it with `tool env` instead",
    });
  }
}
