// The language service: what an editor may ask about a document, one line a feature. Pure; node.ts is the transport.
export {
  type DocumentKind,
  type EmbeddedString,
  type Entry,
  type Path,
  ToolDocument,
  type TreePlace,
} from "./document.ts";
export { kindOf, type Project, type ProjectFile } from "./project.ts";
