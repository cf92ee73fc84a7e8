import { isLoopback } from "../../grammar/address/loopback.ts";
import { quote } from "../../grammar/problem.ts";
import { cleanName, cleanUrl } from "../clean-text.ts";
import { memberOf, type Node, type StringNode } from "../json.ts";
import type { ProblemReport } from "../report.ts";

/** The address of the log service and the project that deployed apps send their entries to. */
export function checkLogDelivery(report: ProblemReport, logs: Node | undefined) {
  const service = memberOf(logs, "service")?.value;
  if (service?.type === "string" && service.value !== "") checkService(report, service);
  const project = memberOf(logs, "project")?.value;
  if (project?.type === "string" && project.value !== "" && !PROJECT.test(project.value)) {
    report.error("config/logs-project", project.span, `${quote(project.value)} is not the id of a project`, {
      hint: "write letters, digits, _ and -, at most 64: the id is in the project's address in the web UI",
      fix: report.suggest(
        project,
        cleanName(project.value, { others: "_-", digitFirst: true, max: MAX_PROJECT_LENGTH }),
      ),
    });
  }
}

/** As the log service has it. */
const MAX_PROJECT_LENGTH = 64;
const PROJECT = /^[A-Za-z0-9_-]{1,64}$/;

const EXAMPLE = "https://logs.example.com";

/** A token is sent to the origin that it came from, so that there is nothing for a path or a name to say. */
function checkService(report: ProblemReport, node: StringNode): void {
  const error = (message: string, hint: string, by: string) =>
    report.error("config/logs-service", node.span, message, { hint, fix: report.suggest(node, by) });
  const text = node.value;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    const host = cleanUrl(text);
    const isHost = /^[^\s/]*[.:/]/.test(text.trim()) && URL.canParse(host);
    return void error(
      `${quote(text)} is not an https URL`,
      `write the address of the service, such as ${EXAMPLE}`,
      isHost ? new URL(host).origin : EXAMPLE,
    );
  }
  const origin = `https://${url.host}`;
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    // A password may be before the host.
    const shown = quote(url.origin);
    return void error(`${shown} is not encrypted: everybody on the way could read the token`, "write https://", origin);
  }
  if (url.username + url.password !== "" || url.pathname !== "/" || url.search + url.hash !== "") {
    return void error(
      `the address of the log service has more than ${quote(url.origin)}`,
      `write ${url.origin}`,
      url.origin,
    );
  }
  if (!isLoopback(url.hostname)) return;
  report.warning(
    "config/logs-service",
    node.span,
    `${quote(url.origin)} is this machine, which no deployed app reaches`,
    {
      hint: `write the address of the service, such as ${EXAMPLE}; deploys to the sandbox need none`,
      fix: report.suggest(node, EXAMPLE),
    },
  );
}
