import { spawnSync } from "node:child_process";

/**
 * Whether a test must be skipped because a program is missing: false, or the reason with how to get it. With
 * TOOL_TEST_REQUIRE=all nothing is skipped, so that the test fails where the program is missing.
 */
export function requires(program: string, how = `Debian: apt-get install ${program}`): string | false {
  if (process.env.TOOL_TEST_REQUIRE === "all") return false;
  const { status } = spawnSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
  return status === 0 ? false : `${program} is not installed (${how})`;
}
