import { quote } from "../../grammar/problem.ts";
import { removal } from "../edits.ts";
import type { Node } from "../json.ts";
import type { ProblemReport } from "../report.ts";
import { variableNameProblem, variableValueProblem, variableWarning } from "../variable-name.ts";
import { isSecretName, isSecretText, secretVariableHint } from "./secrets.ts";

export function checkEnvironment(report: ProblemReport, environment: Node | undefined) {
  if (environment?.type !== "object") return;
  for (const member of environment.members) {
    const { key, value } = member;
    const name = key.value;
    const wrongName = variableNameProblem(name);
    if (wrongName !== undefined) {
      const { code, message, hint, suggestion } = wrongName;
      report.error(code, key.span, message, {
        hint,
        fixes: [
          // The platform gives the app credentials of its own; under another name these would be a secret in plain text.
          code === "config/reserved-variable" && isSecretName(name, value?.type === "string" ? value.value : "")
            ? removal(environment, member)
            : undefined,
          suggestion === undefined ? removal(environment, member) : report.suggest(key, suggestion),
        ],
      });
    }
    const warning = variableWarning(name);
    if (warning !== undefined) {
      report.warning(warning.code, key.span, warning.message, { hint: warning.hint });
    }
    if (value?.type !== "string") continue;
    const wrongValue = variableValueProblem(name, value.value);
    if (wrongValue !== undefined) {
      const { code, message, hint, suggestion } = wrongValue;
      report.error(code, value.span, message, { hint, fix: report.suggest(value, suggestion) });
    }
    const byValue = isSecretText(value.value);
    if (!byValue && !isSecretName(name, value.value)) continue;
    // The value is not quoted: this message ends up in logs.
    report.warning("config/secret", byValue ? value.span : key.span, `${quote(name)} looks like a secret`, {
      // Under a name that the command takes.
      hint: secretVariableHint(wrongName?.suggestion ?? name),
    });
  }
}
