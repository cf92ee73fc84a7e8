// The real service on a file system of 288 MiB that something else fills up under load: what is refused is refused with
// 503 and before it is accepted, what was acknowledged stays, reading still works, and with room again everything does.
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { type RpcClient, RpcFailure, rpcClient } from "../../schema/rpc-client.ts";
import { listening, type Running, spawnTool, tool } from "../support/cli.ts";
import { until } from "../support/until.ts";

// Little more than what the service leaves free (`reserveBytes`).
const DISK_MIB = 288;
const RESERVE_BYTES = 256 * 1024 * 1024;

const disk = join(tmpdir(), `service-full-${process.pid}`);
mkdirSync(disk);
const { status: mounting } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", disk]);
t.teardown(() => {
  if (mounting === 0) spawnSync("umount", ["-l", disk]);
  rmSync(disk, { recursive: true, force: true });
});
const isSkipped = mounting !== 0 && process.env.TOOL_TEST_REQUIRE !== "all";

t.test(
  "a full disk",
  { skip: isSkipped && "no file system could be mounted here (needs root on Linux)" },
  async (t) => {
    t.equal(mounting, 0, "a small file system");
    const filler = join(disk, "filler");
    const freeBytes = () => {
      const { bavail, bsize } = statfsSync(disk);
      return bavail * bsize;
    };
    /** Takes bytes of the disk as another program would; all that there are where the number is infinite. */
    const fill = (bytes: number) => {
      const file = openSync(filler, "a");
      const chunk = Buffer.alloc(1024 * 1024);
      try {
        for (let left = bytes; left > 0; left -= chunk.length) writeSync(file, chunk.subarray(0, Math.min(left, 1e9)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      } finally {
        closeSync(file);
      }
    };
    const start = async (): Promise<{ running: Running; client: RpcClient }> => {
      const running = spawnTool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], { cwd: disk });
      t.teardown(async () => {
        running.kill("SIGKILL");
        await running.ended;
      });
      return { running, client: rpcClient({ url: await listening(running), token }) };
    };
    const init = await tool(["service", "init", "--data", "data", "--format", "json"], { cwd: disk });
    const { token } = JSON.parse(init.stdout);
    // Its first use is written down, which must be no reason to refuse it.
    const fresh = await tool(["service", "token", "add", "--data", "data", "--scope", "events:read"], { cwd: disk });
    const first = await start();
    let client = first.client;
    const { id: project_id } = await client.call("add_project", { project: { name: "app" } });

    const acknowledged = new Set<string>();
    const refusals = new Map<string, number>();
    let next = 0;
    /** One batch of three events and a filled field; whether it was taken. */
    const add = async (): Promise<boolean> => {
      const number = next++;
      const events = Array.from({ length: 3 }, (_, i) => ({
        id: `${number}.${i}`,
        level: "info" as const,
        message: "m",
        fields: { pad: "x".repeat(10_000) },
      }));
      try {
        await client.call("add_events", { project_id, events });
        for (const { id } of events) acknowledged.add(id);
        return true;
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error;
        const said = `${error.status} ${error.message}`;
        refusals.set(said, (refusals.get(said) ?? 0) + 1);
        return false;
      }
    };
    const storedMessages = async (by = client) => {
      const range = { project_id, start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z", limit: 10_000 };
      return (await by.call("search", { ...range, query: "message = m" })).events.map(({ id }) => id).sort();
    };
    const wanted = () => [...acknowledged].sort();

    // Room goes while three clients write.
    let isOver = false;
    const writing = [1, 2, 3].map(async () => {
      while (!isOver) await add();
    });
    await until("some events", () => acknowledged.size > 30);
    fill(freeBytes() - RESERVE_BYTES);
    await until("a refusal", () => refusals.size > 0);
    const taken = acknowledged.size;
    fill(Number.POSITIVE_INFINITY);
    const before = [...refusals.values()].reduce((sum, count) => sum + count, 0);
    await until("more refusals", () => [...refusals.values()].reduce((sum, count) => sum + count, 0) > before + 20);
    isOver = true;
    await Promise.all(writing);
    t.equal(freeBytes(), 0);
    t.strictSame(
      [...refusals.keys()].filter(
        (said) => !/^503 the disk is (nearly )?full: nothing was stored; make room/.test(said),
      ),
      [],
      "nothing but 503",
    );
    t.ok(taken >= 30 && acknowledged.size < next * 3, `${acknowledged.size} of ${next * 3} events were taken`);
    t.strictSame(await storedMessages(), wanted(), "reads go on, and show what was acknowledged and nothing else");
    const reader = rpcClient({
      url: ((await first.running.messages[0]) as { url: string }).url,
      token: fresh.stdout.trim(),
    });
    t.strictSame(await storedMessages(reader), wanted(), "also by a token that was never used before");

    // Records change until their log finds no room.
    let changes = 0;
    const refused = await until("a change without room", async () => {
      try {
        const query = `message = "${"x".repeat(4_000)}"`;
        await client.call("add_search", { search: { project_id, name: `${changes}`, query } });
        changes++;
        return undefined;
      } catch (error) {
        return error as RpcFailure;
      }
    });
    t.match(refused, { status: 503, message: /^the disk is full: nothing was changed; make room/ });
    for (const name of ["a", "b"]) {
      await t.rejects(client.call("add_project", { project: { name } }), { status: 503, message: /^the disk is full/ });
    }
    t.equal((await client.call("get_searches", { project_id })).searches.length, changes);
    t.strictSame(await storedMessages(), wanted());
    const range = { start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
    const { ticket } = await client.call("add_export", { project_id, ...range, format: "ndjson" });
    const { url: address } = (await first.running.messages[0]) as { url: string };
    const headers = { authorization: `Bearer ${token}` };
    const exported = await fetch(new URL(`/export?ticket=${ticket}`, address), { headers });
    t.equal((await exported.text()).trim().split("\n").length, wanted().length, "an export goes on, too");

    rmSync(filler);
    await until("events are taken again", add);
    await client.call("add_project", { project: { name: "with room again" } });
    t.strictSame(await storedMessages(), wanted(), "with room again it goes on");

    // Killed where there is no room, and started where there is.
    fill(Number.POSITIVE_INFINITY);
    await until("a refusal again", async () => !(await add()));
    first.running.kill("SIGKILL");
    await first.running.ended;
    // Also without the memory that processes share, which a full disk has no room for.
    rmSync(join(disk, "data/records.sqlite-shm"), { force: true });
    fill(Number.POSITIVE_INFINITY);
    t.equal(freeBytes(), 0);
    const second = await start();
    client = second.client;
    t.strictSame(await storedMessages(), wanted(), "what was acknowledged is there after a kill, without a free byte");
    const { url } = (await second.running.messages[0]) as { url: string };
    const ready = async () => (await fetch(new URL("/_ready", url))).json();
    t.match(await ready(), { status: "ready", disk: "full" });
    t.match(second.running.stderr(), /the disk is full: nothing is stored until there is room/);
    t.notOk(await add(), "and nothing else is taken");
    await t.rejects(client.call("add_project", { project: { name: "c" } }), {
      status: 503,
      message: /^the disk is full/,
    });
    rmSync(filler);
    await until("events are taken again, without another start", add);
    await client.call("add_project", { project: { name: "without another start" } });
    t.notMatch(await ready(), { disk: "full" });
    t.equal((await client.call("get_searches", { project_id })).searches.length, changes);
    t.ok(await add());
    t.strictSame(await storedMessages(), wanted());
    t.notMatch(first.running.stderr(), /failed:/, "nothing was unexpected");
    second.running.kill("SIGTERM");
    t.equal((await second.running.ended).code, 0);
  },
);
