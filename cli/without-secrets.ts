/** Secrets in the shell that are for the tool only. An app may print its environment, or send it to an error tracker. */
const SECRETS_OF_THE_TOOL = [
  "TOOL_LOGS_TOKEN",
  "TOOL_CONFIG",
  "TOOL_SMTP_URL",
  "TOOL_RECORDS_PASSWORD",
  "TOOL_OIDC_SECRET",
  "TOOL_STRIPE_KEY",
  "TOOL_STRIPE_WEBHOOK_SECRET",
];

/** The shell's variables as other programs get them: without the tool's own secrets. */
export function withoutSecrets(env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const others = { ...env };
  for (const name of SECRETS_OF_THE_TOOL) delete others[name];
  return others;
}
