import { didYouMean } from "../grammar/did-you-mean.ts";

/**
 * The name that a word was most likely meant to be. `isSlip`: a typing error, so that it is certain; else the word is an
 * abbreviation, a singular or plural, a name with its unit, or a synonym.
 */
export function nearName(
  word: string,
  names: readonly string[],
): { readonly name: string; readonly isSlip: boolean } | undefined {
  const slip = didYouMean(word.trim(), names);
  if (slip !== undefined) return { name: slip, isSlip: true };
  const plain = letters(word);
  const synonyms = Object.hasOwn(OTHER_WORDS, plain) ? OTHER_WORDS[plain]!.filter((name) => names.includes(name)) : [];
  if (synonyms.length === 1) return { name: synonyms[0]!, isSlip: false };
  if (plain.length < MIN_LETTERS || plain.length > MAX_LETTERS) return undefined;
  for (const isNear of NEAR) {
    const near = names.filter((name) => letters(name).length >= MIN_LETTERS && isNear(plain, letters(name)));
    if (near.length === 1) return { name: near[0]!, isSlip: false };
    if (near.length > 1) return undefined;
  }
  return undefined;
}

const letters = (word: string) => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

// Too many names begin with the same two letters.
const MIN_LETTERS = 3;
const MAX_LETTERS = 64;

/** From the surest to the least sure. */
const NEAR: readonly ((word: string, name: string) => boolean)[] = [
  (word, name) => name.startsWith(word) || word.startsWith(name),
  (word, name) => name.endsWith(word) || word.endsWith(name),
  // "avg" of "average", "cmd" of "command".
  (word, name) => word[0] === name[0] && (isWithin(word, name) || isWithin(name, word)),
];

/** Whether a word has all letters of another one, in the same order. */
function isWithin(short: string, long: string): boolean {
  let at = 0;
  for (const letter of long) if (letter === short[at]) at++;
  return at === short.length;
}

/** Names that other tools have for the same settings. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  app: ["name"],
  application: ["name"],
  attempts: ["evaluation_periods"],
  cidr: ["value"],
  code: ["status"],
  destination: ["location"],
  folder: ["dir"],
  from: ["name"],
  host: ["domain"],
  hostname: ["domain"],
  href: ["location", "url"],
  id: ["name"],
  interval: ["period", "warm_rate"],
  label: ["name"],
  limit: ["threshold"],
  memorysize: ["memory"],
  origin: ["allowed_origins"],
  origins: ["allowed_origins"],
  output: ["dir"],
  path: ["dir", "file", "location"],
  permissions: ["policy"],
  project: ["name"],
  publish: ["dir"],
  ram: ["memory"],
  records: ["value"],
  retries: ["attempts"],
  rewrite: ["redirects"],
  rewrites: ["redirects"],
  root: ["dir"],
  run: ["command"],
  script: ["command"],
  service: ["name"],
  securitygroupids: ["security_groups"],
  sgs: ["security_groups"],
  src: ["file"],
  start: ["command"],
  statuscode: ["status"],
  subnetids: ["subnets"],
  target: ["location"],
  title: ["name"],
  to: ["location", "emails"],
  url: ["location"],
  webhook: ["url"],
};
