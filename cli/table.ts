// The map of the command line: every command with its words, its flags and its examples. Help, completion and the reader
// of arguments are made from it, and so are the types of the options that a command gets: `Options<"logs">`. It is data
// alone and imports next to nothing at run time, as every start of the command loads it.
import { type Command, type CommandTable, describeRow, type NameOf, type OptionsOf, readUsage } from "./command-row.ts";
import { DEFAULT_STAGE } from "./default-stage.ts";

/** The name of all stages together in commands for variables. */
const ALL_STAGES = "all";

const SANDBOX = "Use the sandbox on this machine, not the cloud (or set TOOL_SANDBOX=1)";

const SET_VARIABLES = {
  "-s, --stage <stage>": { about: "Stage to set them for", default: ALL_STAGES },
  "-c, --clear": "Do not encrypt: env ls shows the values",
  "-d, --desc <text>": "Describe the variable",
  "--file <path>": "Set the variables of a .env or JSON file; - for stdin",
  "--sandbox": SANDBOX,
} as const;

const LIST_VARIABLES = {
  "-s, --stage <stage>": "Only what this stage has, with what is set for all",
  "--sandbox": SANDBOX,
} as const;

/** Where the records of a log service are, if not in its data directory. */
const RECORDS_PLACE = {
  "--records <url>": "Database of the records, postgres://user@host/name (or set TOOL_RECORDS)",
  "--records-password <file>": "File with its password (or set TOOL_RECORDS_PASSWORD)",
  "--key-file <file>": "Key of the secrets in it (default: secrets.key of the data directory)",
} as const;

/**
 * The commands by their usage. A flag is spelled as help shows it: `--open` is a switch, `--stage <stage>` takes a value,
 * `--file <path...>` takes a value and may be repeated, `--no-build` switches off what is on.
 */
export const TABLE = {
  "deploy [stage]": {
    summary: "Build and deploy to a stage (default: staging)",
    flags: {
      "--no-build": "Deploy the files as they are, without running the build hooks",
      "--no-check": "Activate the new version without checking first that its app starts",
      "--sandbox": SANDBOX,
    },
    examples: [
      "                                 # the same as tool deploy staging",
      "production                       # the same as tool deploy production",
      "deploy --sandbox                 # on this machine, without an account",
      "deploy staging --verbose         # lists excluded files and why",
      "deploy production --format json",
    ],
  },
  "rollback [version]": {
    summary: "Restore the previous deployment, or the one of a commit, tag or version",
    isPro: true,
    flags: {
      "-s, --stage <stage>": { about: "Stage to roll back", default: DEFAULT_STAGE },
      "--sandbox": SANDBOX,
    },
    examples: ["rollback                         # run again to return", "rollback v1.4.0 --stage production"],
  },
  deploys: {
    summary: "List the deployments that are kept, newest first",
    isPro: true,
    flags: {
      "-s, --stage <stage>": "Only those of this stage",
      "--sandbox": SANDBOX,
    },
    examples: ["deploys", "deploys --stage production --format json"],
  },
  url: {
    summary: "Print a stage's URL",
    flags: {
      "-s, --stage <stage>": { about: "Stage", default: DEFAULT_STAGE },
      "-o, --open": "Open the URL in the browser",
      "-c, --copy": "Copy the URL to the clipboard",
      "--sandbox": SANDBOX,
    },
    examples: ["url --open", "$ curl $(tool url --stage production)"],
  },
  prune: {
    summary: "Remove old deployments of a stage",
    flags: {
      "-s, --stage <stage>": { about: "Stage", default: DEFAULT_STAGE },
      "-r, --retain <number>": {
        about: "Deployments to keep",
        default: 30,
        number: { from: 0, of: "deployments", example: 30 },
      },
      "--sandbox": SANDBOX,
    },
    examples: ["prune --stage production --retain 10"],
  },
  stack: {
    summary: "Show stages, endpoints, certificates and name servers",
    flags: {
      "--sandbox": SANDBOX,
    },
    examples: ["stack"],
  },
  "stack status": {
    summary: "Same as stack",
    flags: {
      "--sandbox": SANDBOX,
    },
    examples: ["stack status --format json"],
  },
  "stack plan": {
    summary: "Show what stack apply would change or replace",
    flags: {
      "--sandbox": SANDBOX,
    },
    examples: ["stack plan"],
  },
  "stack apply": {
    summary: "Create or change stages, domains, warming, alerts and searches to match tool.json",
    flags: {
      "-y, --yes": "Do not ask before removing or replacing resources",
      "--sandbox": SANDBOX,
    },
    examples: ["stack apply"],
  },
  "stack delete": {
    summary: "Remove everything that deploying created, for all stages",
    flags: {
      "-y, --yes": "Do not ask",
      "--logs": "Remove the logs too",
      "--env": "Remove the variables of tool env too",
      "--sandbox": SANDBOX,
    },
    examples: ["stack delete", "stack delete --yes --logs --env"],
  },
  "stack rotate-logs-token": {
    summary: "Make a new token by which a stage sends entries to the log service",
    flags: {
      "-s, --stage <stage>": { about: "Stage", default: DEFAULT_STAGE },
      "--now": "End the old token at once: versions that have it send nothing any more",
    },
    examples: ["stack rotate-logs-token --stage production"],
  },
  "stack policy": {
    summary: "Print the access policy that deploying needs",
    flags: {
      "--firehose": "Print the second policy, which logs.delivery firehose needs beside it",
    },
    examples: ["stack policy > policy.json", "stack policy --firehose > firehose-policy.json"],
  },
  metrics: {
    summary: "Show requests, durations, errors and estimated cost of a stage",
    flags: {
      "-s, --stage <stage>": { about: "Stage", default: DEFAULT_STAGE },
      "-S, --since <duration>": "Period to show (default: 1M, 30 days)",
      "--sandbox": SANDBOX,
    },
    examples: ["metrics --stage production --since 7d"],
  },
  "domains ls": {
    summary: "List the account's domains",
    flags: {
      "--sandbox": SANDBOX,
    },
    examples: ["domains ls"],
  },
  "domains check <domain>": {
    summary: "Check a domain's availability and price",
    flags: {
      "--sandbox": SANDBOX,
    },
    examples: ["domains check example.dev"],
  },
  "domains buy": {
    summary: "Buy a domain, interactively, with private registration",
    flags: {
      "--sandbox": SANDBOX,
    },
    examples: ["domains buy"],
  },
  env: {
    summary: "List variables, their last change, values that are not encrypted, and stages to deploy again",
    isPro: true,
    flags: LIST_VARIABLES,
    examples: ["env", "env --stage production --format json"],
  },
  "env add [variable...]": {
    summary: "Set variables of the app, encrypted: NAME VALUE, NAME=VALUE or NAME -",
    isPro: true,
    flags: SET_VARIABLES,
    examples: [
      "$ openssl rand -hex 24 | tool env add API_KEY -    # or typed, without the pipe",
      "env add DB_URL=postgres://db/app --stage production",
      "env add LEVEL=info REGION=eu --clear",
      "env add LEVEL debug --clear --stage staging --desc 'How much to log'",
      "env add --file .env.production --stage production",
      "$ tool env add TLS_KEY - --desc 'Client key of the bank' < key.pem",
    ],
  },
  "env set [variable...]": {
    summary: "Same as env add",
    isPro: true,
    flags: SET_VARIABLES,
    examples: ["env set LEVEL debug --clear --stage staging"],
  },
  "env get <variable>": {
    summary: "Print a variable's value, and nothing else",
    isPro: true,
    flags: {
      "-s, --stage <stage>": { about: "Stage; what is set for all stages is included", default: DEFAULT_STAGE },
      "--sandbox": SANDBOX,
    },
    examples: ["env get DB_URL --stage production", "env get TLS_KEY > key.pem"],
  },
  "env ls": {
    summary: "Same as env",
    isPro: true,
    flags: LIST_VARIABLES,
    examples: ["env ls --stage production"],
  },
  "env rm <variable> [more...]": {
    summary: "Remove variables",
    isPro: true,
    flags: {
      "-s, --stage <stage>": { about: "Stage to remove them from", default: ALL_STAGES },
      "--sandbox": SANDBOX,
    },
    examples: ["env rm API_KEY", "env rm LEVEL --stage staging"],
  },
  "env export": {
    summary: "Print a stage's variables as assignments of sh, bash, zsh and fish",
    isPro: true,
    flags: {
      "-s, --stage <stage>": { about: "Stage; what is set for all stages is included", default: DEFAULT_STAGE },
      "--sandbox": SANDBOX,
    },
    examples: [
      '$ eval "$(tool env export --stage production)"',
      "$ tool env export --format json > variables.json  # env add --file reads it",
    ],
  },
  start: {
    summary: "Run the app locally, behind the same proxy as when deployed",
    flags: {
      "-c, --command <command>": "Start the server with this command",
      "-o, --open": "Open the browser when the app is ready",
      "--address <address>": "Address to listen on (default: :3000)",
      "--logs-url <url>": "Also send the log to this log service, with the token of TOOL_LOGS_TOKEN or tool team",
      "--no-env": "Run without the variables of tool env",
      "--sandbox": "Take the variables of tool env from the sandbox (or set TOOL_SANDBOX=1)",
    },
    examples: [
      "start",
      "start --address 127.0.0.1:8080 --open",
      "start --command 'node --watch app.js'",
      "start --logs-url http://localhost:5000",
    ],
  },
  "logs [query]": {
    summary: "Search or follow the logs",
    flags: {
      "-f, --follow": "Keep printing new entries",
      "--live": "With -f: stream immediately; drops entries above 500/s",
      "-S, --since <duration>": "Start: a duration ago or a time (default: 1d; files: all)",
      "--until <duration>": "End: a duration ago or a time",
      "-e, --expand": "Print one field per line",
      "-n, --limit <number>": {
        about: "Maximum number of entries: the newest; from files and with -f, the first",
        number: { from: 1, of: "entries", example: 20 },
      },
      "--count": "Print only the number of entries",
      "--file <path...>": "Read a plain or gzip file, a quoted glob, or - for stdin",
      "--service <url>": "Query this log service, with the token of TOOL_LOGS_TOKEN or tool team",
      "--project <id>": "Project on the service (default: the name in tool.json)",
      "--cloud": "Ask CloudWatch, not the log service of tool.json",
      "--sandbox": SANDBOX,
    },
    examples: [
      "logs error                       # responses with status 5xx too",
      "logs 'status >= 400 duration > 1s'",
      "logs 'method in (POST, PUT) and not path = /health'",
      "logs 'message contains \"timeout\" or user.email = *@example.com'",
      "logs -f -S 15m 'production error'",
      "logs @slow                       # a query of logs.queries in tool.json",
      "logs --file 'logs/*.ndjson*' --format json 'size > 1mb'",
      "logs --count -S 1h 'status >= 500'",
      "logs --service http://localhost:5000 -f 'status >= 500'",
      "logs --cloud -S 1h error         # not the service of tool.json",
      "logs 'status >= 500 | count by path | limit 10'",
      "logs '@slow | top 5 path'        # a saved query, then a stage",
      "logs '| stats count(), p50(duration), p99(duration) by path'",
      "logs -S 1d '| timeseries 1h count() by level'",
      "logs -f '| count by status'      # the rows so far, once a second",
      "logs '| count by path | where count > 100 | sort path'",
      "logs '| stats distinct(user.id) as users, max(size) by method'",
      "logs 'path = /login | stats first(message), last(message) by user.id'",
      "logs '| where duration > 1s | sort duration desc | limit 20'",
      "logs '| unique user.email, path | fields path, user.email'",
      "logs --service http://localhost:5000 -S 1h '| stats rate() by service'",
    ],
  },
  "alerts export": {
    summary: "Print the alerts, notifications and searches of a log service as JSON for tool.json",
    flags: {
      "--service <url>": "The log service, if not that of tool.json, with the token of TOOL_LOGS_TOKEN or tool team",
      "--project <id>": "Project on the service (default: the name in tool.json)",
    },
    examples: ["alerts export --service https://logs.example.com > ops/alerts.json"],
  },
  "alerts test [name...]": {
    summary: "Run the tests of alerts in tool.json, or replay alerts over a log",
    flags: {
      "-S, --since <duration>": "Replay over the log from a duration ago, or a time",
      "--until <duration>": "Replay up to a duration ago, or a time",
      "--file <path...>": "Replay over files of entries",
      "--service <url>": "Replay over this log service",
      "--project <id>": "Project on the service (default: the name in tool.json)",
      "--cloud": "Replay over CloudWatch, not the log service of tool.json",
      "--sandbox": "Replay over the log of the app in the sandbox (or set TOOL_SANDBOX=1)",
    },
    examples: [
      "alerts test                      # runs the tests beside the alerts",
      "alerts test errors --since 7d    # when it would have been triggered",
      "alerts test --file spike.ndjson --format json",
    ],
  },
  sandbox: {
    summary: "Show the sandbox: the platform on this machine, and its apps",
    examples: ["sandbox", "deploy --sandbox                 # works on it"],
  },
  "sandbox status": {
    summary: "Same as sandbox",
    examples: ["sandbox status --format json"],
  },
  "sandbox start": {
    summary: "Start the sandbox; commands with --sandbox do it by themselves",
    examples: ["sandbox start"],
  },
  "sandbox stop": {
    summary: "Stop the sandbox; what is deployed to it stays",
    examples: ["sandbox stop"],
  },
  "sandbox mail": {
    summary: "Show the mails and text messages that alerts sent",
    examples: ["sandbox mail", "sandbox mail --format json"],
  },
  "sandbox reset": {
    summary: "Remove everything that was deployed to the sandbox",
    flags: {
      "-y, --yes": "Do not ask",
    },
    examples: ["sandbox reset --yes"],
  },
  build: {
    summary: "Write what a deploy uploads to out.zip, or to stdout",
    flags: {
      "-s, --stage <stage>": { about: "Stage to build for", default: DEFAULT_STAGE },
      "--size [folders]": "List the files by size instead, largest first, or the folders",
      "--no-env": "Run without the variables of tool env",
      "--sandbox": "Take the variables of tool env from the sandbox (or set TOOL_SANDBOX=1)",
    },
    examples: [
      "build",
      "build --stage production > ../app.zip",
      "build --size                      # every file, largest first",
      "build --size=folders              # --verbose shows every file",
      "build --verbose                   # lists excluded files and why",
    ],
  },
  config: {
    summary: "Print tool.json with all defaults filled in",
    flags: {
      "--schema": "Print the JSON Schema of tool.json instead",
    },
    examples: ["config", "config --schema > tool.schema.json"],
  },
  "validate [file...]": {
    summary: "Check tool.json and report every problem",
    flags: {
      "--fix": "Migrate the older dialect and apply safe fixes",
      "--strict": "Treat warnings as errors",
      "--ignore <rule...>": "Leave out warnings of a rule, such as config/secret or query/*",
      "--traffic <duration>": "Warn of redirects that no request hit for so long, such as 30d",
    },
    examples: [
      "validate",
      "validate .                          # all tool.json and *.logq below",
      "validate --strict --format json",
      "validate --fix apps/*/tool.json",
      "validate --format github           # annotates pull requests",
      "validate --format gitlab > gl-code-quality-report.json",
      "validate --format sarif > problems.sarif",
      "validate --ignore config/secret",
      "validate --traffic 30d",
      "validate - < tool.json",
    ],
  },
  "run <hook>": {
    summary: "Run a hook: prebuild, build, postbuild, predeploy, postdeploy or clean",
    flags: {
      "-s, --stage <stage>": { about: "Stage whose hook to run", default: DEFAULT_STAGE },
      "--no-env": "Run without the variables of tool env",
      "--sandbox": "Take the variables of tool env from the sandbox (or set TOOL_SANDBOX=1)",
    },
    examples: ["run build", "run build --stage production"],
  },
  lsp: {
    summary: "Start the language server for editors",
    flags: {
      "--stdio": "Communicate over stdin and stdout",
      "--node-ipc": "Communicate over the IPC channel of a parent Node process",
      "--look-up": "Answer one question of an editor about the cloud or the log: JSON on stdin and stdout",
      "--clientProcessId <id>": "Exit when process <id> exits; editors set this",
    },
    examples: ["lsp --stdio"],
  },
  "service init": {
    summary: "Create the data directory of a log service and its first token",
    flags: {
      "--data <dir>": "Data directory to create",
      "--team <name>": "Name of the first team (default: default, or what a terminal is asked)",
      "--owner <email>": "The first person: prints a link that signs them in once",
      "--public-url <url>": "Where people will reach it (or set TOOL_PUBLIC_URL)",
      ...RECORDS_PLACE,
    },
    examples: [
      "service init --data /var/lib/logs",
      "service init --data people --owner ann@example.com",
      "service init --data shared --records postgres://tool@localhost/logs",
      'service init --data logs --format json   # {"token": ...}',
    ],
  },
  "service start": {
    summary: "Run the log service",
    flags: {
      "--data <dir>": "Data directory",
      "--address <address>": "Address to listen on (default: :5000); other than loopback needs TLS",
      "--tls-cert <file>": "TLS certificate (PEM)",
      "--tls-key <file>": "TLS private key (PEM)",
      "--public-url <url>": "Where people reach it, for signing in (or set TOOL_PUBLIC_URL)",
      "--sign-up <who>": "Who may come in without an invite: closed, domain:<domain>, open (default: closed)",
      "--smtp <url>": "Mail server, smtp://host:587 or smtps://host (or set TOOL_SMTP_URL)",
      "--mail-from <sender>": "Sender of mails (default: logs@ and the public host)",
      "--oidc-issuer <url>": "OpenID provider to sign in with; its secret is in TOOL_OIDC_SECRET",
      "--oidc-client <id>": "Id of this service at the provider",
      "--oidc-name <name>": "What people call the provider",
      "--oidc-domain <domain...>": "Domain whose addresses the provider gives out: believed without a mail",
      "--hsts <time>": "How long browsers that came by https use nothing else; 0s for not at all (default: 1d)",
      "--trust-proxy <network...>": "Proxy whose X-Forwarded-For counts, such as 10.0.0.0/8",
      "--sms <file>": "Provider of text messages for alerts, as JSON (or set TOOL_SMS)",
      "--pagerduty-url <url>": "Where alerts reach PagerDuty, if not https://events.pagerduty.com",
      "--allow-private-targets": "Let alerts call private addresses and plain http",
      "--billing <provider>":
        "Who is paid: none, stripe (default: none); secrets: TOOL_STRIPE_KEY, TOOL_STRIPE_WEBHOOK_SECRET",
      "--stripe-price <id>": "Price at Stripe that teams subscribe to",
      "--stripe-url <url>": "Address of Stripe's API, for tests",
      "--statement-key <file>": "Ed25519 key (PEM) that signs which edition a team may use",
      ...RECORDS_PLACE,
    },
    examples: [
      "service start --data /var/lib/logs",
      "service start --data d --public-url https://logs.example.com",
      "service start --data d --address 0.0.0.0:443 --tls-cert c --tls-key k",
    ],
  },
  "service token <do> [id]": {
    summary: "Create, list or remove tokens: add, ls, rm",
    flags: {
      "--data <dir>": "Data directory",
      "--scope <scope...>": "For add: a scope of the token, such as events:write, or all",
      "--description <text>": "For add: where the token is used",
      "--expires <time>": "For add: when the token ends, such as 30d (default: never)",
      "--team <team>": "For add: the team of the token, if there are several",
      ...RECORDS_PLACE,
    },
    examples: [
      "service token add --data logs --scope events:write --description web",
      "service token add --data logs --scope all --expires 30d",
      "service token ls --data logs",
      "service token rm tok_4h7 --data logs",
    ],
  },
  "service owner <do> <email>": {
    summary: "Make a person an owner of a team: add",
    flags: {
      "--data <dir>": "Data directory",
      "--team <team>": "Team, if there are several",
      "--public-url <url>": "Where people reach the service, if it has not run yet",
      ...RECORDS_PLACE,
    },
    examples: ["service owner add ann@example.com --data logs"],
  },
  "service sign-in <email>": {
    summary: "Print links that sign a person in, for a service that sends no mails",
    flags: {
      "--data <dir>": "Data directory",
      "--public-url <url>": "Where people reach the service, if it has not run yet",
      ...RECORDS_PLACE,
    },
    examples: ["service sign-in ann@example.com --data logs"],
  },
  "service check": {
    summary: "Verify a log service's files and report damaged or missing ones",
    flags: {
      "--data <dir>": "Data directory",
      "--repair": "Rebuild manifests and summaries, and quarantine damaged files",
      "--accept-loss <id...>": "Accept this loss: answers stop reporting it",
      "--backup <dir>": "Verify a backup instead",
      ...RECORDS_PLACE,
    },
    examples: [
      "service check --data logs",
      "service check --data logs --repair",
      "service check --backup /backup/2026-01-31",
    ],
  },
  "service backup <to>": {
    summary: "Back up a log service into a new folder; it may be running",
    flags: {
      "--data <dir>": "Data directory",
    },
    examples: ["service backup --data logs /backup/2026-01-31"],
  },
  "service restore <from>": {
    summary: "Create a data directory from a backup",
    flags: {
      "--data <dir>": "Data directory to create",
    },
    examples: ["service restore --data logs /backup/2026-01-31"],
  },
  "service migrate": {
    summary: "Copy the records of a data directory into PostgreSQL",
    flags: {
      "--from <dir>": "Data directory; stop its service first",
      ...RECORDS_PLACE,
    },
    examples: ["service migrate --from logs --records postgres://tool@localhost/logs"],
  },
  team: {
    summary: "Show who is signed in where, as which member of which team",
    examples: ["team"],
  },
  "team status": {
    summary: "Same as team",
    examples: ["team status --format json"],
  },
  "team login": {
    summary: "Sign in to a log service: a mail's link confirms it",
    flags: {
      "--email <address>": "Address to sign in with",
      "--team <team>": "Team to act for, if you are in several",
      "--url <url>": "Log service (default: TOOL_ACCOUNT_URL, else that of the current team)",
    },
    examples: [
      "team login --email ann@example.com --url https://logs.example.com",
      "team login --email ann@example.com --team acme",
    ],
  },
  "team switch [team]": {
    summary: "Choose the team that commands act for, among those signed in to",
    examples: ["team switch acme"],
  },
  "team logout": {
    summary: "Sign out of a team on this machine",
    flags: {
      "--team <team>": "Team to sign out of (default: the current one)",
    },
    examples: ["team logout", "team logout --team acme"],
  },
  "team add <name>": {
    summary: "Add a team of your own, on the log service of the current team",
    isPro: true,
    flags: {
      "--id <id>": "The team's id (default: made from the name)",
    },
    examples: ["team add 'Night shift' --id night"],
  },
  "team subscribe": {
    summary: "Get Pro for the team: opens the page on which it is paid, and waits for it",
    examples: ["team subscribe"],
  },
  "team unsubscribe": {
    summary: "End the team's subscription after the period that is paid",
    flags: {
      "-y, --yes": "Do not ask",
    },
    examples: ["team unsubscribe"],
  },
  "team card change": {
    summary: "Open the page on which the card of the subscription is changed",
    examples: ["team card change"],
  },
  "team members ls": {
    summary: "List the members of the team, and who is invited",
    examples: ["team members ls", "team members ls --format json"],
  },
  "team members add <address>": {
    summary: "Invite a person; prints the link if the service sends no mails",
    isPro: true,
    flags: {
      "--role <role>": "member, admin or owner (default: as invited before, else member)",
    },
    examples: ["team members add ben@example.com", "team members add eve@example.com --role admin"],
  },
  "team members role <address> <role>": {
    summary: "Make a member a member, admin or owner",
    examples: ["team members role ben@example.com admin"],
  },
  "team members link <address>": {
    summary: "Print a link that signs a member in once, if the service sends no mails",
    examples: ["team members link ben@example.com"],
  },
  "team members rm <address>": {
    summary: "Remove a member, or take an invite back",
    flags: {
      "--tokens": "Remove the API and CI tokens that the person made, too, without asking",
    },
    examples: ["team members rm ben@example.com", "team members rm eve@example.com --tokens"],
  },
  "team ci": {
    summary: "Make a token for CI and print the value of TOOL_CONFIG for it",
    flags: {
      "--name <name>": "Where it is used (default: ci and the date)",
      "--apply": "Let it run tool stack apply: it may change searches, alerts and notifications",
      "-c, --copy": "Copy it to the clipboard instead",
    },
    examples: ["team ci --copy", "$ tool team ci --name github | gh secret set TOOL_CONFIG"],
  },
  "team ci ls": {
    summary: "List the CI tokens of the team",
    examples: ["team ci ls"],
  },
  "team ci rm <id>": {
    summary: "Revoke a CI token",
    examples: ["team ci rm tok_4h7"],
  },
  docs: {
    summary: "Open the reference for tool.json",
    examples: ["docs"],
  },
  "docs service": {
    summary: "Open the API reference of the log service",
    examples: ["docs service"],
  },
  "completion <shell>": {
    summary: "Print a completion script for bash, zsh or fish",
    flags: {
      "--line <line>": "Print completions for a command line; the script uses this",
    },
    examples: [
      "completion bash >> ~/.bashrc",
      "$ mkdir -p ~/.zsh/functions",
      "completion zsh > ~/.zsh/functions/_tool",
      "$ mkdir -p ~/.config/fish/completions",
      "completion fish > ~/.config/fish/completions/tool.fish",
    ],
  },
  upgrade: {
    summary: "Install the newest version, or a given one",
    flags: {
      "-t, --target <version>": "Version to install",
      "--check": "Only say whether there is a newer one: exit code 1 if there is",
      "--dry-run": "Only say what would be installed",
      "--prefix <dir>": "Install below this folder: the command is bin/tool there",
    },
    examples: [
      "upgrade",
      "upgrade -t 1.2.3                 # an older one, too",
      "upgrade --check --format json",
      "upgrade --prefix ~/.local        # without sudo, for you alone",
    ],
  },
  version: {
    summary: "Print the version",
    examples: ["version"],
  },
  "help [command...]": {
    summary: "Show help for a command",
    examples: ["help logs", "help stack policy"],
  },
} as const satisfies CommandTable;

export type CommandName = NameOf<keyof typeof TABLE>;

/** The options of a command: its words and its flags, by their names in the table. */
export type Options<Name extends CommandName> = OptionsOf<typeof TABLE, Name>;

/** Whether a command needs Pro. */
export function isProCommand(name: CommandName): boolean {
  return Object.entries<CommandTable[string]>(TABLE).some(
    ([usage, { isPro }]) => isPro === true && readUsage(usage).name === name,
  );
}

/** All commands, in the order of the table. */
export function describeTable(): Command[] {
  return Object.entries<CommandTable[string]>(TABLE).map(([usage, row]) => describeRow(usage, row));
}
