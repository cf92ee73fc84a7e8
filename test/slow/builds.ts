// Projects in other languages built by tool build with their own tools, and run from their archives as the platform does.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { archiveOf, runArchive } from "../support/built.ts";
import { root } from "../support/cli.ts";
import { requires } from "../support/require.ts";
import { ask } from "../support/runtime.ts";
import { unzip } from "../support/unzip.ts";

/** The variables of this machine that the tools need: their own caches, and where they are installed. */
const OF_THIS_MACHINE = "HOME GOPATH GOCACHE GOPROXY GOFLAGS JAVA_HOME PYENV_ROOT PIP_INDEX_URL PIP_CONFIG_FILE";

const env: Record<string, string> = {
  // No process stays behind.
  GRADLE_OPTS: "-Dorg.gradle.daemon=false",
  ...Object.fromEntries(
    OF_THIS_MACHINE.split(" ").flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  ),
};

interface Row {
  readonly path: string;
  readonly status: number;
  readonly body?: RegExp;
  readonly location?: string;
}

interface Build {
  readonly name: string;
  readonly needs: string;
  /** Below examples; undefined where `files` are all. */
  readonly example?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly holds: readonly (string | RegExp)[];
  readonly rows: readonly Row[];
  /** Whether building twice gives the same bytes. */
  readonly isRepeatable: boolean;
}

const builds: readonly Build[] = [
  {
    name: "Go",
    needs: "go",
    example: "go-server",
    holds: [".tool/bootstrap.cjs", ".tool/deployment.json", "server"],
    rows: [
      { path: "/", status: 200, body: /^\{"links":\["go","http","json"\],"stage":"production"\}/ },
      { path: "/go", status: 302, location: "https://go.dev/" },
      { path: "/nowhere", status: 404 },
    ],
    isRepeatable: true,
  },
  {
    name: "Java by Maven",
    needs: "mvn",
    example: "java-server",
    holds: [".tool/deployment.json", "server.jar"],
    rows: [
      { path: "/km/mi/42.195", status: 200, body: /^\{"value":26\.21875745\d*,"unit":"mi"\}$/ },
      { path: "/km/parsec/1", status: 400, body: /the units are/ },
    ],
    isRepeatable: true,
  },
  {
    name: "Java by Gradle",
    needs: "gradle",
    example: "java-server",
    // Before Maven's file, which is there too.
    files: {
      "build.gradle": [
        "plugins { id 'java' }",
        "sourceCompatibility = '17'",
        "jar {",
        "  manifest { attributes 'Main-Class': 'example.Server' }",
        "  preserveFileTimestamps = false",
        "  reproducibleFileOrder = true",
        "}",
        "",
      ].join("\n"),
    },
    holds: [".tool/deployment.json", "server.jar"],
    rows: [{ path: "/km/m/1", status: 200, body: /^\{"value":1000\.0,"unit":"m"\}$/ }],
    isRepeatable: true,
  },
  {
    // The inferred build runs a container; this is the way without one, for a machine with the platform's libraries.
    name: "Crystal by its own compiler",
    needs: "crystal",
    files: {
      "tool.json": '{ "name": "crystal", "hooks": { "build": "crystal build -o server main.cr" } }',
      ".toolignore": "*\n!./server\n",
      "main.cr": [
        'require "http/server"',
        "server = HTTP::Server.new do |context|",
        '  context.response.print "hello from #{context.request.path}"',
        "end",
        'server.bind_tcp "127.0.0.1", ENV["PORT"].to_i',
        "server.listen",
        "",
      ].join("\n"),
    },
    holds: [".tool/bootstrap.cjs", ".tool/deployment.json", "server"],
    rows: [{ path: "/a?b", status: 200, body: /^hello from \/a$/ }],
    isRepeatable: false,
  },
  {
    name: "Python without libraries",
    needs: "python3",
    example: "python-server",
    holds: [".tool/deployment.json", "app.py", "tool.json"],
    rows: [{ path: "/weather/lima?unit=f", status: 200, body: /66\.2/ }],
    isRepeatable: true,
  },
  {
    name: "Python with libraries: pure, for the platform, and published as source alone",
    needs: "pip",
    files: {
      "tool.json": '{ "name": "libraries", "proxy": { "command": "python3 app.py" } }',
      "requirements.txt": "idna==3.10\nmarkupsafe==3.0.3\ndocopt==0.6.2\n",
      "app.py": [
        "import os, idna, docopt",
        "from http.server import BaseHTTPRequestHandler, HTTPServer",
        "class Handler(BaseHTTPRequestHandler):",
        "    def do_GET(self):",
        "        body = (idna.encode('grüße.example').decode() + ' ' + docopt.__version__).encode()",
        "        self.send_response(200)",
        "        self.send_header('Content-Length', str(len(body)))",
        "        self.end_headers()",
        "        self.wfile.write(body)",
        "HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()",
        "",
      ].join("\n"),
    },
    holds: [
      ".tool/deployment.json",
      "app.py",
      "requirements.txt",
      "tool.json",
      /^\.pypath\/docopt\.py$/,
      /^\.pypath\/idna\/core\.py$/,
      /^\.pypath\/markupsafe\/_speedups\.cpython-314-x86_64-linux-gnu\.so$/,
    ],
    rows: [{ path: "/", status: 200, body: /^xn--gre-6ka8l\.example 0\.6\.2$/ }],
    isRepeatable: true,
  },
];

for (const { name, needs, example, files = {}, holds, rows, isRepeatable } of builds) {
  t.test(name, { skip: requires(needs) }, async (t) => {
    const project = join(t.testdir(), "project");
    mkdirSync(project);
    if (example !== undefined) cpSync(join(root, "examples", example), project, { recursive: true });
    for (const [path, text] of Object.entries(files)) writeFileSync(join(project, path), text);
    const zip = archiveOf(project, ["--stage", "production"], env);
    const names = unzip(zip).map((entry) => entry.name);
    for (const wanted of holds) {
      t.ok(
        names.some((path) => (typeof wanted === "string" ? path === wanted : wanted.test(path))),
        `it holds ${wanted}`,
      );
    }
    const others = names.filter((path) => !path.startsWith(".pypath/") && !holds.includes(path));
    t.same(others, [], "and nothing else");
    t.notOk(
      names.some((path) => path.includes("__pycache__") || /\.cpython-(?!314)/.test(path)),
      "nothing of this machine",
    );

    const app = await runArchive(t, zip, { stage: "production" });
    for (const { path, status, body, location } of rows) {
      const response = await ask(app.port, { path });
      t.equal(response.status, status, `${path}: ${response.body}`);
      if (body !== undefined) t.match(response.body.toString(), body, path);
      const sent = response.headers.find(([header]) => header.toLowerCase() === "location")?.[1];
      if (location !== undefined) t.equal(sent, location, path);
    }
    if (isRepeatable)
      t.ok(archiveOf(project, ["--stage", "production"], env).equals(zip), "built again, the same bytes");
  });
}

t.test("a library that the platform cannot have", { skip: requires("pip") }, (t) => {
  const project = t.testdir({
    "tool.json": '{ "name": "native" }',
    "app.py": "",
    // Published as source alone, and bound to the machine that compiles it.
    "requirements.txt": "pycrypto==2.6.1\n",
  });
  t.throws(() => archiveOf(project, [], env), /has no wheel for Linux on x86-64 with Python 3\.14/);
  t.end();
});

t.test("Go's own reader", { skip: requires("go") }, (t) => {
  const project = t.testdir({
    "tool.json": '{ "name": "app" }',
    "app.js": "x".repeat(100_000),
    "grüße.txt": "hi",
    ".toolignore": "",
  });
  const folder = join(project, ".tool");
  mkdirSync(folder);
  writeFileSync(join(folder, "app.zip"), archiveOf(project));
  const program = `package main
import ("archive/zip"; "fmt"; "io"; "os")
func main() {
  reader, err := zip.OpenReader(os.Args[1])
  if err != nil { panic(err) }
  for _, file := range reader.File {
    content, err := file.Open()
    if err != nil { panic(err) }
    bytes, err := io.ReadAll(content)
    if err != nil { panic(err) }
    fmt.Println(file.Name, file.Mode(), len(bytes), file.NonUTF8)
  }
}
`;
  writeFileSync(join(folder, "read.go"), program);
  const read = execFileSync("go", ["run", "read.go", "app.zip"], { cwd: folder, encoding: "utf8" });
  t.same(
    read.split("\n").filter((line) => !line.startsWith(".tool/")),
    ["app.js -rw-r--r-- 100000 false", "grüße.txt -rw-r--r-- 2 false", "tool.json -rw-r--r-- 17 false", ""],
  );
  t.match(read, /^\.tool\/bootstrap\.cjs -rwxr-xr-x/m);
  t.end();
});
