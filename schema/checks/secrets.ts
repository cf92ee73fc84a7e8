/** The command that keeps a secret variable in place of tool.json. The value is for stdin: a shell keeps its history. */
export const secretVariableHint = (name: string): string =>
  `tool.json is plain text: \`tool env add ${name} -\` keeps it encrypted, for all stages; then remove it here`;

/** Names that end so hold secrets. `MAX_TOKENS`, `TOKEN_URL` and `PUBLIC_KEY` do not. */
const SECRET_NAME =
  /(^|_)(SECRET|SECRET_KEY|PASSWORD|PASSWD|PASSPHRASE|TOKEN|API_?KEY|PRIVATE_KEY|ACCESS_KEY|ENCRYPTION_KEY)$/i;

/** Forms that only credentials have: cloud and service keys, private keys, JSON web tokens, URLs with a password. */
const SECRET_VALUE =
  /^(AKIA|ASIA)[0-9A-Z]{16}$|-----BEGIN [A-Z ]*PRIVATE KEY-----|^gh[pousr]_[A-Za-z0-9]{36,}$|^github_pat_\w{22,}$|^glpat-[\w-]{20,}$|^(sk|rk)_live_[A-Za-z0-9]{16,}$|^xox[abeprs]-[\w-]{10,}$|^AIza[\w-]{35}$|^npm_[A-Za-z0-9]{36}$|^SG\.[\w-]{16,}\.[\w-]{16,}$|^eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}$|^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@$<{]{3,}@/;

/** Values that say where a secret is or that there is none, rather than being one. */
const NO_SECRET =
  /^$|^\$|^[<{%]|^\/|^\.{1,2}\/|^[a-z]+:\/\/|^arn:|^\d+$|^(true|false|none|null|changeme|example|test|dummy|todo|x+|\*+)$/i;

/** Whether a text has a form that only credentials have. */
export const isSecretText = (text: string): boolean => SECRET_VALUE.test(text);

/** Whether a value under this name is a secret, rather than a reference to one. */
export const isSecretName = (name: string, value: string): boolean => SECRET_NAME.test(name) && !NO_SECRET.test(value);
