import { addition, removal } from "../edits.ts";
import { memberOf, type Node } from "../json.ts";
import type { Meanings } from "../languages.ts";
import type { Report } from "../report.ts";
import { checkMinutes } from "./alerts.ts";

/** Function settings, of the app or of one stage. */
export function checkFunction(report: Report, settings: Node | undefined, meanings: Meanings) {
  checkMinutes(report, memberOf(settings, "warm_rate")?.value, meanings, "warm_rate");
  const policy = memberOf(settings, "policy")?.value;
  if (policy?.type !== "array") return;
  for (const [i, statement] of policy.items.entries()) {
    for (const name of ["Action", "Resource"]) {
      if (statement.type !== "object") continue;
      const not = memberOf(statement, `Not${name}`);
      const plain = memberOf(statement, name);
      if (plain === undefined && not === undefined) {
        report.error(
          "config/missing-key",
          { start: statement.span.start, end: statement.span.start + 1 },
          `"${name}" is missing in item ${i + 1} of "policy"`,
          {
            hint: name === "Action" ? `add "Action": ["s3:GetObject"]` : `add "Resource": "*"`,
            fix:
              name === "Action"
                ? addition(report.source, statement, "Action", '["s3:GetObject"]', [
                    "Action",
                    "Resource",
                    "NotResource",
                  ])
                : addition(report.source, statement, "Resource", '"*"', ["Resource", "Condition"]),
          },
        );
      } else if (plain !== undefined && not !== undefined) {
        report.error("config/policy", not.key.span, `"${name}" and "Not${name}" stand side by side`, {
          hint: "remove one of them",
          fixes: [removal(statement, not), removal(statement, plain)],
        });
      }
    }
  }
}
