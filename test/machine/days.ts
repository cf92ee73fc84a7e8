// The steps of a person on a machine that has no Node, and what each must print.
export const PERSON = "ann";

export interface Day {
  readonly title: string;
  readonly steps: readonly Step[];
}

interface Step {
  readonly what: string;
  /** For sh, in the home folder of the user. */
  readonly script: string;
  /** Default: the person. */
  readonly user?: "root";
  /** The exit code. Default: 0. */
  readonly code?: number;
  /** Its output, on both streams. */
  readonly says?: RegExp;
}

/** Paths that stay once all is removed, and why. */
export const LEFT: readonly { readonly path: string; readonly what: string }[] = [
  { path: `/home/${PERSON}/work/`, what: "the projects of the person" },
  { path: `/home/${PERSON}/logs/`, what: "the data of the log service, where the person put it" },
  { path: `/home/${PERSON}/.local/state/`, what: "what was deployed to the sandbox: tool sandbox reset removes it" },
  { path: `/home/${PERSON}/.cache/`, what: "the archives that deploys made: a cache" },
];

const APP = `require("http").createServer((request, response) => {
  response.statusCode = request.url === "/fail" ? 500 : 200;
  response.end("hello by " + process.version + "\\n");
}).listen(process.env.PORT);`;

/** A link: the package's file is beside it. */
const LIBRARY = "/usr/lib/x86_64-linux-gnu/libatomic.so.1";

const SEND = `send() { curl -fsS -H "Authorization: Bearer $(cat token)" -H "Content-Type: application/json" -d "$2" "http://127.0.0.1:5050/$1"; }`;

/** The days of a person with curl who installs for themselves, and of an administrator with wget who installs for all. */
export function daysOf(pages: string): readonly Day[] {
  const script = `${pages}/acme/tool/releases/latest/download/install.sh`;
  const version = (number: string): Step => ({
    what: `it is ${number}`,
    script: "tool version",
    says: new RegExp(`^${number}-pro\n$`),
  });
  const own: Step[] = [
    { what: "there is no Node", script: "! command -v node" },
    { what: "a system lacks a library", user: "root", script: `mv ${LIBRARY} ${LIBRARY}.not` },
    {
      what: "is told which, and nothing is left",
      script: `curl -fsSL ${script} | sh; test ! -e .local && exit 1`,
      code: 1,
      says: /lacks the library libatomic\.so\.1, .*\n.* apt-get install libatomic1/,
    },
    { what: "installs that", user: "root", script: `mv ${LIBRARY}.not ${LIBRARY}` },
    {
      what: "installs 1.0.0 with curl",
      script: `curl -fsSL ${script} | VERSION=1.0.0 sh`,
      says: /tool 1\.0\.0 is installed: \/home\/ann\/\.local\/bin\/tool\n$/,
    },
    version("1.0.0"),
    { what: "reads the man page's source", script: 'grep "^.TH" ~/.local/share/man/man1/tool.1', says: /1\.0\.0/ },
    {
      what: "deploys a folder of files to the sandbox",
      script: `mkdir -p work/site && cd work/site && echo 'a page' >index.html && echo '{"name": "site"}' >tool.json &&
        tool deploy --sandbox`,
      says: /staging is deployed in the sandbox: version 1/,
    },
    { what: "opens it", script: 'cd work/site && curl -fsSL "$(tool url --sandbox)"', says: /^a page\n$/ },
    {
      what: "deploys an app in Node, by the Node of the archive",
      script: `mkdir -p work/app && cd work/app && cat >app.js <<'END'
${APP}
END
echo '{"name": "app", "redirects": {"/old/*": {"location": "/:splat", "status": 301}}}' >tool.json
tool deploy --sandbox`,
      says: /staging is deployed in the sandbox: version 1/,
    },
    {
      what: "opens it",
      script: 'cd work/app && curl -fsSL "$(tool url --sandbox)"',
      says: /^hello by v26\.\d+\.\d+\n$/,
    },
    {
      what: "follows a redirect of it to an error",
      script: 'cd work/app && curl -sSL "$(tool url --sandbox)old/fail"',
      says: /^hello/,
    },
    {
      what: "finds that in the logs",
      script: "cd work/app && tool logs --sandbox 'status >= 500 and path = /fail'",
      says: /"path":"\/fail".*"status":500/,
    },
    {
      what: "starts a log service",
      script: `tool service init --data logs --team acme >token
        tool service start --data logs --address 127.0.0.1:5050 >logs/said 2>&1 & echo $! >logs/pid
        until curl -fs http://127.0.0.1:5050/openapi.json >/dev/null; do kill -0 "$(cat logs/pid)" && sleep 1 || exit; done`,
    },
    {
      what: "sends an event and asks for it",
      script: `${SEND}
        send add_project '{"project": {"id": "app", "name": "App"}}' && send ingest/app '[{"message": "kept"}]' &&
        send query '{"project_id": "app", "query": "select message from events"}'`,
      says: /kept/,
    },
    {
      what: "looks for a newer version",
      script: "tool upgrade --check",
      code: 1,
      says: /tool 1\.1\.0 can be installed: tool upgrade\n$/,
    },
    { what: "upgrades", script: "tool upgrade", says: /tool 1\.1\.0 is installed in place of 1\.0\.0/ },
    version("1.1.0"),
    { what: "has the newest version", script: "tool upgrade --check", says: /tool 1\.1\.0 is installed already/ },
    {
      what: "asks the log service that runs of the version before",
      script: `${SEND}\nsend query '{"project_id": "app", "query": "select message from events"}'`,
      says: /kept/,
    },
    {
      what: "stops it",
      script: `kill "$(cat logs/pid)" && while kill -0 "$(cat logs/pid)" 2>/dev/null; do sleep 1; done; rm token`,
    },
    {
      what: "opens the app that was deployed before",
      script: 'cd work/app && curl -fsSL "$(tool url --sandbox)"',
      // The daemon of the version before is replaced, which is said.
      says: /^hello by v26/m,
    },
    { what: "deploys it anew", script: "cd work/app && echo // >>app.js && tool deploy --sandbox", says: /version 2/ },
    { what: "goes back", script: "tool upgrade -t 1.0.0", says: /tool 1\.0\.0 is installed in place of 1\.1\.0/ },
    version("1.0.0"),
    { what: "rolls the app back", script: "cd work/app && tool rollback --sandbox", says: /version 1/ },
    { what: "stops the sandbox", script: "tool sandbox stop" },
    {
      what: "removes it",
      script: `curl -fsSL ${script} | sh -s -- --uninstall`,
      says: /^tool is removed: \/home\/ann\/\.local\/bin\/tool\n$/,
    },
    { what: "no process of it is left", script: "! ls -l /proc/[0-9]*/exe 2>/dev/null | grep /node/bin/node" },
  ];
  const all: Step[] = [
    { what: "there is no curl", user: "root", script: "mv /usr/bin/curl /usr/bin/not-curl" },
    {
      what: "installs 1.0.0 for all with wget",
      user: "root",
      script: `wget -qO- ${script} | VERSION=1.0.0 sh`,
      says: /tool 1\.0\.0 is installed: \/usr\/local\/bin\/tool\n$/,
    },
    version("1.0.0"),
    {
      what: "a person may not upgrade it",
      script: "tool upgrade",
      code: 1,
      says: /is not writable\n {2}run sudo tool upgrade/,
    },
    { what: "root upgrades it", user: "root", script: "tool upgrade", says: /tool 1\.1\.0 is installed in place of/ },
    version("1.1.0"),
    {
      what: "removes it",
      user: "root",
      script: `wget -qO- ${script} | sh -s -- --uninstall`,
      says: /^tool is removed: \/usr\/local\/bin\/tool\n$/,
    },
    { what: "puts curl back", user: "root", script: "mv /usr/bin/not-curl /usr/bin/curl" },
  ];
  return [
    { title: "For one person, with curl and xz", steps: own },
    { title: "For all, with wget", steps: all },
  ];
}
