// The time that a function has between the platform's SIGTERM and its SIGKILL, which come 500 ms apart.
import t from "tap";
import { stopInTime } from "../../../runtime/lambda/stop.ts";
import { TestClock } from "../../support/test-clock.ts";

interface Row {
  /** How long the app takes to stop by itself; forever if it ignores the signal. */
  readonly appMs: number;
  /** How long the service takes to answer each time, at most what it is given; undefined without a service. */
  readonly serviceMs: number | undefined;
  readonly happens: readonly string[];
}

const rows: Readonly<Record<string, Row>> = {
  "an app that stops": { appMs: 50, serviceMs: undefined, happens: ["0 flush", "50 flush", "50 over"] },
  "an app that ignores the signal": {
    appMs: Number.POSITIVE_INFINITY,
    serviceMs: undefined,
    happens: ["0 flush", "400 kill", "400 flush", "400 over"],
  },
  "entries are sent while the app stops, and its last ones then": {
    appMs: 120,
    serviceMs: 30,
    happens: ["0 flush", "0 finish 400", "30 sent", "120 flush", "120 finish 280", "150 sent", "150 over"],
  },
  "an app that ignores the signal leaves time for its last entries": {
    appMs: Number.POSITIVE_INFINITY,
    serviceMs: 30,
    happens: ["0 flush", "0 finish 400", "30 sent", "300 kill", "300 flush", "300 finish 100", "330 sent", "330 over"],
  },
  "a service that does not answer": {
    appMs: 50,
    serviceMs: Number.POSITIVE_INFINITY,
    happens: ["0 flush", "0 finish 400", "400 given up", "400 flush", "400 finish 0", "400 given up", "400 over"],
  },
};

for (const [name, { appMs, serviceMs, happens }] of Object.entries(rows)) {
  t.test(name, async (t) => {
    const clock = new TestClock();
    const happened: string[] = [];
    const note = (what: string) => happened.push(`${clock.monotonicMs()} ${what}`);
    let kill = () => {};
    const killed = new Promise<void>((resolve) => (kill = resolve));
    const stopped = stopInTime({
      clock,
      supervisor: {
        stop: () => Promise.race([killed, ...(appMs === Number.POSITIVE_INFINITY ? [] : [clock.sleep(appMs)])]),
        kill() {
          note("kill");
          kill();
        },
      },
      entries: { flush: () => void note("flush") },
      sender:
        serviceMs === undefined
          ? undefined
          : {
              async finish(limitMs) {
                note(`finish ${limitMs}`);
                await clock.sleep(Math.min(limitMs, serviceMs));
                note(serviceMs > limitMs ? "given up" : "sent");
              },
            },
    }).then(() => note("over"));
    await clock.advance(1_000);
    await stopped;
    t.same(happened, happens);
  });
}
