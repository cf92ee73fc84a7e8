// A process with a function, which is to be killed: the first argument is the code of a handler, the second an event that is
// handled before "idle" is printed, the third one that stays under way, printed as "busy". Then it ends its watchdog as often
// as the fourth says, and prints "guarded" when the last one has begun. With a fifth the function has namespaces of its own.
import { below } from "../../cli/sandbox/function/process-tree.ts";
import { openWatchdog } from "../../cli/sandbox/function/watchdog.ts";
import { openAws } from "./aws/index.ts";
import { commandOf } from "./processes.ts";
import { activeFunction } from "./sandbox-function.ts";
import { until } from "./until.ts";

const [code = "", first = "{}", second = "{}", kills = "0", namespaces] = process.argv.slice(2);
const aws = await openAws({ clock: { speed: 1_000_000 }, roleDelayMs: 0, ...(namespaces && { hides: [] }) });
const invoke = await activeFunction(aws.state, { "index.js": code });
const result = await invoke(first);
if (result.kind !== "document") throw new Error(JSON.stringify(result));
console.log("idle");
void invoke(second);
await until("the second to be under way", async () => {
  const { events } = await aws.state.service("logs").operations.FilterLogEvents({ logGroupName: "/aws/lambda/app" });
  return events.filter(({ message }) => message?.startsWith("START ")).length === 2;
});
console.log("busy");
for (let count = 0; count < Number(kills); count++) {
  const watchdogs = below(process.pid).filter((pid) => commandOf(pid).endsWith(` sh ${openWatchdog().folder}`));
  for (const pid of watchdogs) process.kill(pid, "SIGKILL");
  await until("the next watchdog", () => openWatchdog().starts === count + 2);
}
console.log("guarded");
