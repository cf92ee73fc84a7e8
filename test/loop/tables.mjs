// Which tests read what no import tells: data, documents, pages, and the commands, which tests start as processes.
// test/loop/choice.test.ts holds these tables against the tree.

/** Reads the rows of every file. */
const OF_VECTORS = ["test/schema/rules.test.ts", "test/language-server/documents.test.ts", "test/loop/record.test.ts"];
const HTTP = [
  "test/runtime/http.test.ts",
  "test/runtime/http-start.test.ts",
  "test/cli/sandbox/function-platform.test.ts",
];
const CONFIG = [
  "test/schema/config.test.ts",
  "test/schema/versions.test.ts",
  "test/schema/mutants.test.ts",
  "test/language-server/language-server.test.ts",
  "test/language-server/editor-features.test.ts",
  "test/language-server/edit-fuzz.test.ts",
  "test/cli/hints.test.ts",
];
const WIRE = ["test/logservice/service-contract.test.ts", "test/logservice/service-reference.test.ts"];

/** Files, or folders with a slash at the end, from the root; every row that fits counts. */
export const DATA = {
  "test/vectors/": OF_VECTORS,
  "test/vectors/argv.json": ["test/cli/cli.test.ts", "test/cli/hints.test.ts"],
  "test/vectors/cloudwatch-filter-patterns.json": ["test/cli/sandbox/filter-patterns.test.ts"],
  "test/vectors/config-faults.json": ["test/slow/fixes.ts"],
  "test/vectors/config.json": CONFIG,
  "test/vectors/editor-completion.json": [
    "test/language-server/language-server.test.ts",
    "test/schema/versions.test.ts",
  ],
  "test/vectors/editor-diagnostics.json": ["test/language-server/language-server.test.ts"],
  "test/vectors/editor-features.json": ["test/language-server/editor-features.test.ts", "test/schema/versions.test.ts"],
  "test/vectors/editor-hover.json": ["test/language-server/language-server.test.ts"],
  "test/vectors/editor-signature.json": ["test/language-server/language-server.test.ts"],
  "test/vectors/editor-typing.json": ["test/language-server/editor-typing.test.ts"],
  "test/vectors/filter-patterns.json": [
    "test/grammar/query/query-filter-patterns.test.ts",
    "test/cli/sandbox/filter-patterns.test.ts",
  ],
  "test/vectors/highlight.json": ["test/grammar/build/highlight.test.ts"],
  "test/vectors/http-absurd.json": HTTP,
  "test/vectors/http-compression.json": HTTP,
  "test/vectors/http-cors.json": HTTP,
  "test/vectors/http-injection.json": HTTP,
  "test/vectors/http-static.json": HTTP,
  "test/vectors/http.json": HTTP,
  "test/vectors/ignore.json": ["test/schema/ignore.test.ts"],
  "test/vectors/lambda.json": ["test/runtime/lambda/lambda-events.test.ts"],
  "test/vectors/logs.json": ["test/cli/logs/logs.test.ts"],
  "test/vectors/mutants.json": ["test/schema/mutants.test.ts"],
  "test/vectors/query-completion.json": ["test/grammar/query/query-completion.test.ts"],
  "test/vectors/query-errors.json": [
    "test/grammar/query/query-errors.test.ts",
    "test/grammar/query/query-completion.test.ts",
    "test/cli/hints.test.ts",
  ],
  "test/vectors/query-explain.json": [
    "test/grammar/query/query-pipes.test.ts",
    "test/grammar/query/query-completion.test.ts",
  ],
  "test/vectors/query-pipes.json": [
    "test/grammar/query/query-pipes.test.ts",
    "test/grammar/query/query-completion.test.ts",
    "test/language-server/editor-stages.test.ts",
  ],
  "test/vectors/query.json": [
    "test/grammar/query/query.test.ts",
    "test/grammar/query/query-completion.test.ts",
    "test/grammar/build/highlight.test.ts",
    "test/cli/hints.test.ts",
  ],
  "test/vectors/route.json": ["test/grammar/route/route.test.ts", "test/cli/hints.test.ts"],
  "test/vectors/scan.json": ["test/cli/logs/scan.test.ts"],
  "test/vectors/ssrf.json": ["test/logservice/notify/notify-guard.test.ts"],
  "test/vectors/stack-templates.json": [
    "test/cli/aws/stack/stack-template.test.ts",
    "test/cli/aws/stack/access-policy.test.ts",
  ],
  "test/vectors/summary.json": [
    "test/grammar/summary/summary.test.ts",
    "test/cli/logs/logs.test.ts",
    "test/logservice/ui/ui-explorer.test.ts",
  ],
  "test/vectors/template.json": ["test/grammar/template/template.test.ts"],
  "test/vectors/units.json": ["test/grammar/units/units.test.ts"],

  "test/apps/crashes/": ["test/runtime/runtime.test.ts", "test/runtime/lambda/lambda-lifecycle.test.ts"],
  // The app of the vectors' rows, too.
  "test/apps/echo/": [
    ...HTTP,
    "test/runtime/runtime.test.ts",
    "test/runtime/static-files.test.ts",
    "test/runtime/lambda/lambda-events.test.ts",
    "test/runtime/lambda/lambda-lifecycle.test.ts",
  ],
  "test/apps/fails/": ["test/slow/failing-apps.ts"],
  "test/apps/languages/": ["test/slow/languages.ts", "test/slow/deploy-lifecycle.ts"],
  "test/apps/processes/": ["test/runtime/runtime.test.ts", "test/runtime/runtime-logs.test.ts"],
  "test/apps/soak/": ["test/slow/soak.ts"],
  "test/apps/streams/": ["test/runtime/runtime.test.ts", "test/runtime/lambda/lambda-lifecycle.test.ts"],

  "test/fixtures/configs/": ["test/language-server/language-server.test.ts"],
  "test/fixtures/explorer-tree.txt": ["test/slow/ui-pages.ts"],
  "test/fixtures/first-store.json": ["test/logservice/events/events-first-version.test.ts"],
  "test/fixtures/localhost.cert.pem": ["test/logservice/service-commands.test.ts", "test/cli/team/team-config.test.ts"],
  "test/fixtures/localhost.key.pem": ["test/logservice/service-commands.test.ts", "test/cli/team/team-config.test.ts"],
  "test/fixtures/logger-lines.json": ["test/cli/logs/loggers.test.ts"],
  "test/fixtures/make-first-store.mjs": ["test/logservice/events/events-first-version.test.ts"],
  "test/fixtures/make-logger-lines.mjs": ["test/cli/logs/loggers.test.ts"],
  "test/fixtures/records-2026-01.sql": ["test/logservice/records/service-projects.test.ts"],
  "test/fixtures/whole.tool.json": [
    "test/language-server/language-server.test.ts",
    "test/schema/versions.test.ts",
    "test/schema/mutants.test.ts",
  ],

  "README.md": [
    ...["test/readme.test.ts", "test/slow/readme.ts", "test/cli/ci-jobs.test.ts", "test/queue.test.ts"],
    "test/cli/aws/cloud-access.test.ts",
  ],
  "test/README.md": ["test/queue.test.ts"],
  "logservice/README.md": ["test/logservice/service-senders.test.ts"],
  "cli/logs/STAGES.md": ["test/grammar/query/query-pipe-words.test.ts", "test/grammar/query/query-pipes.test.ts"],
  "language-server/EDITORS.md": ["test/language-server/documents.test.ts"],
  "vscode-extension/DEVELOPMENT.md": ["test/language-server/documents.test.ts"],
  "logservice/notify/README.md": ["test/logservice/notify/notify-channels.test.ts"],
  "examples/": [
    "test/examples.test.ts",
    "test/schema/mutants.test.ts",
    "test/language-server/language-server.test.ts",
    "test/cli/artifact/artifact.test.ts",
  ],

  "schema/tool.schema.json": ["test/schema/config.test.ts", "test/language-server/language-server.test.ts"],
  "schema/rpc.schema.json": WIRE,
  "schema/generate-rpc.ts": WIRE,
  "cli/output/schemas/": [
    "test/cli/aws/deploy.test.ts",
    "test/cli/aws/domains-metrics.test.ts",
    "test/cli/aws/stack/stack.test.ts",
    "test/cli/sandbox/sandbox.test.ts",
  ],
  "cli/sandbox/cloud/protocol/operations.json": ["test/cli/sandbox/sandbox-model.test.ts"],
  "cli/build/": ["test/cli/bundles.test.ts"],
  "cli/build/sandbox-model.mjs": ["test/cli/sandbox/sandbox-model.test.ts"],
  "cli/build/generated.mjs": ["test/loop/generated.test.ts"],
  "vscode-extension/package.json": ["test/vscode-extension/extension.test.ts"],
  "vscode-extension/languages/": ["test/vscode-extension/extension.test.ts"],
  "vscode-extension/syntaxes/": ["test/grammar/build/highlight.test.ts"],
  "vscode-extension/walkthrough/": ["test/vscode-extension/extension.test.ts"],
  "vscode-extension/CHANGELOG.md": ["test/vscode-extension/extension.test.ts"],
  ".ci/run": ["test/cli/ci-jobs.test.ts"],
  ".github/actions/": ["test/cli/ci-jobs.test.ts"],
  ".github/workflows/": ["test/cli/ci-jobs.test.ts"],
  ".gitlab/validate.yml": ["test/cli/ci-jobs.test.ts"],
  ".pre-commit-hooks.yaml": ["test/cli/ci-jobs.test.ts", "test/slow/ci-jobs.ts"],
  "cli/release/inputs.json": ["test/slow/release.ts"],
  "cli/release/install.sh": [
    "test/cli/release/install-script.test.ts",
    "test/cli/release/upgrade.test.ts",
    "test/cli/ci-jobs.test.ts",
  ],
  "cli/release/licenses/": ["test/cli/release/release-files.test.ts"],
  "cli/release/tool-logs.service": ["test/slow/ci-jobs.ts"],
  "package.json": [
    "test/cli/cli.test.ts",
    "test/language-server/editor-features-protocol.test.ts",
    "test/vscode-extension/extension.test.ts",
    "test/cli/release/release-files.test.ts",
    "test/cli/ci-jobs.test.ts",
  ],
  "package-lock.json": ["test/cli/release/release-files.test.ts", "test/loop/generated.test.ts"],
  "test/clients/emacs.el": ["test/clients/emacs.ts"],
  "test/clients/neovim.lua": ["test/clients/neovim.ts"],
  "test/clients/scenario.json": [
    "test/clients/emacs.ts",
    "test/clients/neovim.ts",
    "test/clients/raw.ts",
    "test/clients/vscode.ts",
  ],
  "test/peers/differences.json": ["test/peers/peers.ts"],
  "test/loop/": ["test/loop/choice.test.ts", "test/loop/generated.test.ts", "test/queue.test.ts", "test/slow/loop.ts"],
  "test/lint/": ["test/lint.test.ts"],
  "test/lint/costs.mjs": ["test/queue.test.ts"],
};

const DEPLOY = ["test/cli/aws/deploy.test.ts", "test/cli/sandbox/sandbox.test.ts"];
const SERVICE = ["test/logservice/service-commands.test.ts"];

/** Tests that start a command, by the name of its file in cli/commands. */
export const COMMANDS = {
  alerts: ["test/cli/alerts/alerts-test.test.ts", "test/cli/alerts/alerts-export.test.ts"],
  build: ["test/cli/artifact/artifact.test.ts", "test/cli/cli.test.ts"],
  completion: ["test/cli/completion/completion.test.ts", "test/cli/cli.test.ts"],
  config: ["test/cli/cli.test.ts"],
  deploy: [...DEPLOY, "test/cli/aws/throttled.test.ts"],
  deploys: DEPLOY,
  docs: ["test/cli/cli.test.ts"],
  domains: ["test/cli/aws/domains-metrics.test.ts"],
  env: ["test/cli/env/env.test.ts"],
  logs: [
    "test/cli/logs/logs.test.ts",
    "test/cli/logs/logs-pipes.test.ts",
    "test/cli/logs/configured-service.test.ts",
    "test/cli/logs/scan.test.ts",
    "test/cli/aws/cloud-logs.test.ts",
  ],
  lsp: ["test/language-server/language-server-protocol.test.ts"],
  metrics: ["test/cli/aws/domains-metrics.test.ts"],
  prune: DEPLOY,
  rollback: DEPLOY,
  run: ["test/cli/cli.test.ts", "test/cli/env/env.test.ts"],
  sandbox: ["test/cli/sandbox/sandbox.test.ts"],
  service: [...SERVICE, "test/cli/cli.test.ts"],
  "service-check": SERVICE,
  "service-people": SERVICE,
  stack: [
    "test/cli/aws/stack/stack.test.ts",
    "test/cli/aws/stack/stack-changes.test.ts",
    "test/cli/alerts/stack-logs.test.ts",
  ],
  start: ["test/cli/start/start.test.ts", "test/cli/windows.test.ts"],
  team: ["test/cli/team/team.test.ts", "test/cli/team/team-answers.test.ts", "test/cli/team/team-config.test.ts"],
  upgrade: ["test/cli/release/upgrade.test.ts"],
  url: DEPLOY,
  validate: ["test/cli/cli.test.ts", "test/schema/validate-formats.test.ts"],
};

const BROWSER = ["test/logservice/ui/ui-clashes.test.ts"];
const PAGES = ["test/logservice/ui/ui-pages.test.ts", "test/logservice/ui/ui-size.test.ts", ...BROWSER];
const EXPLORER = ["test/logservice/ui/ui-explorer.test.ts", "test/logservice/ui/ui-size.test.ts", ...BROWSER];
const ALERTS = ["test/logservice/ui/ui-alerts.test.ts", "test/logservice/ui/ui-edits.test.ts", ...BROWSER];

/** Tests of the folders of logservice/ui: of its functions, or of the pages in a browser. */
export const UI_FOLDERS = {
  alerts: ALERTS,
  app: PAGES,
  audit: PAGES,
  charts: EXPLORER,
  data: [...ALERTS, "test/logservice/ui/ui-explorer.test.ts"],
  explorer: [...EXPLORER, "test/logservice/ui/ui-json.test.ts", "test/logservice/ui/ui-live.test.ts"],
  help: PAGES,
  images: ["test/logservice/ui/ui-size.test.ts"],
  kit: [...PAGES, "test/logservice/ui/ui-explorer.test.ts", "test/logservice/ui/ui-numbers.test.ts"],
  language: [...ALERTS, "test/logservice/ui/ui-explorer.test.ts"],
  notifications: ALERTS,
  projects: PAGES,
  "query-box": EXPLORER,
  rows: EXPLORER,
  searches: PAGES,
  shell: PAGES,
  start: PAGES,
  style: ["test/logservice/ui/ui-colors.test.ts", "test/logservice/ui/ui-size.test.ts", ...BROWSER],
  team: PAGES,
  tokens: PAGES,
};
