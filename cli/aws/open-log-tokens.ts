import type { LogToken, LogTokens, VersionToken } from "../platform/log-tokens.ts";
import type { Watched } from "../platform/progress.ts";
import type { TargetOptions } from "../platform/target.ts";
import { openCloud } from "./clients.ts";
import { explained } from "./errors.ts";
import { aliasesOf, isNotFound } from "./function/aliases.ts";
import { numbered } from "./function/record.ts";
import { functionName, LOG_TOKENS, parameterPrefix, TAGS } from "./names.ts";
import { allBelow } from "./variables/store.ts";
import { withoutQuoted } from "./variables/without-quoted.ts";

/** The tokens of the app that tool.json names, in SecureString parameters `/tool/<app>/.logs/<stage>`. Makes no call yet. */
export function openTokenParameters({ env, clock, config, resolved, sandbox }: TargetOptions): LogTokens {
  const region = resolved.regions[0]!;
  const { profile } = resolved;
  const cloud = openCloud({ env, clock, region, profile, sandbox });
  const prefix = `${parameterPrefix(config.name)}${LOG_TOKENS}/`;
  const call = async <T>({ report }: Watched, run: () => Promise<T>) => {
    const tell = (isOver: boolean) => () => report({ kind: "throttled", isOver });
    const stop = cloud.onThrottling({ throttled: tell(false), resumed: tell(true) });
    try {
      return await explained({ region, profile, isSandbox: sandbox !== undefined }, run);
    } finally {
      stop();
    }
  };
  const tokenOf = async (lambda: Awaited<ReturnType<typeof cloud.lambda>>, version: string, signal: AbortSignal) => {
    const { Environment } = await lambda.getFunctionConfiguration(
      { FunctionName: functionName(config.name), Qualifier: version },
      { abortSignal: signal },
    );
    return Environment?.Variables?.TOOL_LOGS_TOKEN;
  };
  return {
    read: (stage, watched) =>
      call(watched, async () => {
        const { Parameters = [] } = await (await cloud.ssm()).getParameters(
          { Names: [`${prefix}${stage}`], WithDecryption: true },
          { abortSignal: watched.signal },
        );
        return Parameters[0]?.Value === undefined ? undefined : readToken(Parameters[0].Value);
      }),
    write: (stage, token, watched) =>
      call(watched, async () => {
        const ssm = await cloud.ssm();
        const Value = JSON.stringify(token);
        const parameter = { Name: `${prefix}${stage}`, Value, Type: "SecureString" } as const;
        await withoutQuoted(Value, () =>
          ssm.putParameter({ ...parameter, Overwrite: true }, { abortSignal: watched.signal }),
        );
        const own = { ResourceType: "Parameter", ResourceId: parameter.Name } as const;
        await ssm.addTagsToResource({ ...own, Tags: [{ Key: TAGS.app, Value: config.name }] });
      }),
    all: (watched) =>
      call(watched, async () => {
        const parameters = await allBelow({ ssm: await cloud.ssm(), signal: watched.signal }, prefix, true);
        const read = parameters.map(
          ({ Name = "", Value = "" }) => [Name.slice(prefix.length), readToken(Value)] as const,
        );
        return new Map(read.flatMap(([stage, token]) => (token === undefined ? [] : [[stage, token] as const])));
      }),
    versions: (watched) =>
      call(watched, async () => {
        const lambda = await cloud.lambda();
        const name = functionName(config.name);
        const aliases = await aliasesOf(lambda, name, watched.signal)
          .list()
          .catch((error: unknown) => {
            // An app that was never deployed has none.
            if (isNotFound(error)) return [];
            throw error;
          });
        const versions = new Set(aliases.flatMap(({ FunctionVersion }) => numbered(FunctionVersion) ?? []));
        const read = [...versions].map(async (version): Promise<VersionToken[]> => {
          const token = await tokenOf(lambda, version, watched.signal);
          return token === undefined ? [] : [{ version, token }];
        });
        return (await Promise.all(read)).flat().sort((a, b) => Number(a.version) - Number(b.version));
      }),
    ofVersion: (version, watched) => call(watched, async () => tokenOf(await cloud.lambda(), version, watched.signal)),
  };
}

/** Undefined for what another program wrote: the next deploy of a person replaces it. */
function readToken(text: string): LogToken | undefined {
  let value: Partial<LogToken> | null;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of JSON.parse quotes the text.
    return undefined;
  }
  const { service, project, token, retired = [] } = value ?? {};
  if (typeof service !== "string" || typeof project !== "string" || typeof token !== "string") return undefined;
  return { service, project, token, retired: Array.isArray(retired) ? retired : [] };
}
