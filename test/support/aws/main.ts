// The stand-in by hand: prints what to set, and runs until it is interrupted. FOLDER has it survive, SPEED is its clock's.
import { openAws } from "./index.ts";

const { PORT, FOLDER, SPEED } = process.env;
const aws = await openAws({
  ...(PORT !== undefined && { port: Number(PORT) }),
  ...(FOLDER !== undefined && { folder: FOLDER }),
  ...(SPEED !== undefined && { clock: { speed: Number(SPEED) } }),
});
for (const [name, value] of Object.entries(aws.env)) process.stdout.write(`export ${name}=${value}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void aws.close().then(() => process.exit()));
