import type { IncomingMessage } from "node:http";
import { networkOf } from "../access/client-address.ts";
import { readEvent, receiveEvent } from "../billing/receive-event.ts";
import { type SignatureProblem, signatureProblem } from "../billing/signature.ts";
import { RpcError } from "../error.ts";
import { RequestBodies } from "../http/body.ts";
import { runExchange } from "../http/exchange.ts";
import { sendJson } from "../http/send.ts";
import { requestHeader } from "./headers.ts";
import type { RequestHandler } from "./methods.ts";
import type { RouteState } from "./state.ts";

/** Events hold one object each: those of real accounts have a few kilobytes, a long invoice some hundred. */
const MAX_BYTES = 512 * 1024;

/** Anybody can send what is refused: the log says so once in this time. */
const SAID_MS = 3_600_000;

const REFUSALS: Readonly<Record<SignatureProblem, string>> = {
  missing: "Stripe-Signature: is missing or not one of Stripe's",
  forged: "Stripe-Signature: does not match the body: TOOL_STRIPE_WEBHOOK_SECRET must be the secret of this endpoint",
  late: "Stripe-Signature: its time is more than 5 minutes from the time here",
};

/** Answers Stripe's webhooks, whose signature is all that admits them. */
export function webhookAnswer(state: RouteState): RequestHandler {
  const { service, log, limits, rate, addressOf } = state;
  const { billing, clock, nowMs } = service;
  const bodies = new RequestBodies({ ...limits, bodyBytes: MAX_BYTES, inflatedBytes: MAX_BYTES });
  let saidMs = Number.NEGATIVE_INFINITY;
  const refuse = (problem: SignatureProblem): RpcError => {
    if (nowMs() - saidMs >= SAID_MS) {
      saidMs = nowMs();
      billing.log.warn(`a webhook was refused: ${REFUSALS[problem]}`);
    }
    return new RpcError("bad_request", REFUSALS[problem]);
  };
  return (request, response) =>
    void runExchange({ request, response, log, clock }, async (signal) => {
      const { stripe } = billing;
      if (stripe === undefined) throw new RpcError("not_found", "this service takes no payments");
      const address = addressOf(request);
      await rate.take(networkOf(address), signal);
      await bodies.receive(request, signal, async (body) => {
        const sent = { secret: stripe.webhookSecret, nowMs: nowMs() };
        const problem = signatureProblem(signatureOf(request), body, sent);
        if (problem !== undefined) throw refuse(problem);
        await receiveEvent(service, stripe.provider, readEvent(body), { address, signal });
      });
      sendJson(response, 200, { received: true });
    });
}

const signatureOf = (request: IncomingMessage) => requestHeader(request, "stripe-signature") ?? "";
