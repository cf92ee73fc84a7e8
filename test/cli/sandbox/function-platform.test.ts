// The answers of the pipeline behind the function platform's gateways: the rows of vectors/http.json once more, as events.
// Under a domain of their own, as redirects of the default address begin with the stage (lambda-events.test.ts).
import t from "tap";
import type { GatewayKind } from "../../../cli/sandbox/function/events.ts";
import {
  checkLogs,
  checkResponse,
  type Elsewhere,
  httpSuites,
  inRealTime,
  type Row,
  sendRow,
  titleOf,
} from "../../support/http-rows.ts";
import { deploy } from "../../support/runtime-api/deployed.ts";
import { slow } from "../../support/slow.ts";
import { until } from "../../support/until.ts";

const gateways: readonly { readonly kind: GatewayKind; readonly streams: boolean; readonly isSlow?: true }[] = [
  { kind: "rest", streams: true, isSlow: true },
  { kind: "rest", streams: false, isSlow: true },
  { kind: "http", streams: false },
  { kind: "url", streams: true, isSlow: true },
];

// Each suite has a function of its own, and several of its rows wait for a timeout of a second.
t.jobs = 4;

for (const { isSlow, ...gateway } of gateways) {
  const title = `${gateway.kind}${gateway.streams ? ", streamed" : ""}`;
  for (const { name, rows, ...project } of httpSuites()) {
    t.test(`${title}: ${name}`, isSlow ? slow() : {}, async (t) => {
      const deployed = await deploy(t, project, { ...gateway, freezes: false, hasDomain: true });
      for (const row of rows.map((row) => rowBehind(inRealTime(row), gateway))) {
        if (row === undefined) continue;
        await t.test(titleOf(row), async (t) => {
          // The app has a second, by the function's own clock, which goes on while a busy machine stops both.
          const { before, response } = await until("an answer in time", async () => {
            if (row.logs !== undefined) await deployed.function.idle();
            const before = deployed.entries().length;
            const response = await sendRow(deployed.port, row);
            return response.status === 504 && row.status !== 504 ? undefined : { before, response };
          });
          checkResponse(t, row, response);
          if (row.logs === undefined) return;
          await deployed.function.idle();
          // The app starts with the first request, which is none of what the row says.
          const entries = deployed.entries().slice(before);
          checkLogs(t, row, before === 0 ? entries.filter(({ message }) => message !== "app listening") : entries);
        });
      }
    });
  }
}

/** The row as it holds behind a gateway; undefined where it is about a socket. */
function rowBehind(row: Row, gateway: { kind: GatewayKind; streams: boolean }): Row | undefined {
  if (typeof row.request !== "string" || row.socket !== undefined) return undefined;
  const elsewhere = (row.platform ?? []).find(
    ({ kinds, streams }: Elsewhere) =>
      (kinds === undefined || kinds.includes(gateway.kind)) && (streams === undefined || streams === gateway.streams),
  );
  if (elsewhere === undefined) return row;
  const { has, appHas, bytes, why: _why, kinds: _kinds, streams: _streams, ...others } = elsewhere;
  const { bytes: bytesOfRow, ...same } = row;
  const expectedBytes = bytes === undefined ? bytesOfRow : bytes;
  return {
    ...same,
    ...others,
    ...(typeof expectedBytes === "number" && { bytes: expectedBytes }),
    ...(has && { has: { ...row.has, ...has } }),
    ...(appHas && { appHas: { ...row.appHas, ...appHas } }),
  };
}
