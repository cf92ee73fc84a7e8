// Layers: archives that are below /opt of the functions that name them.
import type {
  DeleteLayerVersionCommandInput,
  ListLayersCommandInput,
  ListLayerVersionsCommandInput,
  PublishLayerVersionCommandInput,
} from "@aws-sdk/client-lambda";
import type { Collection } from "../collection.ts";
import { AwsError } from "../protocol/error.ts";
import { functionCodeOf } from "./code.ts";
import type { FunctionCode, LambdaState } from "./state.ts";

export interface LayerVersion {
  readonly name: string;
  readonly number: number;
  readonly arn: string;
  readonly code: FunctionCode;
  readonly description: string | undefined;
  readonly runtimes: readonly string[] | undefined;
  readonly architectures: readonly string[] | undefined;
  readonly createdAt: Date;
}

export class Layers {
  readonly #state: LambdaState;
  readonly versions: Collection<LayerVersion>;
  /** Numbers are never used twice. */
  readonly #next: Collection<number>;

  constructor(state: LambdaState) {
    this.#state = state;
    this.versions = state.world.collection("lambda", state.region, "layer versions");
    this.#next = state.world.collection("lambda", state.region, "next layer versions");
  }

  version(arn: string): LayerVersion | undefined {
    return this.versions.get(arn);
  }

  #of(name: string): LayerVersion[] {
    const short = name.replace(/^arn:.*:layer:/, "");
    return [...this.versions.values()].filter((one) => one.name === short).sort((a, b) => b.number - a.number);
  }

  #versionOf(input: DeleteLayerVersionCommandInput): LayerVersion {
    const version = this.#of(input.LayerName ?? "").find(({ number }) => number === Number(input.VersionNumber));
    if (version === undefined)
      throw new AwsError("ResourceNotFoundException", "The resource you requested does not exist.", 404);
    return version;
  }

  readonly operations = {
    PublishLayerVersion: (input: PublishLayerVersionCommandInput) => {
      const name = (input.LayerName ?? "").replace(/^arn:.*:layer:/, "");
      if (!/^[\w-]{1,64}$/.test(name))
        throw new AwsError(
          "ValidationException",
          `1 validation error detected: Value '${name}' at 'layerName' failed to satisfy constraint`,
        );
      const code = functionCodeOf(this.#state, input.Content ?? {});
      const number = this.#next.get(name) ?? 1;
      this.#next.set(name, number + 1);
      const arn = `arn:aws:lambda:${this.#state.region}:${this.#state.world.accountId}:layer:${name}:${number}`;
      const version: LayerVersion = {
        name,
        number,
        arn,
        code,
        description: input.Description,
        runtimes: input.CompatibleRuntimes,
        architectures: input.CompatibleArchitectures,
        createdAt: this.#state.world.clock.date(),
      };
      this.versions.set(arn, version);
      return { ...summary(version), LayerArn: layerArn(version), Content: content(version) };
    },
    GetLayerVersion: (input: DeleteLayerVersionCommandInput) => {
      const version = this.#versionOf(input);
      return { ...summary(version), LayerArn: layerArn(version), Content: content(version) };
    },
    GetLayerVersionByArn: (input: { Arn?: string }) => {
      const version = this.version(input.Arn ?? "");
      if (version === undefined)
        throw new AwsError("ResourceNotFoundException", "The resource you requested does not exist.", 404);
      return { ...summary(version), LayerArn: layerArn(version), Content: content(version) };
    },
    ListLayerVersions: (input: ListLayerVersionsCommandInput) => {
      const all = this.#of(input.LayerName ?? "");
      const begin = Number(input.Marker ?? 0);
      const limit = input.MaxItems ?? 50;
      return {
        LayerVersions: all.slice(begin, begin + limit).map(summary),
        ...(begin + limit < all.length && { NextMarker: String(begin + limit) }),
      };
    },
    ListLayers: (_input: ListLayersCommandInput) => {
      const names = [...new Set([...this.versions.values()].map(({ name }) => name))];
      return {
        Layers: names.map((name) => {
          const [newest] = this.#of(name);
          return { LayerName: name, LayerArn: layerArn(newest!), LatestMatchingVersion: summary(newest!) };
        }),
      };
    },
    DeleteLayerVersion: (input: DeleteLayerVersionCommandInput) => {
      // Functions that use it keep it; a version that is not there is deleted, too.
      const version = this.#of(input.LayerName ?? "").find(({ number }) => number === Number(input.VersionNumber));
      if (version !== undefined) this.versions.delete(version.arn);
    },
  };
}

const layerArn = ({ arn }: LayerVersion) => arn.replace(/:\d+$/, "");

function summary(version: LayerVersion) {
  return {
    LayerVersionArn: version.arn,
    Version: version.number,
    CreatedDate: version.createdAt.toISOString().replace("Z", "+0000"),
    ...(version.description !== undefined && { Description: version.description }),
    ...(version.runtimes !== undefined && { CompatibleRuntimes: version.runtimes }),
    ...(version.architectures !== undefined && { CompatibleArchitectures: version.architectures }),
  };
}

const content = ({ code }: LayerVersion) => ({ CodeSha256: code.sha256, CodeSize: code.zip.length });
