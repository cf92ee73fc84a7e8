import type { EditorSettings } from "./settings.ts";

/** The abilities of the client, as it announced them at start, and the user's settings. */
export interface ClientOptions {
  /** Whether completion may leave placeholders to tab through. */
  readonly snippets: boolean;
  /** Whether hovers and documentation may be Markdown. */
  readonly markdown: boolean;
  /** Whether the server reports JSON syntax; false if the client does. */
  readonly syntax: boolean;
  /** Whether a code action may create a file. */
  readonly createsFiles: boolean;
  /** Whether the server can run the program `tool`, for code actions that need it. */
  readonly runsTool: boolean;
  /** Whether settings of Pro get a hint, as the free edition does not deploy them. */
  readonly hintsPro?: boolean;
  readonly settings: EditorSettings;
  /** The address of a code's explanation, with `{code}` for the code; undefined if there is none. */
  readonly documentation?: string | undefined;
}
