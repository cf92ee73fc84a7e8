/** The sandbox that a command works on in place of an account of the cloud. */
export interface SandboxAccess {
  /** Address of all services, such as `http://127.0.0.1:4040`. */
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The URL of a deployed stage: one that this machine resolves. */
  urlOf(app: string, stage: string): string;
}
