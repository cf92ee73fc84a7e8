// The language service: what an editor may ask about a document. Pure: ../server.ts connects it. methods.ts is its map.
export type { ClientOptions } from "./client-options.ts";
export { type CloudAnswer, type CloudName, type CloudQuestion, NO_NAMES } from "./cloud.ts";
export { diagnose } from "./diagnostics.ts";
export { type DocumentKind, ToolDocument } from "./document.ts";
export { workspaceMethods } from "./editing-methods.ts";
export { type Method, Refusal, type WorkspaceMethod } from "./method.ts";
export { methods, plainMethods } from "./methods.ts";
export type { Move, ToolRun } from "./move-secret.ts";
export { normalUri, uriOfPath } from "./paths.ts";
export { documentKindOf, type Project, type ProjectFile } from "./project.ts";
export { DEFAULT_SETTINGS, type EditorSettings, readSettings } from "./settings.ts";
export { isPage } from "./show-traffic.ts";
export { developmentTraffic, type Traffic, type TrafficNow } from "./traffic.ts";
export type { TrafficQuestion } from "./traffic-question.ts";
