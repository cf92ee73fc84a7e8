// Programs of others read the definitions that are for them: pre-commit runs the hooks, systemd judges the unit.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { cleanEnv, cliPath, root } from "../support/cli.ts";
import { requires } from "../support/require.ts";

const noSystemd = requires("systemd-analyze");

t.test("pre-commit checks and mends what is committed", { skip: requires("pre-commit") }, (t) => {
  const home = t.testdir({ bin: {}, repository: { apps: { web: {} } }, hooks: {} });
  writeFileSync(join(home, "bin/tool"), `#!/bin/sh\nexec "${process.execPath}" "${cliPath}" "$@"\n`);
  chmodSync(join(home, "bin/tool"), 0o755);
  const env = cleanEnv({ HOME: home, PATH: `${home}/bin:${process.env.PATH}`, GIT_CONFIG_NOSYSTEM: "1" });
  const run = (cwd: string, program: string, ...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(program, words, { cwd: join(home, cwd), env, encoding: "utf8" });
    return { status, output: stdout + stderr };
  };
  const git = (cwd: string, ...words: string[]) => {
    const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    const { status, output } = run(cwd, "git", ...author, ...words);
    t.equal(status, 0, `git ${words.join(" ")}: ${output}`);
    return output.trim();
  };
  // A repository of the hooks alone: pre-commit clones what it is given.
  copyFileSync(join(root, ".pre-commit-hooks.yaml"), join(home, "hooks/.pre-commit-hooks.yaml"));
  git("hooks", "init", "--quiet");
  git("hooks", "add", ".");
  git("hooks", "commit", "--quiet", "-m", "hooks");
  const rev = git("hooks", "rev-parse", "HEAD");
  const config = (id: string) =>
    writeFileSync(
      join(home, "repository/.pre-commit-config.yaml"),
      `repos:\n  - repo: ${join(home, "hooks")}\n    rev: ${rev}\n    hooks:\n      - id: ${id}\n`,
    );
  const file = join(home, "repository/apps/web/tool.json");
  const commit = (...words: string[]) => {
    git("repository", "add", "--all");
    return run("repository", "git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-m", "one", ...words);
  };

  git("repository", "init", "--quiet");
  config("tool-validate");
  writeFileSync(file, '{ "name": "app", "lambda": { "memory": 256 } }\n');
  t.equal(run("repository", "pre-commit", "install").status, 0);
  const refused = commit();
  t.not(refused.status, 0, "the commit is refused");
  t.match(refused.output, /apps\/web\/tool\.json:1:\d+: error: .*\n/);
  config("tool-validate-fix");
  const mended = commit();
  t.not(mended.status, 0, "files were modified");
  t.match(mended.output, "files were modified by this hook");
  t.equal(readFileSync(file, "utf8"), '{ "name": "app", "function": { "memory": 256 } }\n');
  const taken = commit();
  t.equal(taken.status, 0, taken.output);
  t.end();
});

t.test("the unit of systemd is read without a complaint, and exposes little", { skip: noSystemd }, (t) => {
  const folder = t.testdir({});
  // The only thing of it that is not on every machine.
  const unit = readFileSync(join(root, "cli/release/tool-logs.service"), "utf8");
  const path = join(folder, "tool-logs.service");
  writeFileSync(path, unit.replace("/usr/local/bin/tool", "/bin/true"));
  mkdirSync(join(folder, "home"));
  const analyze = (...words: string[]) =>
    spawnSync("systemd-analyze", words, { env: cleanEnv({ HOME: join(folder, "home") }), encoding: "utf8" });
  const verified = analyze("verify", "--man=no", path);
  t.same([verified.status, verified.stderr], [0, ""]);
  const judged = analyze("security", "--offline=yes", "--threshold=29", path);
  t.equal(judged.status, 0, judged.stdout);
  t.match(judged.stdout, /Overall exposure level for tool-logs\.service: [012]\.\d OK/);
  t.end();
});
