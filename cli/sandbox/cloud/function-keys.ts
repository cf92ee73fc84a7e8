// The keys of execution environments. Lambda gives each those of a session of the function's role.
import { randomLetters } from "./random-name.ts";

export interface FunctionKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly functionName: string;
  /** ARN of the role in whose name the function calls. */
  readonly role: string;
}

/** No other key begins so: one that is no longer known is that of a function that has ended. */
const PREFIX = "ASIAFUNCTION";

/** They are not kept: environments end with the process. */
export class FunctionKeys {
  readonly #keys = new Map<string, FunctionKey>();

  issue(functionName: string, role: string): FunctionKey {
    const key: FunctionKey = {
      accessKeyId: `${PREFIX}${randomLetters(8)}`,
      secretAccessKey: randomLetters(40),
      sessionToken: randomLetters(80),
      functionName,
      role,
    };
    this.#keys.set(key.accessKeyId, key);
    return key;
  }

  find(accessKeyId: string): FunctionKey | undefined {
    return this.#keys.get(accessKeyId);
  }

  revoke({ accessKeyId }: FunctionKey): void {
    this.#keys.delete(accessKeyId);
  }
}

export function isOfFunction(accessKeyId: string): boolean {
  return accessKeyId.startsWith(PREFIX);
}
