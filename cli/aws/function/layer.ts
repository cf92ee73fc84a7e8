import type { Lambda } from "@aws-sdk/client-lambda";
import { RUNTIME_LAYER } from "../names.ts";
import type { FunctionCode } from "./upload.ts";

export interface RuntimeLayer {
  /** SHA-256 of the executable, hexadecimal; its archive differs by the version of zlib. */
  readonly hash: string;
  readonly code: () => Promise<FunctionCode>;
}

/**
 * The layer version with this runtime: found by the hash in its description, or published. All apps of an account and region
 * share it.
 */
export async function ensureRuntimeLayer(
  lambda: Lambda,
  layer: RuntimeLayer,
  { signal, note }: { readonly signal: AbortSignal; readonly note: (text: string) => void },
): Promise<string> {
  let marker: string | undefined;
  do {
    // Newest first; a layer that does not exist has no versions.
    const page = await lambda.listLayerVersions(
      { LayerName: RUNTIME_LAYER, ...(marker !== undefined && { Marker: marker }) },
      { abortSignal: signal },
    );
    const existing = page.LayerVersions?.find(({ Description }) => Description === layer.hash);
    if (existing?.LayerVersionArn !== undefined) return existing.LayerVersionArn;
    marker = page.NextMarker;
  } while (marker !== undefined);
  note("the runtime is uploaded, once for all apps of the account and region");
  const published = await lambda.publishLayerVersion(
    {
      LayerName: RUNTIME_LAYER,
      Description: layer.hash,
      Content: await layer.code(),
      CompatibleArchitectures: ["x86_64"],
    },
    { abortSignal: signal },
  );
  return published.LayerVersionArn!;
}
