import type { IncomingMessage } from "node:http";
import polka from "polka";
import type { Operations } from "../schema/rpc.generated.ts";
import { rpcSchema } from "../schema/rpc-schema.generated.ts";
import { PUBLIC_SCOPE } from "../schema/rpc-schema.ts";
import { networkOf } from "./access/client-address.ts";
import type { Needed } from "./authenticate.ts";
import { WEBHOOK_PATH } from "./billing/billing.ts";
import { RpcError } from "./error.ts";
import { exportAnswer, teamOfExport } from "./export/route.ts";
import { runHandler } from "./http/exchange.ts";
import { sendError } from "./http/send.ts";
import { addPages } from "./pages/routes.ts";
import { cloudwatchAnswer, firehoseError, withAccessKey } from "./routes/cloudwatch.ts";
import { type GrantedRoute, grantedExchange } from "./routes/exchange.ts";
import { ingestAnswer } from "./routes/ingest.ts";
import { onlyBy, preflight, type RequestHandler } from "./routes/methods.ts";
import { answerHealth, metricsAnswer, readyAnswer } from "./routes/monitoring.ts";
import { operationAnswer } from "./routes/operation.ts";
import { type PublicAnswer, publicExchange } from "./routes/public.ts";
import { openApiAnswer, referenceAnswer } from "./routes/reference.ts";
import { type AppOptions, routeState } from "./routes/state.ts";
import { tailAnswer } from "./routes/tail.ts";
import { webhookAnswer } from "./routes/webhook.ts";
import type { Service } from "./rpc/call.ts";
import { addUi, isForPerson } from "./web/routes.ts";

/** Makes the handler of all HTTP requests. */
export function createApp(service: Service, options: AppOptions): RequestHandler {
  const { limits, version, log, stopping } = options;
  const { clock } = service;
  const state = routeState(service, options);
  const { inTurn, addressOf, rate, smallBodies } = state;
  const app = polka({
    onNoMatch: (request, response) => {
      if (isForPerson(request)) showNoPage(request, response);
      else sendError(response, NOT_FOUND);
    },
  });

  for (const [name, { scope, limited = false }] of Object.entries(rpcSchema.operations)) {
    const isPublic = scope === PUBLIC_SCOPE;
    const answer = operationAnswer(state, { name: name as keyof Operations, isLimited: limited, isPublic });
    post(`/${name}`, { name, needed: scope as Needed, answer, isForBrowsers: BROWSER_ROUTES.has(name) });
  }
  const ingest = ingestAnswer(state);
  post("/ingest/:project", { name: "ingest", needed: "events:write", answer: ingest, isForBrowsers: true });
  const fromCloud = { name: "cloudwatch", needed: "events:write", answer: cloudwatchAnswer(state) } as const;
  app.post(CLOUDWATCH_PATH, withAccessKey(grantedExchange(state, { ...fromCloud, errorAnswer: firehoseError })));
  app.all(CLOUDWATCH_PATH, onlyBy("POST"));
  get("/tail", { name: "tail", needed: "events:read", answer: tailAnswer(state) });
  const answerExport = exportAnswer({ service, stopping, inTurn, addressOf, stalledMs: limits.stalledMs });
  get("/export", { name: "export", needed: "events:read", answer: answerExport, teamOf: teamOfExport });

  app.post(WEBHOOK_PATH, webhookAnswer(state));
  app.all(WEBHOOK_PATH, onlyBy("POST"));

  const ofPages = {
    ...{ service, version, log, addressOf, onlyBy },
    limit: (request: IncomingMessage, signal: AbortSignal) => rate.take(networkOf(addressOf(request)), signal),
  };
  addPages(app, { ...ofPages, bodies: smallBodies });
  const showNoPage = addUi(app, { ...ofPages, run: inTurn });

  show("/openapi.json", openApiAnswer(version));
  show("/reference", referenceAnswer(version));
  show("/_health", answerHealth);
  show("/_ready", readyAnswer(state));
  show("/metrics", metricsAnswer(state));

  return (request, response) =>
    runHandler({ request, response, log, clock }, () => {
      request.url = pathOf(request.url ?? "/");
      app.handler(request as Parameters<typeof app.handler>[0], response);
    });

  function post(path: string, route: GrantedRoute): void {
    app.post(path, grantedExchange(state, route));
    if (route.isForBrowsers) app.options(path, preflight);
    app.all(path, onlyBy("POST"));
  }

  function get(path: string, route: GrantedRoute): void {
    app.get(path, grantedExchange(state, route));
    app.all(path, onlyBy("GET"));
  }

  function show(path: string, answer: PublicAnswer): void {
    const handler = publicExchange(state, answer);
    app.get(path, handler);
    app.head(path, handler);
    app.all(path, onlyBy("GET, HEAD"));
  }
}

const NOT_FOUND = new RpcError("not_found", "there is no such operation: /openapi.json lists them");

const CLOUDWATCH_PATH = "/integrations/cloudwatch";

/** The only operation that pages of other origins may call. */
const BROWSER_ROUTES: ReadonlySet<string> = new Set(["add_events"]);

/** The path and query of a URL, without what some proxies and clients put before them: a host, or a second slash. */
function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, "").replace(/^\/*/, "/");
}
