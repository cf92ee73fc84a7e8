// The stand-in by hand: prints what to set, and runs until it is interrupted.
import { openAws } from "./index.ts";

const aws = await openAws({ ...(process.env.PORT !== undefined && { port: Number(process.env.PORT) }) });
for (const [name, value] of Object.entries(aws.env)) process.stdout.write(`export ${name}=${value}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void aws.close().then(() => process.exit()));
