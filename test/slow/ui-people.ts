// Removing a person in the web UI: what becomes of the tokens that the person made is asked, and those that stay are named.
import t from "tap";
import { startChromium } from "../support/ui/chromium.ts";
import type { Window } from "../support/ui/window.ts";
import { BOB, confirmByMail, firstOwner, startWorld, TEAM } from "../support/ui/world.ts";

type CiTokens = { readonly tokens: readonly { readonly name: string }[] };

const BOX = "Also remove the API and CI tokens that this member created";

t.test("a person who made tokens is removed", async (t) => {
  const browser = await startChromium();
  t.teardown(() => browser.close());
  const world = await startWorld(t, browser);
  const ann = await firstOwner(world);
  const bob = await world.newPerson();
  const tokens = async () => (await ann.call<CiTokens>("get_ci_tokens", {})).tokens.map(({ name }) => name);
  /** Bob joins and makes a token; Ann opens the window that removes him. */
  const begin = async (token: string) => {
    await ann.call("add_member", { email: BOB, role: "admin" });
    await bob.open((await world.mailbox.next(BOB)).link);
    // A removal ends what they were signed in to, too.
    await bob.press("button", `Sign in as ${BOB} to join`);
    await bob.sees("heading", "Check your mail");
    await confirmByMail(world.mailbox, bob, BOB);
    const { name } = (await ann.call<{ teams: readonly { name: string }[] }>("get_teams", {})).teams[0]!;
    await bob.press("button", `Join ${name}`);
    await bob.sees("button", `${BOB}, you and the team`);
    await bob.call("add_ci_token", { name: token });
    await ann.open(`${world.service.url}/t/${TEAM}/members`);
    await ann.press("button", `Remove ${BOB}`);
    await ann.sees("dialog", "Remove this member?");
    await ann.shows("CI tokens that this member created:", "dialog");
    t.match(await ann.shows(token, "dialog"), BOX);
    t.equal(await isChecked(ann), false, "nothing more is removed unless that is wanted");
  };

  /** The window that names a token that is left: the one before may still be there. */
  const named = (token: string) =>
    ann.until(`${token} is named`, async () =>
      (await ann.texts("dialog")).find(
        (text) => text.includes(`${BOB} was removed. Tokens that they created still work:`) && text.includes(token),
      ),
    );

  await t.test("the box is not checked, and the tokens are kept", async (t) => {
    await begin("night build");
    await ann.press("button", "Remove member");
    await ann.sees("dialog", "Tokens that still work");
    t.ok(await named("night build"));
    await ann.press("button", "Keep them");
    await ann.until("the window is closed", async () => (await ann.texts("dialog")).length === 0);
    t.same(await tokens(), ["night build"]);
  });

  await t.test("the box is not checked, and the tokens are removed then", async (t) => {
    await begin("day build");
    await ann.press("button", "Remove member");
    await ann.sees("dialog", "Tokens that still work");
    t.match(await named("day build"), "night build", "that of the first time is named, too");
    await ann.press("button", "Remove these 2 tokens");
    await ann.shows("2 tokens were removed", ".toasts");
    t.same(await tokens(), []);
  });

  await t.test("the box is checked", async (t) => {
    await begin("last build");
    await ann.evaluate("document.querySelector('dialog input[type=checkbox]').click()");
    t.equal(await isChecked(ann), true);
    await ann.press("button", "Remove member");
    await ann.shows(`${BOB} was removed`, ".toasts");
    await ann.until("the window is closed", async () => (await ann.texts("dialog")).length === 0);
    t.same(await tokens(), []);
  });
  t.same(world.faults(), [], "nothing went wrong unseen");
});

const isChecked = (window: Window) =>
  window.evaluate<boolean>("document.querySelector('dialog input[type=checkbox]').checked");
