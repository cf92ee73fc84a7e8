import { quote } from "../../grammar/problem.ts";

/** The meaning of a header value, for headers whose values are words of their own; nothing for others. */
export function headerValueWords(name: string, value: string): string[] {
  if (name.toLowerCase() !== "cache-control") return [];
  return value.split(",").flatMap((part) => {
    const [, word = "", seconds] = /^\s*([\w-]+)\s*(?:=\s*"?(\d+)"?)?\s*$/.exec(part) ?? [];
    const words = CACHE_WORDS[word.toLowerCase()];
    if (words === undefined) return [];
    return [`\`${part.trim()}\`: ${seconds === undefined ? words : words.replace("N", duration(Number(seconds)))}.`];
  });
}

/** Directives of RFC 9111, section 5.2.2, RFC 8246 and RFC 5861; N is their time. */
const CACHE_WORDS: Readonly<Record<string, string>> = {
  immutable: "it never changes while it is fresh, so that a reload does not ask again",
  "max-age": "it is fresh for N, and nobody asks again meanwhile",
  "must-revalidate": "once it is no longer fresh, it is not used before the server was asked",
  "no-cache": "it is kept, and the server is asked before each use whether it has changed",
  "no-store": "nobody keeps it",
  "no-transform": "proxies on the way leave it as it is",
  private: "only the browser keeps it, no shared cache does",
  public: "shared caches keep it, too",
  "s-maxage": "in shared caches it is fresh for N",
  "stale-if-error": "if the server fails, it is used for another N",
  "stale-while-revalidate": "for another N it is used while a newer one is fetched",
};

function duration(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds >= size && seconds % size === 0) ?? UNITS.at(-1)!;
  const count = seconds / size;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

/** An action of a policy: `s3:Get*`. */
export function policyActionWords(action: string): string[] {
  if (action === "*") return ["Every action of every service."];
  const [, service, name] = /^([a-z0-9-]+):([a-zA-Z0-9*?]+)$/i.exec(action) ?? [];
  if (service === undefined || name === undefined) return [];
  const owner = SERVICES[service.toLowerCase()] ?? service;
  if (name === "*") return [`Every action of ${owner}.`];
  if (/^[^*?]+\*$/.test(name)) return [`Every action of ${owner} that begins with ${quote(name.slice(0, -1))}.`];
  if (/[*?]/.test(name)) return [`Every action of ${owner} that is like ${quote(name)}.`];
  return [`The action ${quote(name)} of ${owner}.`];
}

/** The services that functions most often call, by the prefix of their actions. */
const SERVICES: Readonly<Record<string, string>> = {
  cloudwatch: "CloudWatch (metrics and alarms)",
  dynamodb: "DynamoDB (tables)",
  events: "EventBridge",
  kms: "KMS (keys)",
  lambda: "Lambda (functions)",
  logs: "CloudWatch Logs",
  s3: "S3 (buckets and files)",
  secretsmanager: "Secrets Manager",
  ses: "SES (mail)",
  sns: "SNS (notifications)",
  sqs: "SQS (queues)",
  ssm: "Systems Manager (parameters)",
  states: "Step Functions",
};
