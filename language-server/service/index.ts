// The language service: what an editor may ask about a document. Pure; node.ts is the transport. methods.ts is its map.
export { type DiagnosticData, diagnose } from "./diagnostics.ts";
export {
  type DocumentKind,
  type EmbeddedString,
  type Entry,
  type Path,
  ToolDocument,
  type TreePlace,
} from "./document.ts";
export { type WorkspaceMethod, workspaceMethods } from "./editing-methods.ts";
export { type ClientOptions, type Method, methods, type PlainMethod, plainMethods, type Request } from "./methods.ts";
export { errorPagesUri, kindOf, type Project, type ProjectFile } from "./project.ts";
export { DEFAULT_SETTINGS, readSettings, type Settings } from "./settings.ts";
