import { didYouMean } from "../../grammar/did-you-mean.ts";
import { quote } from "../../grammar/problem.ts";
import { formatDuration } from "../../grammar/units/duration.ts";
import { cleanEmail, cleanNumber, cleanUrl } from "../clean-text.ts";
import { addition, removal, removeItem } from "../edits.ts";
import { memberOf, type Node, type ObjectNode, plainValue } from "../json.ts";
import type { Meanings } from "../languages.ts";
import { ACTION_FIELDS } from "../needed-keys.ts";
import { configActionNames, freeName } from "../placeholders.ts";
import type { ProblemReport } from "../report.ts";

/** The app's own metrics (specification, "alerts"). */
const METRICS = ["http.count", "http.latency", "http.4xx", "http.5xx"];

const MINUTE_MS = 60_000;

export function checkActions(report: ProblemReport, root: ObjectNode) {
  const actions = memberOf(root, "actions")?.value;
  const names = new Map<string, ObjectNode>();
  for (const action of objects(actions)) {
    const name = memberOf(action, "name")?.value;
    if (name?.type === "string") {
      const first = names.get(name.value);
      if (first !== undefined) {
        const isSame = JSON.stringify(plainValue(first)) === JSON.stringify(plainValue(action));
        const edits = actions?.type === "array" ? [removeItem(actions, action)] : [];
        report.error("config/duplicate-action", name.span, `a second action is called ${quote(name.value)}`, {
          hint: "alerts refer to actions by name: give it another",
          fixes: [
            isSame ? { title: "Remove this one, which is the same", edits } : undefined,
            report.suggest(name, freeName(configActionNames(root), name.value)),
          ],
        });
      }
      if (first === undefined) names.set(name.value, action);
    }
    checkFields(report, action);
    checkTargets(report, action);
  }
}

function checkFields(report: ProblemReport, action: ObjectNode) {
  const type = memberOf(action, "type")?.value;
  if (type?.type !== "string" || !Object.hasOwn(ACTION_FIELDS, type.value)) return;
  const { needed, optional, example } = ACTION_FIELDS[type.value]!;
  if (memberOf(action, needed) === undefined) {
    // With what another type needs it is one of that type.
    const others = Object.entries(ACTION_FIELDS).filter(([, fields]) => memberOf(action, fields.needed) !== undefined);
    report.error("config/missing-key", type.span, `an action of type ${quote(type.value)} needs "${needed}"`, {
      hint: `add "${needed}": ${example}`,
      fixes: [
        ...others.map(([other]) => report.suggest(type, other)),
        addition(report.source, action, { name: needed, value: example, order: [needed, "channel", "gifs"] }),
      ],
    });
  }
  for (const member of action.members) {
    const { key } = member;
    if (key.value === needed || optional.includes(key.value)) continue;
    const owner = Object.entries(ACTION_FIELDS).find(
      ([, fields]) => fields.needed === key.value || fields.optional.includes(key.value),
    );
    if (owner === undefined) continue;
    report.error(
      "config/wrong-action-field",
      key.span,
      `${quote(key.value)} is for actions of type "${owner[0]}", this one's is ${quote(type.value)}`,
      {
        hint: "remove it, or write an action of its own",
        fix: removal(action, member),
      },
    );
  }
}

function checkTargets(report: ProblemReport, action: ObjectNode) {
  for (const email of items(memberOf(action, "emails")?.value)) {
    if (email.type === "string" && !isEmail(email.value)) {
      report.error("config/email", email.span, `${quote(email.value)} is not an email address`, {
        hint: "write one such as ops@example.com",
        fix: emailFix(report, email),
      });
    }
  }
  for (const number of items(memberOf(action, "numbers")?.value)) {
    if (number.type === "string") phoneProblem(report, number);
  }
  const url = memberOf(action, "url")?.value;
  if (url?.type !== "string" || /^https:\/\/[^\s/?#@]+\.?[^\s]*$/i.test(url.value)) return;
  const insecure = /^http:\/\/[^\s/]/i.test(url.value);
  report.error(
    "config/webhook",
    url.span,
    insecure ? `${quote(url.value)} is not encrypted` : `${quote(url.value)} is not an https URL`,
    {
      hint: insecure ? "write https://" : "write the webhook's address, such as https://chat.example.com/hooks/ops",
      fix: report.suggest(
        url,
        /^[^\s/]*[.:/]/.test(url.value.trim()) ? cleanUrl(url.value) : "https://chat.example.com/hooks/ops",
      ),
    },
  );
}

/** Reports a text that is not a phone number. */
export function phoneProblem(report: ProblemReport, number: Node & { readonly type: "string" }) {
  if (/^\+[1-9]\d{6,14}$/.test(number.value)) return;
  const clean = cleanNumber(number.value);
  // Ten digits are a number of North America without its country.
  const plain = /^\+[2-9]\d{9}$/.test(clean) && !number.value.includes("+") ? `+1${clean.slice(1)}` : clean;
  const isNumber = /^\+[1-9]\d{6,14}$/.test(plain);
  // Without its plus it may lack its country too.
  const isCertain = isNumber && /^\s*(tel:)?(\+|00)/i.test(number.value);
  report.error("config/phone-number", number.span, `${quote(number.value)} is not a phone number in E.164 form`, {
    hint: isCertain ? `write ${plain}` : "write +, country code and number, such as +12125550123",
    fix: isCertain ? report.replace(number, plain) : report.suggest(number, isNumber ? plain : "+12125550123"),
  });
}

export function checkAlerts(report: ProblemReport, alerts: Node | undefined, meanings: Meanings) {
  for (const alert of objects(alerts)) {
    const metric = memberOf(alert, "metric")?.value;
    if (
      metric?.type === "string" &&
      metric.value !== "" &&
      memberOf(alert, "namespace") === undefined &&
      !METRICS.includes(metric.value)
    ) {
      const near =
        didYouMean(metric.value, METRICS) ?? METRICS.find((name) => name === `http.${lastPart(metric.value)}`);
      report.error("config/unknown-metric", metric.span, `${quote(metric.value)} is not a metric of the app`, {
        hint:
          near === undefined
            ? `write one of ${METRICS.join(", ")}, or add "namespace"`
            : `did you mean ${quote(near)}?`,
        fixes:
          near === undefined ? METRICS.map((name) => report.suggest(metric, name)) : [report.replace(metric, near)],
      });
    }
    checkMinutes(report, memberOf(alert, "period")?.value, meanings, "period");
  }
}

/** A duration that the platform counts in whole minutes. */
export function checkMinutes(report: ProblemReport, node: Node | undefined, meanings: Meanings, name: string) {
  const ms = node?.type === "string" ? meanings.durationsMs.get(node) : undefined;
  if (ms === undefined || (ms > 0 && ms % MINUTE_MS === 0)) return;
  const whole = formatDuration(Math.max(1, Math.round(ms / MINUTE_MS)) * MINUTE_MS);
  report.error(
    "config/whole-minutes",
    node!.span,
    `"${name}" is ${quote((node as { value: string }).value)}, not whole minutes`,
    {
      hint: "write a multiple of 1m, such as 1m or 5m",
      fix: report.suggest(node!, whole),
    },
  );
}

/** The part of a metric's name after its prefix, as it is spelled in ours. */
const lastPart = (metric: string) =>
  metric
    .toLowerCase()
    .replace(/^(?:https?[._ -]?)?/, "")
    .trim();

/** The address that a text holds, or one with that text before the `@`. */
export function emailFix(report: ProblemReport, node: Node & { readonly type: "string" }) {
  const plain = cleanEmail(node.value);
  if (isEmail(plain)) return report.replace(node, plain);
  const local = plain
    .replace(/@.*$/s, "")
    .replace(/[^A-Za-z0-9.+_-]|^\.+|\.+$|\.(?=\.)/g, "")
    .slice(0, 64);
  const withDomain = `${plain}.com`;
  return report.suggest(node, isEmail(withDomain) ? withDomain : `${local || "ops"}@example.com`);
}

/** An address that mail can be sent to, as the log service has it: this side of RFC 5321's odder forms. */
export function isEmail(text: string): boolean {
  const [local = "", domain = "", ...rest] = text.split("@");
  if (rest.length > 0 || text.length > 254 || !LOCAL_PART.test(local) || utf8.encode(local).length > 64) return false;
  const labels = domain.split(".");
  return labels.length > 1 && !/^\d+$/.test(labels.at(-1)!) && labels.every((label) => LABEL.test(label));
}

const utf8 = new TextEncoder();
/** Atoms with single dots between them (RFC 5322, 3.2.3); beyond ASCII, letters, marks, digits and symbols (RFC 6532). */
const LOCAL_PART =
  /^(?!\.)(?:(?:^|\.)(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|(?![\u0000-\u007f\ufffd]|\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}\p{S}])+)+$/u;
const LABEL = /^(?!-)[\p{L}\p{M}\p{N}-]{1,63}(?<!-)$/u;

const items = (node: Node | undefined): Node[] => (node?.type === "array" ? node.items : []);
const objects = (node: Node | undefined): ObjectNode[] => items(node).filter((item) => item.type === "object");
