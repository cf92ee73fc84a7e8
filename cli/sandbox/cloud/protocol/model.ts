// What the installed SDK's clients know of a service: its operations with their shapes, its errors with their status.
// The stand-in reads requests and writes answers by the same model, and the clients' own code does the other side.
import { NormalizedSchema } from "@smithy/core/schema";

export type Protocol = "query" | "json-1.0" | "json-1.1" | "rest-json" | "rest-xml";

export interface Operation {
  readonly name: string;
  readonly input: NormalizedSchema;
  readonly output: NormalizedSchema;
  /** How the operation of a REST protocol is called over HTTP. */
  readonly http: HttpBinding | undefined;
}

export interface HttpBinding {
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
  readonly operations: ReadonlyMap<string, Operation>;
  /** The HTTP status of an error by its code. */
  readonly statusOf: ReadonlyMap<string, number>;
}

type StaticOperation = [9, string, string, Traits, () => unknown, () => unknown];
type StaticError = [-3, string, string, Traits];
type Traits = 0 | { http?: [string, string, number]; httpError?: number; awsQueryError?: [string, number] };

/** Reads the exports of an `@aws-sdk/client-*` package. */
export function modelOf(client: Readonly<Record<string, unknown>>, protocol: Protocol): Model {
  const operations = new Map<string, Operation>();
  const statusOf = new Map<string, number>();
  for (const value of Object.values(client)) {
    if (!Array.isArray(value)) continue;
    if (value[0] === 9) {
      const [, , name, traits, input, output] = value as StaticOperation;
      operations.set(name, {
        name,
        input: schemaOf(input),
        output: schemaOf(output),
        http: traits !== 0 && traits.http !== undefined ? bindingOf(traits.http) : undefined,
      });
    } else if (value[0] === -3) {
      const [, , name, traits] = value as StaticError;
      const { httpError, awsQueryError } = traits === 0 ? {} : traits;
      const status = awsQueryError?.[1] ?? httpError;
      if (status !== undefined) statusOf.set(awsQueryError?.[0] ?? name, status);
    }
  }
  return { protocol, hasBucketInPath: operations.has("ListObjectsV2"), operations, statusOf };
}

function schemaOf(schema: () => unknown): NormalizedSchema {
  return NormalizedSchema.of(schema as Parameters<typeof NormalizedSchema.of>[0]);
}

function bindingOf([method, uri, status]: [string, string, number]): HttpBinding {
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
