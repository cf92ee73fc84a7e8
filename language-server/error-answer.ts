/** Thrown for a request that is answered with an error of the protocol. */
export class ErrorAnswer extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

// ErrorCodes and LSPErrorCodes of the protocol. Constants, so that its types are all that is imported.
const INVALID_REQUEST = -32600;
const SERVER_NOT_INITIALIZED = -32002;
const REQUEST_CANCELLED = -32800;
const REQUEST_FAILED = -32803;

export const notInitialized = () => new ErrorAnswer(SERVER_NOT_INITIALIZED, "initialize comes first");
export const shutDown = () => new ErrorAnswer(INVALID_REQUEST, "the server has been shut down");
export const cancelled = () => new ErrorAnswer(REQUEST_CANCELLED, "cancelled");
export const failed = (message: string) => new ErrorAnswer(REQUEST_FAILED, message);
