import { accountPage } from "../account/pages/account.ts";
import { confirmBySession } from "../account/sign-in.ts";
import { RpcError } from "../error.ts";
import { messagePage } from "../html/message.ts";
import { teamsOf } from "../records/people.ts";
import type { Browser, PageRoute } from "./browser.ts";

/** The page of whoever is signed in, where that person may sign in a terminal. `version` is that of the service. */
export function accountRoutes(version: string): readonly PageRoute[] {
  const show = async (browser: Browser, problem?: string): Promise<void> => {
    const { service } = browser;
    const person = await browser.person();
    if (person === undefined) return browser.redirect("/sign-in?next=/account");
    const teams = await teamsOf(service.records.db, person.id);
    const page = accountPage({
      email: person.email,
      teams: teams.map(({ id, name, role }) => ({ id, name, role, isCurrent: teams.length === 1 })),
      url: service.account.address.origin,
      isMailed: service.account.mails !== undefined,
      problem,
      form: browser.form("/sign-out"),
      confirmForm: browser.form(CONFIRM),
      service: version,
    });
    browser.sendPage(page, problem === undefined ? 200 : 400);
  };
  return [
    { path: "/account", show: (browser) => show(browser) },
    {
      path: CONFIRM,
      send: async (browser, fields) => {
        browser.requireForm(fields, CONFIRM);
        const { service, address } = browser;
        const person = await browser.person();
        if (person === undefined) return browser.redirect("/sign-in");
        if (service.account.mails !== undefined)
          throw new RpcError("forbidden", "this service sends mails: open the link in yours");
        try {
          const { unproven } = person.session;
          await confirmBySession(service, { ...person, unproven }, fields.get("code") ?? "", address);
        } catch (error) {
          if (!(error instanceof RpcError) || error.type !== "invalid") throw error;
          return show(
            browser,
            "Nothing that waits to sign in as you shows this code: compare it, or begin again there.",
          );
        }
        const text = `What asked is now signed in as ${person.email}. You can close this page.`;
        const link = { href: "/account", text: "Your account" };
        browser.sendPage(messagePage({ title: "Signed in", text, isProblem: false, link }));
      },
    },
  ];
}

const CONFIRM = "/account/confirm";
