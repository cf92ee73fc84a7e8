import { memberOf, type Node } from "../json.ts";
import type { ProblemReport } from "../report.ts";
import { DEFAULT_STAGES } from "../stages.ts";
import { largestVariables, MAX_VARIABLES_BYTES, variablesSize, withCommas } from "../variables-size.ts";

/** The variables that a deploy adds; a commit is an abbreviated SHA or a tag, so its length is a guess. */
const PROVIDED = {
  TOOL_COMMIT: "x".repeat(20),
  TOOL_RESPONSE_MODE: "stream",
  AWS_LAMBDA_EXEC_WRAPPER: "/var/task/.tool/bootstrap.cjs",
};

/** Whether all variables together fit into a function. */
export function checkVariablesSize(report: ProblemReport, root: Node) {
  const environment = memberOf(root, "environment");
  if (environment?.value?.type !== "object") return;
  const stages = memberOf(root, "stages")?.value;
  const written = stages?.type === "object" ? stages.members.map(({ key }) => key.value) : [];
  const longest = [...DEFAULT_STAGES, ...written].reduce((a, b) => (b.length > a.length ? b : a));
  const variables = Object.fromEntries(
    environment.value.members.flatMap(({ key, value }) => (value?.type === "string" ? [[key.value, value.value]] : [])),
  );
  const bytes = variablesSize({ ...variables, ...PROVIDED, TOOL_STAGE: longest });
  if (bytes <= MAX_VARIABLES_BYTES) return;
  report.error(
    "config/variables-size",
    environment.key.span,
    `the variables take ${withCommas(bytes)} bytes with their names and the tool's own, and a function has ${withCommas(MAX_VARIABLES_BYTES)} for them`,
    { hint: `move the largest to tool env, or into a file of the project: ${largestVariables(variables)}` },
  );
}
