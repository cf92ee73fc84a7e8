import { lookup } from "mrmime";

/** Text that is not `text/*`: without a charset some programs read it as Latin-1. */
const TEXT = /^(text\/|application\/(javascript|json|xml|manifest\+json|ld\+json|xhtml\+xml)$|image\/svg\+xml$)/;

/** The Content-Type of a file by its name's ending. */
export function contentTypeOf(path: string): string {
  const type = lookup(path) ?? "application/octet-stream";
  return TEXT.test(type) ? `${type}; charset=utf-8` : type;
}
