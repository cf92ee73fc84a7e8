// The requests to Stripe beside its published description: stripe-mock refuses a parameter that the description lacks, or
// that has another form. It keeps nothing, so what follows from a request is tried with a stand-in of our own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Stripe } from "stripe";
import t from "tap";
import { openStripe } from "../../logservice/billing/stripe.ts";
import { anyPort } from "../../runtime/port.ts";
import { requires } from "../support/require.ts";
import { until } from "../support/until.ts";

const skip = requires("stripe-mock", "go install github.com/stripe/stripe-mock@v0.203.0");

t.test("every request has the form that Stripe describes", { skip }, async (t) => {
  const port = await anyPort();
  const child = spawn("stripe-mock", ["-http-addr", `127.0.0.1:${port}`], { stdio: "ignore" });
  const ended = once(child, "exit");
  t.teardown(async () => {
    child.kill();
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await until("stripe-mock", () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
  const provider = openStripe({ key: "sk_test_123", price: "price_123", url });
  const returnUrl = "https://logs.example.com/t/acme/members";
  t.match(await provider.addCustomer("acme", "a key"), /^cus_/);
  const [subscription] = (await provider.subscriptionsOf("cus_123"))!;
  t.match(subscription, { id: /^sub_/, createdMs: Number });
  t.match(await provider.checkout({ team: "acme", customer: "cus_123", returnUrl }), /^https:\/\//);
  for (const isForCard of [true, false])
    t.match(await provider.portal("cus_123", { returnUrl, isForCard }), /^https:\/\//);
  for (const when of ["period end", "now"] as const) await t.resolves(provider.end("sub_123", when));

  const wrong = { metadata: {}, unheard_of: "x" } as Stripe.CustomerCreateParams;
  const plain = new Stripe("sk_test_123", { protocol: "http", host: "127.0.0.1", port, maxNetworkRetries: 0 });
  await t.rejects(plain.customers.create(wrong), /unheard_of|unknown|additional/i, "and another one is refused");
});
