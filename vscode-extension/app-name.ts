/** The app's name becomes part of cloud names, which leave room for no more characters. */
const MAX_LENGTH = 40;

/** A name of an app (lower-case letters, digits and `-`, beginning with a letter) made of a folder's name. */
export function appName(folderName: string): string {
  const name = folderName
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, MAX_LENGTH)
    .replace(/-+$/, "");
  return name === "" ? "app" : name;
}
