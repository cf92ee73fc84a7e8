// Apart from require.ts, as most tests need nothing of the sandbox.
import { refusalOfNamespaces } from "../../cli/sandbox/function/namespaces-here.ts";

/** Whether a test must be skipped because functions of the sandbox get no namespaces here, as `requires` says it. */
export async function requiresNamespaces(): Promise<string | false> {
  if (process.env.TOOL_TEST_REQUIRE === "all") return false;
  const refusal = await refusalOfNamespaces();
  return refusal === undefined ? false : `this machine refuses namespaces: ${refusal}`;
}
