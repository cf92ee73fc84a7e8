// Archives that a release never has, with entries that programs which unpack understand in ways of their own.
import type { TarEntry } from "./release-host.ts";

export interface HostileArchive {
  readonly name: string;
  /** After those of a release that is whole. */
  readonly more: readonly TarEntry[];
}

const file = (name: string): TarEntry => ({ name, type: "0", content: "hostile" });

/** A record of a pax header (POSIX.1-2001), for the entry that follows. */
function pax(key: string, value: string): TarEntry {
  const text = ` ${key}=${value}\n`;
  const bytes = text.length + String(text.length + 2).length;
  return { name: "*/pax", type: "x", content: `${bytes}${text}` };
}

/** The rows. `outside` is a folder that nothing may be written to; there is a file `own` in it. */
export const hostileArchives = (outside: string): readonly HostileArchive[] => [
  { name: "a path above", more: [file("../hostile")] },
  { name: "a path that leads above", more: [file("*/lib/../../hostile")] },
  { name: "a path beside the folder", more: [file("hostile")] },
  { name: "an absolute path", more: [file(`${outside}/hostile`)] },
  { name: "a link that leads out", more: [{ name: "*/lib/out", type: "2", link: outside }, file("*/lib/out/hostile")] },
  { name: "a link that stays in", more: [{ name: "*/lib/tool", type: "2", link: "../bin/tool" }] },
  { name: "a hard link to a file outside", more: [{ name: "*/lib/own", type: "1", link: `${outside}/own` }] },
  { name: "a hard link to a file of it", more: [{ name: "*/lib/own", type: "1", link: "*/bin/tool" }] },
  { name: "a device of characters", more: [{ name: "*/lib/null", type: "3" }] },
  { name: "a device of blocks", more: [{ name: "*/lib/disk", type: "4" }] },
  { name: "a pipe", more: [{ name: "*/lib/pipe", type: "6" }] },
  { name: "a name with a line end", more: [file("*/lib/a\nb")] },
  { name: "a name with a NUL", more: [file("*/bin/tool\0b")] },
  { name: "a file twice", more: [file("*/bin/tool")] },
  { name: "a file that is a folder, too", more: [{ name: "*/bin/tool/", type: "5" }] },
  { name: "a path in a header of its own", more: [pax("path", "../hostile"), file("*/lib/a")] },
  {
    name: "a long name in an entry of its own",
    more: [{ name: "././@LongLink", type: "L", content: "../hostile\0" }, file("*/lib/a")],
  },
];
