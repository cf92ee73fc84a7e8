import { isLoopback } from "../../grammar/address/loopback.ts";
import { quote } from "../../grammar/problem.ts";
import { cleanName, cleanUrl } from "../clean-text.ts";
import { removal } from "../edits.ts";
import { memberOf, type Node, type StringNode } from "../json.ts";
import type { ProblemReport } from "../report.ts";

/** The address of the log service and the project that deployed apps send their entries to. */
export function checkLogDelivery(report: ProblemReport, logs: Node | undefined) {
  const service = memberOf(logs, "service")?.value;
  if (service?.type === "string" && service.value !== "") checkService(report, service);
  checkWay(report, logs);
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

/** Settings of the way to the service that do not go together. */
function checkWay(report: ProblemReport, logs: Node | undefined): void {
  if (logs?.type !== "object") return;
  const [service, delivery, cloudwatch] = ["service", "delivery", "cloudwatch"].map((key) => memberOf(logs, key));
  const way = delivery?.value;
  const usesFirehose = way?.type === "string" && way.value === "firehose";
  const isQuiet = cloudwatch?.value?.type === "boolean" && !cloudwatch.value.value;
  if (usesFirehose && service === undefined) {
    report.warning("config/unused-delivery", delivery!.key.span, `"delivery" does nothing without a "service"`, {
      hint: `write the address of the log service, such as "service": "${EXAMPLE}"`,
      fixes: [removal(logs, delivery!)],
    });
  }
  if (isQuiet && service === undefined) {
    report.warning(
      "config/unused-cloudwatch",
      cloudwatch!.key.span,
      `"cloudwatch": false does nothing without a "service": entries would go nowhere`,
      { hint: `name the log service that gets them as "service"`, fixes: [removal(logs, cloudwatch!)] },
    );
  } else if (isQuiet && usesFirehose) {
    report.warning(
      "config/unused-cloudwatch",
      cloudwatch!.key.span,
      `"cloudwatch": false does nothing with "delivery": "firehose", which takes entries from CloudWatch`,
      { hint: `remove one of the two`, fixes: [removal(logs, cloudwatch!), removal(logs, delivery!)] },
    );
  }
  if (usesFirehose && service?.value?.type === "string") checkPort(report, service.value, way);
}

/** Firehose delivers to https at port 443 alone. An address that is wrong in another way is told so. */
function checkPort(report: ProblemReport, service: StringNode, way: StringNode): void {
  const url = URL.canParse(service.value) ? new URL(service.value) : undefined;
  if (url?.protocol !== "https:" || url.port === "" || isLoopback(url.hostname)) return;
  report.error("config/logs-port", service.span, `Firehose sends to port 443 alone, not to ${url.port}`, {
    hint: `have the service answer at https://${url.hostname}, or write "delivery": "runtime"`,
    fixes: [report.suggest(service, `https://${url.hostname}`), report.suggest(way, "runtime")],
  });
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
