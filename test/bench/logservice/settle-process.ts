// Makes segments of all that the journal holds and merges until nothing is left to do, as the service does in time: what
// is on the disk then does not depend on when one looks. The service must not run.
import { openEventsStore } from "../../../logservice/events/open.ts";

process.on("disconnect", () => process.exit(1));
const store = await openEventsStore({ directory: process.argv[2]! });
await store.flush();
await store.compact();
await store.close();
process.exit();
