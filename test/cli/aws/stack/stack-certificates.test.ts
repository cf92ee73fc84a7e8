// How certificates of domains are proven: by a record if the zone is ours or will be, by mail only as the last way.

import t, { type Test } from "tap";
import { openCloud } from "../../../../cli/aws/clients.ts";
import { applyStack, planStack } from "../../../../cli/aws/stack/apply.ts";
import { removeAll } from "../../../../cli/aws/stack/remove.ts";
import { systemClock } from "../../../../grammar/units/clock.ts";
import type { Config } from "../../../../schema/index.ts";
import { startAws } from "../../../support/aws/index.ts";
import { slow } from "../../../support/slow.ts";

// Each has a cloud of its own, and waits for it most of the time.
t.jobs = 4;

async function open(t: Test) {
  const aws = await startAws(t);
  const cloud = openCloud({ env: aws.env, clock: systemClock, region: aws.region, sandbox: undefined });
  const watched = { signal: new AbortController().signal, report() {} };
  const input = (config: object) => ({
    name: "app",
    config: { name: "app", ...config } as Config,
    region: aws.region,
    accountId: aws.accountId,
  });
  const acm = aws.state.service("acm", "us-east-1");
  // New zones are asked by nobody until the registrar names their servers.
  acm.delegate(false);
  return {
    aws,
    acm,
    apply: (config: object) =>
      applyStack(cloud, input(config), { confirm: async () => true, streamKey: async () => "" }, watched),
    plan: (config: object) => planStack(cloud, input(config), watched),
    remove: () => removeAll(cloud, "app", { logs: false, env: false }, watched),
    methods: () => [...acm.certificates.values()].map(({ method }) => method),
    hasProof: () =>
      [...acm.certificates.values()].map(({ record }) =>
        aws.state.service("route53").hasRecord(record.name, "CNAME", record.value),
      ),
    requests: () => aws.journal.count("acm", "RequestCertificate"),
  };
}

const DOMAIN = { domain: "api.shop.com" };
const MX = { name: "shop.com", type: "MX", value: ["10 mail.shop.com"] };

t.test("which way a certificate is requested", { buffered: true, ...slow() }, async (t) => {
  const record = { by: "record", isMade: true };
  const rows: [name: string, config: object, method: string, validation: object][] = [
    ["the zone of the domain, made by the same apply", { stages: { staging: DOMAIN } }, "DNS", record],
    ["a zone that is named", { stages: { staging: { ...DOMAIN, zone: "api.shop.com" } } }, "DNS", record],
    [
      "a zone of dns, though the stage makes none",
      { stages: { staging: { ...DOMAIN, zone: false } }, dns: { "shop.com": [MX] } },
      "DNS",
      record,
    ],
    [
      "no zone",
      { stages: { staging: { ...DOMAIN, zone: false } } },
      "EMAIL",
      {
        by: "email",
        addresses: ["admin", "administrator", "hostmaster", "postmaster", "webmaster"].map(
          (box) => `${box}@api.shop.com`,
        ),
      },
    ],
    [
      "a zone of another domain, whose name ends the same",
      { stages: { staging: { ...DOMAIN, zone: false } }, dns: { "hop.com": [{ ...MX, name: "hop.com" }] } },
      "EMAIL",
      { by: "email" },
    ],
  ];
  for (const [name, config, method, validation] of rows) {
    const app = await open(t);
    t.match((await app.plan(config)).certificates, [{ domain: "api.shop.com", state: "missing" }], name);
    const { plan, outcome } = await app.apply(config);
    t.match([outcome, plan.certificates], ["created", [{ ...DOMAIN, state: "pending", validation }]], name);
    t.same([app.methods(), app.hasProof()], [[method], [method === "DNS"]], name);
    t.match((await app.plan(config)).certificates, [{ state: "pending", validation }], "what a plan says then");
    const again = await app.apply(config);
    t.match([again.outcome, again.plan.certificates], ["unchanged", [{ state: "pending", validation }]]);
    t.equal(app.requests(), 1, "requested once");
  }
});

t.test("a zone and a domain added to a stack, up to the domain", { buffered: true }, async (t) => {
  const app = await open(t);
  const config = { stages: { staging: DOMAIN, production: { domain: "www.shop.com" } } };
  await app.apply({});
  t.match(await app.apply(config), { outcome: "updated", plan: { certificates: [{}, {}] } });
  t.same(
    [app.methods(), app.hasProof()],
    [
      ["DNS", "DNS"],
      [true, true],
    ],
  );
  app.acm.delegate(true);
  app.aws.controls.clock.advance(120_000);
  const { plan, outcome } = await app.apply(config);
  t.same([outcome, plan.certificates], ["updated", []], "issued without anybody's doing");
  t.ok(plan.changes.some(({ about }) => about === "domain api.shop.com"));
  t.equal(app.requests(), 2);
  const { removed, left } = await app.remove();
  t.same(left, []);
  t.ok(
    removed.some(({ kind, name }) => kind === "zone" && name === "shop.com"),
    "no record is left in the zone",
  );
});

t.test("an apply that ended before the record was written", { buffered: true }, async (t) => {
  const app = await open(t);
  const config = { stages: { staging: DOMAIN } };
  app.aws.controls.failures.plan({
    service: "route53",
    operation: "ChangeResourceRecordSets",
    error: { code: "AccessDenied", status: 403 },
  });
  await t.rejects(app.apply(config), { name: "AccessDenied" });
  t.same(app.hasProof(), [false]);
  t.match(await app.apply(config), {
    outcome: "unchanged",
    plan: { certificates: [{ validation: { isMade: true } }] },
  });
  t.same([app.methods(), app.hasProof()], [["DNS"], [true]]);
});

t.test("a zone that comes after the mail", { buffered: true }, async (t) => {
  const mailed = { stages: { staging: { ...DOMAIN, zone: false } } };
  const zoned = { stages: { staging: DOMAIN } };
  for (const first of ["EMAIL", "DNS"]) {
    const app = await open(t);
    await app.apply(mailed);
    t.match((await app.apply(zoned)).plan.certificates, [{ validation: { by: "record", isMade: true } }]);
    t.same(app.methods(), ["EMAIL", "DNS"]);
    await app.apply(zoned);
    t.equal(app.requests(), 2, "once each");
    const [arn] = [...app.acm.certificates.values()].filter(({ method }) => method === first).map(({ arn }) => arn);
    app.acm.issue(arn!);
    t.match(await app.apply(zoned), { outcome: "updated", plan: { certificates: [] } }, `${first} is issued first`);
    t.same([...app.acm.certificates.get(arn!)!.inUseBy].length, 1, "and serves");
    t.same((await app.remove()).left, []);
    t.same(app.methods(), [], "both go with the app");
  }
});

t.test("tags of certificates", { buffered: true }, async (t) => {
  const app = await open(t);
  const tagsOf = () =>
    [...app.acm.certificates.values()].map(({ tags }) =>
      Object.fromEntries([...tags].filter(([name]) => name !== "aws:token")),
    );
  const tagged = (tags: object) => ({ stages: { staging: DOMAIN }, tags });
  // Covers the domain as well, and is not ours.
  app.acm.operations.RequestCertificate({ DomainName: "*.other.com", Tags: [{ Key: "team", Value: "theirs" }] });
  const theirs = { staging: { domain: "a.other.com", zone: false } };
  await app.apply(tagged({ team: "orders", stage: "all" }));
  t.same(tagsOf()[1], { "tool:app": "app", team: "orders", stage: "all" }, "as they are requested");
  [...app.acm.certificates.values()][1]!.tags.set("audit", "yes");
  app.aws.journal.clear();
  const more = { ...tagged({ team: "orders", stage: "all" }), dns: { "shop.com": [MX] } };
  t.match(await app.apply(more), { outcome: "updated" });
  t.notOk(
    app.aws.journal.calls("acm").some((call) => /Tag/.test(call)),
    "nothing is asked for if other things changed",
  );
  await app.apply(tagged({ team: "payments", owner: "ann" }));
  t.same(tagsOf()[1], { "tool:app": "app", team: "payments", owner: "ann", audit: "yes" }, "changed");

  // Ended before the stack's own tags: the next run knows what to take away.
  const failure = { service: "cloudformation", operation: "ExecuteChangeSet", error: { code: "Denied", status: 403 } };
  app.aws.controls.failures.plan(failure);
  await t.rejects(app.apply(tagged({ half: "way" })), { name: "Denied" });
  await app.apply(tagged({}));
  t.same(tagsOf()[1], { "tool:app": "app", audit: "yes", half: "way" }, "but for what only the failed run knew");
  await app.apply({ stages: theirs, tags: { team: "orders" } });
  t.same(tagsOf()[0], { team: "theirs" }, "one that is not ours stays as it is");
});

t.test("which certificates of the account cover a domain", { buffered: true }, async (t) => {
  const rows: [name: string, isUsed: boolean][] = [
    ["api.shop.com", true],
    ["*.shop.com", true],
    ["shop.com", false],
    ["www.shop.com", false],
    ["*.api.shop.com", false],
    ["*.other.com", false],
  ];
  for (const [name, isUsed] of rows) {
    const app = await open(t);
    const { CertificateArn } = app.acm.operations.RequestCertificate({ DomainName: name });
    app.acm.issue(CertificateArn);
    await app.apply({ stages: { staging: { ...DOMAIN, zone: false } } });
    t.same([app.requests(), app.acm.certificates.get(CertificateArn)!.inUseBy.size], isUsed ? [0, 1] : [1, 0], name);
  }
});
