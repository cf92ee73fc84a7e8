// Apart from require.ts, as most tests need nothing of the sandbox.
import { refusalOfNamespaces } from "../../cli/sandbox/function/namespaces-here.ts";

/**
 * Why a test is skipped because functions of the sandbox get no namespaces here, or false. No installation helps: the kernel, or
 * what a container is allowed, decides.
 */
export async function requiresNamespaces(): Promise<string | false> {
  const refusal = await refusalOfNamespaces();
  return refusal === undefined ? false : `this machine refuses namespaces: ${refusal}`;
}
