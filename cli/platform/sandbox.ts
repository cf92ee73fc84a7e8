/** The sandbox that a command works on in place of an account of the cloud. */
export interface SandboxAccess {
  /** Address of all services, such as `http://127.0.0.1:4040`. */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The URL of a deployed stage that every program of this machine can open. */
  urlOf(app: string, stage: string): string;
  /** Whether the code of a version is as it was deployed. */
  isWhole(app: string, version: string): Promise<boolean>;
  /** A note on the program that runs a managed runtime here; undefined if it is the platform's version. */
  noteOn(runtime: string): Promise<string | undefined>;
  /** The URL of its own name, which browsers and curl resolve everywhere; under it absolute links work. */
  browserUrlOf(app: string, stage: string): string;
}
