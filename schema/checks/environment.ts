import { quote } from "../../grammar/problem.ts";
import { cleanName } from "../clean-text.ts";
import { removal } from "../edits.ts";
import type { Node } from "../json.ts";
import type { Report } from "../report.ts";

/** Set by the tool for every process (specification, "environment and provided variables"). */
const PROVIDED = ["PORT", "TOOL_STAGE"];

/** Names that end so hold secrets. `MAX_TOKENS`, `TOKEN_URL` and `PUBLIC_KEY` do not. */
const SECRET_NAME =
  /(^|_)(SECRET|SECRET_KEY|PASSWORD|PASSWD|PASSPHRASE|TOKEN|API_?KEY|PRIVATE_KEY|ACCESS_KEY|ENCRYPTION_KEY)$/i;

/** Forms that only credentials have: cloud and service keys, private keys, JSON web tokens, URLs with a password. */
const SECRET_VALUE =
  /^(AKIA|ASIA)[0-9A-Z]{16}$|-----BEGIN [A-Z ]*PRIVATE KEY-----|^gh[pousr]_[A-Za-z0-9]{36,}$|^github_pat_\w{22,}$|^glpat-[\w-]{20,}$|^(sk|rk)_live_[A-Za-z0-9]{16,}$|^xox[abeprs]-[\w-]{10,}$|^AIza[\w-]{35}$|^npm_[A-Za-z0-9]{36}$|^SG\.[\w-]{16,}\.[\w-]{16,}$|^eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}$|^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@$<{]{3,}@/;

/** Values that say where a secret is or that there is none, rather than being one. */
const NO_SECRET =
  /^$|^\$|^[<{%]|^\/|^\.{1,2}\/|^[a-z]+:\/\/|^arn:|^\d+$|^(true|false|none|null|changeme|example|test|dummy|todo|x+|\*+)$/i;

export function checkEnvironment(report: Report, environment: Node | undefined) {
  if (environment?.type !== "object") return;
  for (const member of environment.members) {
    const { key, value } = member;
    const name = key.value;
    if (PROVIDED.includes(name)) {
      report.error("config/provided-variable", key.span, `the tool sets ${quote(name)} itself`, {
        hint: name === "PORT" ? "the app listens on $PORT: remove it" : "it holds the stage's name: remove it",
        fix: removal(environment, member),
      });
    } else if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      report.error("config/variable-name", key.span, `${quote(name)} is no name of a variable`, {
        hint: "a name is letters, digits and _, not beginning with a digit",
        fix: report.suggest(key, cleanName(name.replace(/=.*$/s, ""), { others: "_" })),
      });
    }
    if (value?.type !== "string") continue;
    if (value.value.includes("\0")) {
      report.error("config/variable-value", value.span, `the value of ${quote(name)} holds a NUL character`, {
        hint: "remove it",
        fix: report.suggest(value, value.value.replaceAll("\0", "")),
      });
    }
    const byValue = SECRET_VALUE.test(value.value);
    if (!byValue && (!SECRET_NAME.test(name) || NO_SECRET.test(value.value))) continue;
    // The value is not quoted: this message ends up in logs.
    report.warning("config/secret", byValue ? value.span : key.span, `${quote(name)} looks like a secret`, {
      hint: "tool.json is plain text: keep it with `tool env` instead",
    });
  }
}
