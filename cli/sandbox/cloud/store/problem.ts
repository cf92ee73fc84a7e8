// Why a folder's state cannot be opened; the message says what to do.

export class StoreProblem extends Error {
  override readonly name = "StoreProblem";
}
