// A real browser's reading of signing in: policies of content, cookies, redirects and forms are only as good as that.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import t from "tap";
import { openOidc } from "../../logservice/account/oidc.ts";
import { HANG_MS } from "../support/hang.ts";
import { CLIENT, type Route, startOwnProvider } from "../support/oidc-provider/own.ts";
import { openAccount } from "../support/person.ts";
import { requires } from "../support/require.ts";
import { startTestService } from "../support/service.ts";
import { startMailServer } from "../support/sign-in/mail-server.ts";

const ANA = "ana@example.com";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

t.test("signing in with Chromium", { skip: requires("chromium") }, async (t) => {
  const mail = await startMailServer(t);
  const provider = await startOwnProvider(t);
  const port = await freePort();
  const origin = `http://logs.localhost:${port}`;
  provider.fault = {
    claims: (claims) => ({ ...claims, email: ANA }),
    routes: {
      // The page of the provider, whose person agrees at once.
      ["/authorize" as Route]: (_: unknown, response: ServerResponse) =>
        void response.writeHead(200, { "content-type": "text/html" }).end("here"),
    },
  };
  const service = await startTestService(t, {
    account: {
      publicUrl: origin,
      port,
      mailer: mail.mailer(),
      oidc: (redirectUrl) => ({
        oidc: openOidc({ issuer: provider.issuer, ...CLIENT, redirectUrl }),
        name: "Example",
        domains: ["example.com"],
      }),
    },
  });
  await service.person(ANA, "owner");
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"],
  });
  t.teardown(() => browser.close());
  const newWindow = async () => {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(HANG_MS);
    page.on("console", (message) => {
      // Chromium also asks for an icon.
      if (!/status of 404/.test(message.text())) blocked.push(message.text());
    });
    return page;
  };
  const blocked: string[] = [];

  const window = await newWindow();
  await window.goto(`${origin}/`);
  await window.fill("#email", ANA);
  await window.click("text=Continue >> nth=0");
  const halves = await window.locator(".half").allInnerTexts();
  const phone = await newWindow();
  await phone.goto((await mail.mailTo(ANA)).link);
  await phone.fill("#code", halves.join(" "));
  await phone.click("text=Sign in that device");
  await phone.waitForSelector("text=The window or terminal that asked is now signed in");
  await openAccount(window, origin);
  t.match(await window.content(), "Signed in as <strong>ana@example.com", "the window goes on by itself");
  await window.click("text=Sign out");
  await window.waitForURL(`${origin}/sign-in`);
  await window.goto(`${origin}/`);
  t.equal(window.url(), `${origin}/sign-in`);

  await window.click("text=Continue with Example");
  await window.waitForURL(`${provider.issuer}/**`);
  await window.goto(provider.callback(window.url()).href);
  await openAccount(window, origin);
  t.match(await window.content(), "Signed in as <strong>ana@example.com", "by OpenID");
  t.same(blocked, [], "no policy is in the way");

  const framing = createServer((_, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end(`<iframe src="${origin}/"></iframe>`),
  );
  await new Promise<void>((resolve) => framing.listen(0, "127.0.0.1", resolve));
  t.teardown(() => framing.close());
  await window.goto(`http://evil.localhost:${(framing.address() as AddressInfo).port}/`);
  await window.waitForTimeout(500);
  t.notMatch(
    await window
      .frames()[1]
      ?.content()
      .catch(() => ""),
    "Signed in as",
    "not in a frame",
  );
  t.end();
});
