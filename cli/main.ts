import { version } from "./version.ts";

export async function run(): Promise<void> {
  process.stdout.write(`tool ${version}\n`);
}
