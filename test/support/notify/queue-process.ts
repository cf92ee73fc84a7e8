// A delivery queue in a process of its own, which may be killed. Arguments: the folder of the records, the URL of the mail
// server.
import { systemClock } from "../../../grammar/units/clock.ts";
import { openMailer } from "../../../logservice/mail/mailer.ts";
import { DeliveryQueue } from "../../../logservice/notify/delivery-queue.ts";
import { openRecords } from "../../../logservice/records/open.ts";
import { SETTINGS } from "./world.ts";

const [directory = "", smtp = ""] = process.argv.slice(2);
const records = await openRecords(directory);
const queue = new DeliveryQueue({
  records,
  settings: { ...SETTINGS, mailer: openMailer({ url: smtp, from: "Logs <logs@example.com>" }, systemClock) },
  origin: () => "https://logs.example.com",
  clock: systemClock,
  failed: (message, error) => process.stderr.write(`${message}: ${error}\n`),
});
queue.kick();
process.stdout.write("open\n");
// Another process adds deliveries: this one looks as a service does that is told of them.
setInterval(() => queue.kick(), 20);
