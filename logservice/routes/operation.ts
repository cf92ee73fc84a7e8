import type { Operations } from "../../schema/rpc.generated.ts";
import { deviceOf } from "../account/pages/device.ts";
import { sendJson, sendNothing } from "../http/send.ts";
import { hasSeveralTeams } from "../records/teams.ts";
import { askerOf } from "../rpc/call.ts";
import { operations } from "../rpc/operations.ts";
import { readBody } from "../rpc/read-body.ts";
import type { GrantedAnswer } from "./exchange.ts";
import { batchKeyOf, expectType, idempotencyKeyOf } from "./headers.ts";
import type { RouteState } from "./state.ts";

/** Whether an operation makes something that a second time would make another of. Batches of events are told apart by themselves. */
const isRepeated = (name: string) => name.startsWith("add_") && name !== "add_events";

export interface OperationRoute<Name extends keyof Operations> {
  readonly name: Name;
  /** Whether it runs in its turn and within the time of a query. */
  readonly isLimited: boolean;
  /** Whether it needs no credential: its body is small then. */
  readonly isPublic: boolean;
}

/** Answers the requests of an operation. */
export function operationAnswer<Name extends keyof Operations>(
  { service, bodies, smallBodies, inTurn, statements, repeats, addressOf }: RouteState,
  { name, isLimited, isPublic }: OperationRoute<Name>,
): GrantedAnswer {
  return async (request, response, grant, signal) => {
    expectType(request, ["application/json"], { isNeeded: grant.kind === "session" });
    const idempotencyKey = idempotencyKeyOf(request);
    const caller = { address: addressOf(request), device: deviceOf(request.headers["user-agent"]) };
    const output = await (isPublic ? smallBodies : bodies).receive(request, signal, async (body) => {
      signal.throwIfAborted();
      const batchKey = batchKeyOf(idempotencyKey, body);
      const input = readBody(name, body, service.nowMs());
      const run = async (until: AbortSignal) =>
        operations[name](service, input, { grant, signal: until, batchKey, ...caller });
      if (isLimited) {
        return inTurn(grant, signal, async (timed) => {
          if (name !== "query") return run(timed);
          const isOnlyTeam = !(await hasSeveralTeams(service.records.db));
          return statements.run({ ...askerOf({ grant }), isOnlyTeam }, timed, () => run(timed));
        });
      }
      if (batchKey === undefined || grant.kind !== "session" || !isRepeated(name)) return run(signal);
      const key = [grant.id, grant.team, name, batchKey.idempotencyKey, batchKey.digest].join();
      return repeats.once(key, () => run(signal));
    });
    // With a cookie that is left, the page for signing in would say that the session has ended by something else.
    if (name === "sign_out" && grant.kind === "session")
      response.setHeader("Set-Cookie", service.account.address.cookie("session", "", 0));
    if (output === undefined) sendNothing(response);
    else sendJson(response, 200, output);
  };
}
