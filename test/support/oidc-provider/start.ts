// A real OpenID provider, and a person at its pages.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Test } from "tap";
import { cleanEnv, root } from "../cli.ts";

/** Starts oidc-provider, which ends with the test; returns its issuer. process.mjs lists its clients and accounts. */
export async function startProvider(t: Test, redirectUrl: string): Promise<string> {
  const program = join(root, "test/support/oidc-provider/process.mjs");
  const child = spawn(process.execPath, [program, redirectUrl], { env: cleanEnv(), stdio: "pipe" });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "exit");
  t.teardown(async () => {
    child.kill();
    await ended;
  });
  const printed = once(child.stdout.setEncoding("utf8"), "data").then(([text]) => String(text).trim());
  const early = ended.then(() => Promise.reject(new Error(`the provider ended early: ${stderr}`)));
  early.catch(() => {});
  return Promise.race([printed, early]);
}

/** More than the redirects of a sign-in with its two pages. */
const MAX_REQUESTS = 20;

/**
 * Does what a browser does with the address of a sign-in, for a person who signs in under a name and agrees, or who
 * cancels. Returns the address of the callback, without asking for it.
 */
export async function signInAtPages(
  url: string,
  redirectUrl: string,
  person: { readonly login: string } | "cancels",
): Promise<URL> {
  const cookies = new Map<string, string>();
  let next: { readonly url: string; readonly form?: URLSearchParams } = { url };
  for (let requests = 0; requests < MAX_REQUESTS; requests++) {
    if (next.url.startsWith(redirectUrl)) return new URL(next.url);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const sent: RequestInit = { headers: { cookie }, redirect: "manual" };
    const answer = await fetch(next.url, next.form === undefined ? sent : { ...sent, method: "POST", body: next.form });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === "") cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    const location = answer.headers.get("location");
    const text = await answer.text();
    if (location !== null) next = { url: new URL(location, next.url).href };
    else next = step(text, next.url, person);
  }
  throw new Error(`no callback after ${MAX_REQUESTS} requests, the last one to ${next.url}`);
}

/** Returns the request that the person makes on a page. */
function step(page: string, url: string, person: { readonly login: string } | "cancels") {
  const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
  const cancel = /<a href="([^"]+abort)"/.exec(page)?.[1];
  const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
  if (action === undefined || cancel === undefined || prompt === undefined) throw new Error(`no page to use: ${page}`);
  if (person === "cancels") return { url: new URL(cancel, url).href };
  const form = new URLSearchParams({ prompt });
  if (prompt === "login") form.set("login", person.login);
  if (prompt === "login") form.set("password", "any");
  return { url: new URL(action, url).href, form };
}
