// A stack that changes, by the real command against the stand-in: what is made anew, held, kept, interrupted.
import t from "tap";
import { spawnTool, until } from "./support/cli.ts";
import { askEndpoint, issueAll, openApp } from "./support/deployed-app.ts";

const MAPPED = { stages: { staging: { domain: "a.shop.com" } } };
const ZONE = { dns: { "shop.com": [{ name: "shop.com", type: "MX", value: ["10 mail.shop.com"] }] } };

t.test("what is made anew is made when it is agreed to", async (t) => {
  const { aws, app, configure } = await openApp(t, MAPPED);
  await app.tool(["stack", "apply"]);
  await issueAll(aws, app);
  const acm = aws.state.service("acm", "us-east-1");
  acm.issue(acm.operations.RequestCertificate({ DomainName: "*.shop.com" }).CertificateArn);
  configure({ stages: { staging: { domain: "b.shop.com" } } });
  const plan = await app.tool(["stack", "plan"]);
  t.match(plan.stdout, /! b\.shop\.com\/ +AWS::ApiGateway::BasePathMapping +REPLACED\n/);
  t.match(plan.stdout, /1 to REPLACE/);
  const applied = await app.tool(["stack", "apply", "--yes"]);
  t.equal(applied.code, 0, applied.stderr);
  t.match(applied.stdout, /staging +https:\/\/b\.shop\.com\//);
});

t.test("a stage keeps its old domain until the certificate of the new one is issued", async (t) => {
  const { aws, app, configure } = await openApp(t, { stages: { staging: { domain: "a.shop.com", path: "/v1" } } });
  await app.tool(["stack", "apply"]);
  await issueAll(aws, app);
  configure({ stages: { staging: { domain: "b.shop.com" } } });
  // The zone is ours, and a record proves the domain within minutes.
  aws.controls.clock.setSpeed(5);
  const pending = await app.tool(["stack", "apply"]);
  t.equal(pending.code, 0, pending.stderr);
  t.match(pending.stdout, /staging +https:\/\/a\.shop\.com\/v1\/\n/);
  t.match(pending.stdout, /b\.shop\.com: pending; the record that proves the domain is in its zone/);
  aws.controls.clock.setSpeed(500);
  await issueAll(aws, app);
  const refused = await app.tool(["stack", "apply"]);
  t.equal(refused.code, 2, "moving a stage to another domain makes its mapping anew");
  const moved = await app.tool(["stack", "apply", "--yes"]);
  t.match(moved.stdout, /staging +https:\/\/b\.shop\.com\/\n/);
  t.notMatch(moved.stdout, "a.shop.com");
});

t.test("a template that is too long for a call goes through the bucket, and goes with the app", async (t) => {
  const records = Array.from({ length: 120 }, (_, i) => ({
    name: `host-${i}.shop.com`,
    type: "TXT",
    value: ["x".repeat(200)],
  }));
  const { aws, app } = await openApp(t, { dns: { "shop.com": records } });
  const applied = await app.tool(["stack", "apply"]);
  t.equal(applied.code, 0, applied.stderr);
  t.match(applied.stderr, /✓ record host-119\.shop\.com TXT created/);
  t.equal((await app.tool(["stack", "plan"])).stdout, "nothing to do: the stack is what tool.json asks for\n");
  const bucket = aws.state.service("s3").buckets.get(`tool-${aws.accountId}-eu-west-1`)!;
  t.match([...bucket.objects.keys()], [/^app\/\w{64}\.json$/]);
  const gone = await app.tool(["stack", "delete", "--yes"]);
  t.equal(gone.code, 0, gone.stderr);
  t.same([...bucket.objects.keys()], []);
});

t.test("zones with records of others stay, as do logs that nobody asked to remove", async (t) => {
  const { aws, app } = await openApp(t, ZONE);
  const deployed = await app.tool(["deploy"]);
  t.match(await askEndpoint(aws, deployed.stdout.trim()), { status: 200 });
  t.equal((await app.tool(["stack", "apply"])).code, 0);
  const route53 = aws.state.service("route53");
  const [zone] = (route53.operations.ListHostedZones() as { HostedZones: { Id: string }[] }).HostedZones;
  const record = (Action: "UPSERT" | "DELETE") =>
    route53.operations.ChangeResourceRecordSets({
      HostedZoneId: zone!.Id,
      ChangeBatch: {
        Changes: [
          {
            Action,
            ResourceRecordSet: {
              Name: "www.shop.com",
              Type: "CNAME",
              TTL: 60,
              ResourceRecords: [{ Value: "x.example" }],
            },
          },
        ],
      },
    });
  record("UPSERT");
  const gone = await app.tool(["stack", "delete", "--yes"]);
  t.equal(gone.code, 0, gone.stderr);
  t.match(gone.stdout, /^left: zone shop\.com: it holds records that are not ours: www\.shop\.com CNAME$/m);
  t.match(gone.stdout, /^left: log group \/aws\/lambda\/app: logs go with --logs$/m);
  t.match(gone.stdout, /^removed: stack app, function app, role app-eu-west-1-function$/m);
  record("DELETE");
  const rest = await app.tool(["stack", "delete", "--yes", "--logs"]);
  t.equal(rest.stdout, "removed: zone shop.com, log group /aws/lambda/app\n", "a zone is known by its tag");
});

t.test("an interrupted apply leaves the stack working, and the next run waits for it", async (t) => {
  const { aws, app, configure } = await openApp(t, {}, { clock: { speed: 20 } });
  aws.controls.clock.setSpeed(500);
  t.equal((await app.tool(["stack", "apply"])).code, 0);
  configure({ dns: { "shop.com": [] } });
  aws.controls.clock.setSpeed(2);
  const running = spawnTool(["stack", "apply"], { cwd: app.directory, env: aws.env });
  await until(
    "the zone to be under way",
    () => aws.state.service("cloudformation").find("app")?.status === "UPDATE_IN_PROGRESS",
  );
  await until("a look at the events", () => aws.journal.count("cloudformation", "DescribeStackEvents") > 8);
  running.kill("SIGINT");
  const interrupted = await running.ended;
  t.equal(interrupted.code, 130, interrupted.stderr);
  t.match(interrupted.stderr, /interrupted: the stack works on by itself, tool stack status shows how far it is\n$/);
  const status = await app.tool(["stack"]);
  t.match(status.stdout, /^app in eu-west-1: update in progress\n/);
  const second = app.tool(["stack", "apply"]);
  await until("the second run to look", () => aws.journal.calls().at(-1) === "cloudformation.DescribeStackEvents");
  aws.controls.clock.setSpeed(500);
  const { code, stdout, stderr } = await second;
  t.equal(code, 0, stderr);
  t.match(stderr, /another run works on the stack \(UPDATE_IN_PROGRESS\): waiting until it is done\n/);
  t.equal(stdout, "nothing to do: the stack is what tool.json asks for\n");
});
