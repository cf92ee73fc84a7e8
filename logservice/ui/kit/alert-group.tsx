import type { AlertGroupValue } from "../../../schema/rpc.generated.ts";
import { Text } from "./text.tsx";

/** The group of an episode: `path=/checkout, status=500`. Nothing without groups. */
export function AlertGroup({ of }: { readonly of: readonly AlertGroupValue[] }) {
  if (of.length === 0) return null;
  return (
    <code class="group">
      <Text text={of.map(({ name, value }) => `${name}=${value === null ? "(none)" : value}`).join(", ")} />
    </code>
  );
}
