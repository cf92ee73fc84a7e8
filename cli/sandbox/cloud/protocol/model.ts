// The model of a service: its operations with their shapes, its errors with their status.
import { models } from "./model.generated.ts";
import { Shape, type ShapeReference, type ShapeRow } from "./shape.ts";

export type Protocol = "query" | "json-1.0" | "json-1.1" | "rest-json" | "rest-xml";

export interface Operation {
  readonly name: string;
  readonly input: Shape;
  readonly output: Shape;
  /** How the operation of a REST protocol is called over HTTP. */
  readonly http: HttpBinding | undefined;
}

interface HttpBinding {
  readonly method: string;
  readonly segments: readonly string[];
  /** Parameters that the operation is told apart by; an empty text stands for any value. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly status: number;
}

export interface Model {
  readonly protocol: Protocol;
  /** The first part of each path is a bucket, which the operations' paths leave to the host's name. */
  readonly hasBucketInPath: boolean;
  /**
   * The operations that the sandbox implements; of a REST protocol all operations of the service, as a path and query
   * may fit several. The others have a shape of what is in the path alone.
   */
  readonly operations: ReadonlyMap<string, Operation>;
  /** The HTTP status of an error by its code; 400 if absent. */
  readonly statusOf: ReadonlyMap<string, number>;
}

/** As cli/build/sandbox-model.mjs writes it. */
interface Written {
  readonly protocol: Protocol;
  readonly operations: readonly (readonly [
    name: string,
    input: ShapeReference,
    output: ShapeReference,
    method?: string,
    uri?: string,
    status?: number,
  ])[];
  readonly shapes: readonly ShapeRow[];
  readonly statuses: Readonly<Record<string, number>>;
}

/** Throws if no service of the name is generated. */
export function readModel(service: string): Model {
  const { protocol, operations, shapes, statuses } = JSON.parse(models[service]!) as Written;
  return {
    protocol,
    hasBucketInPath: operations.some(([name]) => name === "ListObjectsV2"),
    operations: new Map(
      operations.map(([name, input, output, method, uri, status = 200]) => [
        name,
        {
          name,
          input: new Shape(shapes, input),
          output: new Shape(shapes, output),
          http: method !== undefined && uri !== undefined ? bindingOf(method, uri, status) : undefined,
        },
      ]),
    ),
    statusOf: new Map(Object.entries(statuses)),
  };
}

function bindingOf(method: string, uri: string, status: number): HttpBinding {
  const [path = "", query = ""] = uri.split("?");
  return {
    method,
    segments: path.split("/").filter(Boolean),
    // x-id only says the operation's name once more.
    query: query
      .split("&")
      .filter((part) => part !== "" && !part.startsWith("x-id="))
      .map((part) => part.split("=") as [string, string?])
      .map(([name, value = ""]) => [name, value] as const),
    status,
  };
}
