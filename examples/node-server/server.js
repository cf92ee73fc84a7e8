// A plain HTTP server: it listens on PORT and knows nothing of where it runs. A line of JSON on stdout with a level
// and a message becomes a structured log entry, any other line an entry of its own.
const { readFileSync } = require("node:fs");
const { createServer } = require("node:http");
const { join } = require("node:path");

const orders = JSON.parse(readFileSync(join(__dirname, "orders.json"), "utf8"));
const log = (level, message, fields) => console.log(JSON.stringify({ level, message, fields }));
const euros = (cents) => `€ ${(cents / 100).toFixed(2)}`;

const routes = [
  ["GET", /^\/$/, home],
  ["GET", /^\/orders\/(\d+)$/, order],
  ["GET", /^\/api\/orders$/, listOrders],
  ["GET", /^\/api\/orders\/(\d+)$/, readOrder],
  ["POST", /^\/api\/orders$/, placeOrder],
  ["GET", /^\/slow$/, slow],
  ["POST", /^\/crash$/, crash],
];

const server = createServer(async (request, response) => {
  const url = new URL(request.url, "http://app");
  const matching = routes.filter(([, pattern]) => pattern.test(url.pathname));
  const route = matching.find(
    ([method]) => method === request.method || (method === "GET" && request.method === "HEAD"),
  );
  try {
    if (!route && matching.length > 0) {
      response.setHeader("Allow", matching.map(([method]) => method).join(", "));
      return json(response, 405, { error: `${request.method} is not allowed here` });
    }
    if (!route) return json(response, 404, { error: `nothing at ${url.pathname}` });
    await route[2]({ request, response, url, params: route[1].exec(url.pathname).slice(1) });
  } catch (error) {
    log("error", "request failed", { path: url.pathname, error: error.message });
    if (!response.headersSent) json(response, 500, { error: error.message });
  }
});

server.listen(process.env.PORT, () => log("info", "listening", { stage: process.env.TOOL_STAGE }));
process.on("SIGTERM", () => server.close(() => process.exit(0)));

function home({ response }) {
  const rows = orders
    .map(
      ({ id, customer, items, cents, state }) =>
        `<tr><td><a href="/orders/${id}">#${id}</a></td><td>${escapeHtml(customer)}</td><td>${items.length}</td>` +
        `<td class="sum">${euros(cents)}</td><td><span class="state ${state}">${state}</span></td></tr>`,
    )
    .join("\n");
  html(
    response,
    "Orders",
    `<h1>Orders</h1>
<table><thead><tr><th>Order</th><th>Customer</th><th>Items</th><th class="sum">Total</th><th>State</th></tr></thead>
<tbody>${rows}</tbody></table>
<section><h2>Break it</h2>
<p>Every button sends one request. Then ask in a terminal what happened: <code>tool logs 'status &gt;= 400'</code></p>
<div class="buttons">
<button data-path="/api/orders/42?fail=1">Fail with 500</button>
<button data-path="/api/orders/9999">Ask for a missing order</button>
<button data-path="/slow?ms=1500">Wait 1.5 s</button>
<button data-method="POST" data-path="/crash">Crash the process</button>
<a class="button" href="/no/such/page">Open a missing page</a>
</div>
<ol id="answers" aria-live="polite"></ol></section>
<script src="/assets/app.js"></script>`,
  );
}

function order({ response, params: [id] }) {
  const found = orders.find((one) => one.id === Number(id));
  if (!found) return json(response, 404, { error: `no order ${id}` });
  const items = found.items.map((item) => `<li>${escapeHtml(item)}</li>`).join("");
  html(
    response,
    `Order ${id}`,
    `<p><a href="/">All orders</a></p><h1>Order #${id}</h1>
<p>${escapeHtml(found.customer)}, ${euros(found.cents)}, <span class="state ${found.state}">${found.state}</span></p><ul>${items}</ul>`,
  );
}

function listOrders({ response }) {
  json(response, 200, { orders });
}

function readOrder({ response, url, params: [id] }) {
  if (url.searchParams.has("fail")) throw new Error("the order database did not answer");
  const found = orders.find((one) => one.id === Number(id));
  if (!found) {
    log("warn", "order not found", { order: { id: Number(id) } });
    return json(response, 404, { error: `no order ${id}` });
  }
  log("info", "order read", { order: { id: found.id, state: found.state }, user: { email: found.email } });
  json(response, 200, found);
}

async function placeOrder({ request, response }) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  let placed;
  try {
    placed = JSON.parse(body);
  } catch (error) {
    return json(response, 400, { error: `the body is no JSON: ${error.message}` });
  }
  if (!Array.isArray(placed?.items) || placed.items.length === 0)
    return json(response, 422, { error: "items: is required" });
  log("info", "order placed", { items: placed.items.length });
  json(response, 201, { id: 100, items: placed.items, state: "placed" });
}

async function slow({ response, url }) {
  const ms = Math.min(Number(url.searchParams.get("ms")) || 1000, 10_000);
  await new Promise((resolve) => setTimeout(resolve, ms));
  json(response, 200, { waited: ms });
}

function crash() {
  console.error("the process ends here, as a bug would end it");
  process.exit(1);
}

function json(response, status, value) {
  const body = `${JSON.stringify(value)}\n`;
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

function html(response, title, body) {
  response.setHeader("Content-Type", "text/html; charset=utf-8");
  response.end(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/assets/style.css"></head>
<body><main>${body}</main></body></html>
`);
}

function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
