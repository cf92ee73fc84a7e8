import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { RpcError } from "../error.ts";
import { sendError } from "../http/send.ts";

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  /** The compressed forms that the build has made, the smallest first. */
  readonly packed: readonly { readonly coding: string; readonly bytes: Buffer }[];
}

/**
 * Makes a function that sends the files of a folder, which the build has made. They are read once: a page that was
 * loaded asks for the files of its own build later, and an upgrade may have removed them from the disk.
 */
export function assetSender(
  folder: string,
): (name: string, request: IncomingMessage, response: ServerResponse) => void {
  const assets = new Map<string, Asset>();
  for (const name of readdirSync(folder)) {
    const type = TYPES[/^[\w-]+\.(js|css)$/.exec(name)?.[1] ?? ""];
    if (type === undefined) continue;
    const packed = CODINGS.flatMap(([coding, ending]) => {
      const file = join(folder, `${name}.${ending}`);
      return existsSync(file) ? [{ coding, bytes: readFileSync(file) }] : [];
    });
    assets.set(name, { type, plain: readFileSync(join(folder, name)), packed });
  }
  return (name, request, response) => {
    const asset = assets.get(name);
    if (asset === undefined) return sendError(response, NO_FILE);
    const accepted = String(request.headers["accept-encoding"] ?? "");
    const packed = asset.packed.find(({ coding }) => accepts(accepted, coding));
    const { bytes } = packed ?? { bytes: asset.plain };
    response.writeHead(200, {
      ...{ "Content-Type": asset.type, "Content-Length": bytes.length, Vary: "Accept-Encoding" },
      // The name has the hash of what is in it.
      "Cache-Control": "public,max-age=31536000,immutable",
      ...(packed && { "Content-Encoding": packed.coding }),
    });
    response.end(bytes);
  };
}

/** Whether an Accept-Encoding names a coding, and not with the weight 0 (RFC 9110, section 12.5.3). */
function accepts(header: string, coding: string): boolean {
  return header.split(",").some((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    return name === coding && !parameters.some((text) => /^q=0(\.0*)?$/.test(text));
  });
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};
const CODINGS = [
  ["br", "br"],
  ["gzip", "gz"],
] as const;
const NO_FILE = new RpcError("not_found", "there is no such file: the service has been upgraded, load the page again");
