// Valid configurations with every section, drawn by a seed: what mutants are made of and what edits are made to.
import type { Random } from "./random.ts";

/** The text of a configuration that uses every section, in one of the usual forms. */
export function richConfig(random: Random): string {
  const value = richValue(random);
  return random.chance(0.2) ? JSON.stringify(value) : JSON.stringify(value, null, random.pick([1, 2, 4, "\t"]));
}

function richValue(random: Random): object {
  const { pick, chance } = random;
  const some = <T>(list: readonly T[]) => {
    const chosen = list.filter(() => chance(0.6));
    return chosen.length > 0 ? chosen : [pick(list)];
  };
  const entries = <T>(list: readonly (readonly [string, T])[]) => Object.fromEntries(some(list));
  const functionSettings = () => ({
    memory: pick([256, 512, 1024]),
    accelerate: chance(0.5),
    warm: true,
    warm_count: pick([5, 15, 50]),
    warm_rate: pick(["15m", "1h", "30m"]),
  });
  return {
    name: pick(["orders", "orders-api", "shop"]),
    description: "A shop",
    type: "server",
    profile: "work",
    regions: [pick(["us-west-2", "eu-west-1", "ap-southeast-2", "ca-central-1"])],
    function: {
      ...functionSettings(),
      policy: [{ Sid: "Read", Effect: "Allow", Action: ["s3:GetObject"], Resource: "arn:aws:s3:::bucket/*" }],
      vpc: { subnets: ["subnet-aaaa1111"], security_groups: ["sg-cccc3333"] },
    },
    hooks: {
      build: pick(["npm run build", "make"]),
      clean: ["rm -rf build", "rm -rf cache"],
      predeploy: "npm test",
    },
    static: { dir: "public", prefix: pick(["/assets/", "/static/"]) },
    environment: entries([
      ["API_URL", "https://api.example.com"],
      ["DEBUG", "app:*"],
      ["RETRIES", "3"],
    ]),
    headers: entries([
      ["/*", { "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin" }],
      ["/*.css", { "Cache-Control": "max-age=3600" }],
      ["/users/:id/*", { "X-Robots-Tag": "noindex" }],
    ]),
    error_pages: {
      ...(chance(0.5) && { dir: "pages/errors" }),
      variables: { color: "#228be6", support_email: "help@example.com" },
    },
    inject: {
      head: [
        { type: "style", value: "/site.css" },
        { type: pick(["inline script", "inline style"]), file: "snippets/head.js" },
      ],
      body: [{ type: "literal", value: "<p>Hello</p>" }],
    },
    redirects: entries([
      ["/blog/*", { location: "https://blog.example.com/:splat", status: 301 }],
      ["/old/:section/:page", { location: "/docs/:section/:page", status: 302 }],
      ["/user/:id", { location: "/people/:id" }],
      ["/go", { location: "https://example.org/start?from=app", status: 307, force: true }],
    ]),
    cors: {
      enable: true,
      allowed_origins: ["https://example.com", "https://*.example.org"],
      allowed_methods: some(["GET", "POST", "PUT", "DELETE"]),
      allowed_headers: ["Content-Type", "Authorization"],
      exposed_headers: ["X-Request-Id"],
      max_age: 36000,
      allow_credentials: false,
    },
    proxy: {
      command: "node server.js",
      timeout: pick([10, 15, 25]),
      listen_timeout: 20,
      backoff: { min: 100, max: 500, factor: pick([1.5, 2]), attempts: 3, jitter: chance(0.5) },
    },
    dns: {
      "example.com": [
        { name: "blog.example.com", type: "CNAME", value: ["blog.example.net"], ttl: 300 },
        { name: "example.com", type: "A", value: ["192.0.2.1", "192.0.2.2"] },
        { name: "example.com", type: "MX", value: ["10 mail.example.com"] },
      ],
    },
    stages: {
      development: { proxy: { command: "npm run dev" } },
      staging: { hooks: { build: ["npm ci", "npm run build"] }, function: { memory: 256 } },
      production: { domain: "shop.example.com", zone: "example.com", function: functionSettings() },
    },
    logs: {
      stdout: pick(["debug", "info", "notice"]),
      stderr: pick(["warn", "error"]),
      rules: pick([true, false]),
      service: "https://logs.example.com",
      project: "shop",
      delivery: "runtime",
      cloudwatch: true,
      retention: "30d",
      queries: entries([
        ["failed", "status >= 500 or level >= error"],
        ["numbered", "path ~ /orders\\/\\d+$/ and not status = 200"],
        ["slow", "duration > 1s and not path = /health"],
        ["posts", "method in (POST, PUT) and size > 1mb"],
        ["timeouts", '(message contains "timed out" or message ~ /ETIMEDOUT/) and stage = production'],
      ]),
    },
    actions: [
      { name: "ops", type: "email", emails: ["ops@example.com"] },
      { name: "backend", type: "chat", url: "https://chat.example.com/hooks/1", channel: "#backend" },
      { name: "oncall", type: "sms", numbers: ["+12125550123"] },
    ],
    alerts: [
      { metric: "http.5xx", statistic: "sum", threshold: pick([1, 10]), action: pick(["ops", "backend", "oncall"]) },
      {
        metric: "http.latency",
        statistic: pick(["avg", "max"]),
        operator: ">=",
        threshold: 1000,
        period: pick(["1m", "5m", "1h"]),
        evaluation_periods: 3,
        missing: "breaching",
        action: pick(["ops", "backend"]),
      },
    ],
  };
}
