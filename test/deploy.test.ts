// Deploying by the real command, against the stand-in of the cloud.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import t from "tap";
import { startAws } from "./support/aws/index.ts";
import { root } from "./support/cli.ts";
import { appFolder, appSource, askEndpoint } from "./support/deployed-app.ts";

/** Questions until something is ready, which the cloud's speed decides. */
const isPoll = (call: string) => call === "lambda.GetFunctionConfiguration";

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
/** What a command printed with --format json, held against the schema of that command. */
function parse(name: string, text: string) {
  const schema = JSON.parse(readFileSync(join(root, `cli/output/schemas/${name}.schema.json`), "utf8"));
  if (!ajv.validate(schema, JSON.parse(text))) throw new Error(`${name}: ${ajv.errorsText()} in ${text}`);
  return JSON.parse(text);
}

t.test("from a directory to a running stage, and back", async (t) => {
  const aws = await startAws(t);
  const app = appFolder(aws, join(t.testdir(), "app"), {
    "tool.json": '{ "name": "hello" }',
    "app.js": appSource("one"),
  });
  const calls = () => {
    const all = aws.journal.calls();
    aws.journal.clear();
    return all.filter((call) => !isPoll(call));
  };

  const first = await app.tool([]);
  t.equal(first.code, 0, first.stderr);
  t.match(first.stderr, /^staging is deployed: version 1 \(/m);
  const url = first.stdout.trim();
  t.match(url, /^https:\/\/\w+\.execute-api\.eu-west-1\.amazonaws\.com\/staging\/$/, "stdout is the address alone");
  t.same(await askEndpoint(aws, `${url}x`), { status: 200, body: "staging one /x" });
  t.match(await askEndpoint(aws, `${url}?variable=TOOL_RESPONSE_MODE`), { body: "stream" });
  calls();

  const again = await app.tool([]);
  t.equal(again.code, 0, again.stderr);
  t.match(again.stderr, /^staging is unchanged: version 1 is in force, nothing was uploaded/m);
  t.equal(again.stdout.trim(), url);
  const unchanged = calls();
  t.ok(unchanged.length <= 3, `without a change: ${unchanged.join(" ")}`);

  app.write({ "app.js": appSource("two") });
  const second = await app.tool(["deploy", "--format", "json"]);
  t.equal(second.code, 0, second.stderr);
  const changed = calls();
  t.ok(changed.length <= 6, `with a change: ${changed.join(" ")}`);
  const document = parse("deploy", second.stdout);
  t.match(document, { outcome: "updated", version: "2", previousVersion: "1", commit: null, url, remarks: [] });
  t.equal(document.uploadedBytes, document.artifact.bytes);
  t.match(await askEndpoint(aws, url), { body: "staging two /" });

  const back = await app.tool(["rollback"]);
  t.same([back.code, back.stdout], [0, "staging is rolled back to version 1, from version 2\n"], back.stderr);
  t.match(await askEndpoint(aws, url), { body: "staging one /" });
  const rolledBack = calls();
  t.same(
    rolledBack.filter((call) => !/\.Get/.test(call)),
    ["lambda.UpdateAlias", "lambda.UpdateAlias"],
    "two calls that change something",
  );
  const forth = parse("rollback", (await app.tool(["rollback", "--format", "json"])).stdout);
  t.match(forth, { outcome: "rolled-back", version: "2", previousVersion: "1", differingVariables: [] });
  t.match(await askEndpoint(aws, url), { body: "staging two /" }, "rolling back again toggles");
  const same = await app.tool([]);
  t.match(same.stderr, /unchanged: version 2/, "what is in force after it is known");

  const production = await app.tool(["production"]);
  t.equal(production.code, 0, production.stderr);
  t.match(await askEndpoint(aws, production.stdout.trim()), { status: 200, body: "production two /" });
  t.match(await askEndpoint(aws, url), { body: "staging two /" });
  t.equal((await app.tool(["url", "-s", "production"])).stdout, production.stdout);
  t.same(parse("url", (await app.tool(["url", "--format", "json"])).stdout), { stage: "staging", url });

  const listed = parse("deploys", (await app.tool(["deploys", "--format", "json"])).stdout).deployments;
  t.same(
    listed.map(({ stage, version, state }: Record<string, string>) => [stage, version, state]),
    [
      ["production", "3", "current"],
      ["staging", "2", "current"],
      ["staging", "1", "previous"],
    ],
  );
  const other = await app.tool(["rollback", "2", "-s", "production"]);
  t.same(
    [other.code, other.stderr],
    [
      1,
      "error: version 2 was deployed to staging, and has its variables: production cannot run it\n  tool deploys lists those of production\n",
    ],
  );
  const none = await app.tool(["rollback", "-s", "production"]);
  t.same(
    [none.code, none.stderr],
    [1, "error: production has no deployment before this one\n  tool deploys lists what there is\n"],
  );
  t.match((await app.tool(["rollback", "99"])).stderr, 'there is no deployment "99" of staging');
  t.match((await app.tool(["rollback", "v9"])).stderr, 'there is no deployment "v9" of staging');
});
