// The failures of a stack, by the real command against the stand-in: what is said, what is left, what the next run
// does.
import t from "tap";
import { logicalId } from "../../cli/aws/stack/logical-id.ts";
import type { Aws } from "../support/aws/index.ts";
import { issueAll, openApp } from "../support/deployed-app.ts";

// Each test has a cloud of its own.
t.jobs = 3;

const MAPPED = { stages: { staging: { domain: "a.shop.com" } } };
const ZONE = { dns: { "shop.com": [{ name: "shop.com", type: "MX", value: ["10 mail.shop.com"] }] } };

interface FailureRow {
  name: string;
  /** The tool.json before and after the stack was made by an apply; without `before` there is no stack. */
  before?: object;
  after: object;
  /** Makes the calls fail from here on. */
  arrange: (aws: Aws) => void;
  argv?: string[];
  code: number;
  /** All that an error says. */
  error: string[];
  /** The state of the stack then; undefined where there is none. */
  state: string | undefined;
  /** The output of the same command when nothing goes wrong any more. */
  again?: RegExp;
}

const fail = (logicalId: string, on: "create" | "update" | "delete", reason: string) => (aws: Aws) =>
  aws.state.service("cloudformation").fail({ logicalId, on, reason, times: 1 });

const FAILURES: FailureRow[] = [
  {
    name: "a resource fails while the stack is made",
    after: {},
    arrange: fail(
      "StageStaging",
      "create",
      'Resource handler returned message: "Something broke (Service: ApiGateway, Status Code: 400, Request ID: 1)" (RequestToken: 2, HandlerErrorCode: GeneralServiceException)',
    ),
    code: 1,
    error: [
      "error: cannot create stage of the gateway of staging: Something broke",
      "  everything created was removed again; the next run creates the stack from scratch",
    ],
    state: "ROLLBACK_COMPLETE",
    again: /^the first attempt to make the stack failed \(ROLLBACK_COMPLETE\): creating it again\n/,
  },
  {
    name: "a resource fails while the stack is changed",
    before: {},
    after: { ...ZONE, stages: { beta: {} } },
    arrange: fail(logicalId("Zone", "shop.com"), "create", "The request was rejected."),
    code: 1,
    error: [
      "error: cannot create zone shop.com: The request was rejected",
      "  the stack is as it was before; nothing was changed",
    ],
    state: "UPDATE_ROLLBACK_COMPLETE",
    again: /✓ deployment of the gateway of beta created\n(?:.*\n)*✓ zone shop\.com created/,
  },
  {
    name: "a certificate that was not verified",
    before: {},
    after: ZONE,
    arrange: fail(
      logicalId("Zone", "shop.com"),
      "create",
      "Unable to associate certificate arn:aws:acm:us-east-1:1:certificate/1 to CloudFront distribution",
    ),
    code: 1,
    error: [
      "error: cannot create zone shop.com: Unable to associate certificate arn:aws:acm:us-east-1:1:certificate/1 to CloudFront distribution",
      "  the certificate was not verified, or is in a region other than us-east-1: tool stack status shows its state and what to do",
      "  the stack is as it was before; nothing was changed",
    ],
    state: "UPDATE_ROLLBACK_COMPLETE",
  },
  {
    name: "the account's user may not do what a resource needs",
    before: {},
    after: ZONE,
    arrange: fail(
      logicalId("Zone", "shop.com"),
      "create",
      "User: arn:aws:iam::123456789012:user/ci is not authorized to perform: route53:CreateHostedZone",
    ),
    code: 1,
    error: [
      "error: cannot create zone shop.com: User: arn:aws:iam::123456789012:user/ci is not authorized to perform: route53:CreateHostedZone",
      "  allow it to the account's user or role; tool stack policy prints all that is needed",
      "  the stack is as it was before; nothing was changed",
    ],
    state: "UPDATE_ROLLBACK_COMPLETE",
  },
  {
    name: "the account's user may not make a change set",
    before: {},
    after: ZONE,
    arrange: ({ controls }) =>
      controls.failures.plan({
        service: "cloudformation",
        operation: "CreateChangeSet",
        error: {
          code: "AccessDenied",
          message:
            "User: arn:aws:iam::123456789012:user/ci is not authorized to perform: cloudformation:CreateChangeSet on resource: arn:aws:cloudformation:eu-west-1:123456789012:stack/app/* because no identity-based policy allows the cloudformation:CreateChangeSet action",
          status: 403,
        },
      }),
    code: 1,
    error: [
      "error: arn:aws:iam::123456789012:user/ci may not do cloudformation:CreateChangeSet on arn:aws:cloudformation:eu-west-1:123456789012:stack/app/*",
      "  allow it to that user or role; tool stack policy prints all that is needed",
    ],
    state: "CREATE_COMPLETE",
    again: /✓ zone shop\.com created/,
  },
  {
    name: "the cloud asks to slow down for a while",
    before: {},
    after: ZONE,
    arrange: ({ controls }) =>
      controls.failures.plan({
        service: "cloudformation",
        operation: "DescribeStackEvents",
        times: 2,
        error: { code: "Throttling", message: "Rate exceeded" },
      }),
    code: 0,
    error: [],
    state: "UPDATE_COMPLETE",
  },
  {
    name: "no terminal to ask before something is removed or replaced",
    before: MAPPED,
    after: { stages: { staging: { domain: "b.shop.com" } } },
    arrange: ({ state }) => {
      const acm = state.service("acm", "us-east-1");
      acm.issue(acm.operations.RequestCertificate({ DomainName: "b.shop.com" }).CertificateArn);
    },
    code: 2,
    error: [
      "error: this removes domain a.shop.com (staging), record a.shop.com (staging); replaces b.shop.com/ (staging), and there is no terminal to confirm it",
      "  write --yes to agree",
    ],
    state: "UPDATE_COMPLETE",
  },
  {
    name: "a stack that is stuck",
    before: {},
    after: ZONE,
    arrange: ({ state }) => {
      state.service("cloudformation").find("app")!.status = "UPDATE_ROLLBACK_FAILED";
    },
    code: 1,
    error: [
      "error: the stack app is stuck in UPDATE_ROLLBACK_FAILED",
      "  continue its rollback: aws cloudformation continue-update-rollback --stack-name app --region eu-west-1; then run the command again",
    ],
    state: "UPDATE_ROLLBACK_FAILED",
  },
  {
    name: "tool.json asks for what cannot be made",
    before: {},
    after: { stages: { staging: { domain: "a.shop.com", path: "/v1/x" } } },
    arrange: () => {},
    code: 1,
    error: [
      'error: the path "/v1/x" of the stage staging has more than one part',
      '  write one part, such as "/v1": a domain at the edge takes no more',
    ],
    state: "CREATE_COMPLETE",
  },
  {
    name: "a resource cannot be removed",
    before: {},
    after: {},
    arrange: fail("Proxy", "delete", "Internal failure"),
    argv: ["stack", "delete", "--yes"],
    code: 1,
    error: [
      "error: cannot delete every path: Internal failure",
      "  run the command again to delete the rest of the stack",
    ],
    state: "DELETE_FAILED",
    again: /removed|✓ every path/,
  },
];

for (const row of FAILURES) {
  t.test(row.name, async (t) => {
    const { aws, app, configure } = await openApp(t, row.before ?? row.after);
    if (row.before !== undefined) {
      const made = await app.tool(["stack", "apply"]);
      t.equal(made.code, 0, made.stderr);
      if (row.before === MAPPED) await issueAll(aws, app);
      configure(row.after);
    }
    row.arrange(aws);
    const argv = row.argv ?? ["stack", "apply"];
    const { code, stderr } = await app.tool(argv);
    const lines = stderr.trimEnd().split("\n");
    const at = lines.findIndex((line) => line.startsWith("error:"));
    t.same(at < 0 ? [] : lines.slice(at), row.error);
    t.equal(code, row.code, stderr);
    t.equal(aws.state.service("cloudformation").find("app")?.status, row.state);
    if (row.again !== undefined) {
      const again = await app.tool(argv);
      t.equal(again.code, 0, again.stderr);
      t.match(again.stderr, row.again);
    }
  });
}
