import type { Clock } from "../grammar/units/clock.ts";
import type { Directory, Profiles } from "../schema/index.ts";
import type { CloudNames } from "./cloud-names.ts";
import type { Host } from "./host.ts";
import {
  type CloudAnswer,
  type CloudQuestion,
  type EditorSettings,
  type Project,
  type ProjectFile,
  ToolDocument,
  type TrafficNow,
  type TrafficQuestion,
  uriOfPath,
} from "./service/index.ts";
import type { TrafficFacts } from "./traffic-facts.ts";

/** How long what was read of a project's file is reused, unless a client that watches files reports a change. */
const FILES_TTL_MS = 2000;

/** Error pages and queries are at most a few folders below their tool.json. */
const MAX_LEVELS_UP = 4;

/** The folder of the project that a document belongs to: the nearest one with a tool.json, else its own. With a slash. */
export function projectFolderOf(uri: string, directoryOf: Host["directoryOf"]): string {
  const own = uri.slice(0, uri.lastIndexOf("/") + 1);
  if (uri.endsWith("/tool.json") || directoryOf(own) === undefined) return own;
  let folder = own;
  for (let level = 0; level < MAX_LEVELS_UP; level++) {
    if (directoryOf(folder)?.kind("tool.json") === "file") return folder;
    const up = folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1);
    if (up.length >= folder.length || !/^file:\/\/.*\/./.test(up)) break;
    folder = up;
  }
  return own;
}

interface ProjectFolderParts {
  readonly uri: string;
  readonly directory: Directory | undefined;
  /** A configuration as it is in the editor; undefined if it is not open. */
  readonly openConfig: (uri: string) => ToolDocument | undefined;
  readonly clock: Clock;
  readonly profiles: Host["profiles"];
  readonly cloud: CloudNames;
  readonly traffic: TrafficFacts;
}

/** A project's folder. What was seen is believed for a moment: a keystroke must not read the disk again. */
export class ProjectFolder implements Project {
  readonly uri: string;
  readonly directory?: Directory;
  readonly #openConfig: (uri: string) => ToolDocument | undefined;
  readonly #clock: Clock;
  readonly #profiles: Host["profiles"];
  readonly #cloud: CloudNames;
  readonly #traffic: TrafficFacts;
  readonly #source: Directory | undefined;
  readonly #seen = new Map<string, { readonly at: number; readonly value: unknown }>();

  constructor({ uri, directory, openConfig, clock, profiles, cloud, traffic }: ProjectFolderParts) {
    this.uri = uri;
    this.#clock = clock;
    this.#openConfig = openConfig;
    this.#profiles = profiles;
    this.#cloud = cloud;
    this.#traffic = traffic;
    this.#source = directory;
    if (directory === undefined) return;
    this.directory = {
      kind: (path) => this.#once(`kind ${path}`, () => directory.kind(path)),
      // Editors leave a byte order mark out of the text: places on the first line are counted without it.
      read: (path) => this.#once(`read ${path}`, () => directory.read(path)?.replace(/^\ufeff/, "")),
      readEnd: (path, maxBytes) => this.#once(`end of ${path} ${maxBytes}`, () => directory.readEnd?.(path, maxBytes)),
      list: (path) => this.#once(`list ${path}`, () => directory.list?.(path) ?? []),
      leadsOutOf: (top, path) => this.#once(`${path} out of ${top}`, () => directory.leadsOutOf?.(top, path) ?? false),
    };
  }

  listFiles(folder: string): readonly ProjectFile[] {
    return this.directory?.list?.(folder) ?? [];
  }

  profiles(): Profiles {
    return this.#once("profiles", () => this.#profiles?.() ?? new Map());
  }

  cloudNames(question: CloudQuestion): CloudAnswer {
    return this.#cloud.get(this.uri, question);
  }

  traffic(question: TrafficQuestion | undefined, source: EditorSettings["traffic"]): TrafficNow | undefined {
    return this.#traffic.get({ folder: this.uri, directory: this.#source, question, source });
  }

  config(): ToolDocument | undefined {
    const uri = `${this.uri}tool.json`;
    return (
      this.#openConfig(uri) ??
      this.#once("config", () => {
        const text = this.directory?.read("tool.json");
        return text === undefined ? undefined : new ToolDocument({ uri, version: 0, text, kind: "config" });
      })
    );
  }

  openFile(path: string): ToolDocument | undefined {
    const uri = uriOfPath(this.uri, path);
    return uri === undefined ? undefined : this.#openConfig(uri);
  }

  forget(): void {
    this.#seen.clear();
  }

  #once<T>(key: string, look: () => T): T {
    const now = this.#clock.monotonicMs();
    const entry = this.#seen.get(key);
    if (entry !== undefined && now - entry.at < FILES_TTL_MS) return entry.value as T;
    const value = look();
    this.#seen.set(key, { at: now, value });
    return value;
  }
}
