import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/**
 * The flags and words of the command line. An unknown flag ends the process with exit code 2; the usage is the comment at the
 * head of the command's file, which `--help` prints. `takesWords`: false refuses words in the same way.
 */
export function argumentsOf(moduleUrl, options, takesWords = true) {
  const usage = () => /^(?:\/\/.*\n)+/.exec(readFileSync(fileURLToPath(moduleUrl), "utf8"))[0].replace(/^\/\/ ?/gm, "");
  try {
    const parsed = parseArgs({
      allowPositionals: takesWords,
      options: { ...options, help: { type: "boolean", short: "h" } },
    });
    if (!parsed.values.help) return parsed;
    console.log(usage());
    process.exit(0);
  } catch (error) {
    console.error(`${error.message.split(". ")[0]}\n\n${usage()}`);
    process.exit(2);
  }
}
