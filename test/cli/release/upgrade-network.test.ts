// tool upgrade in the network of a company: the authorities that its system knows, and its proxy. Node learned both after 20,
// so a newer one runs this, too.
import * as http from "node:http";
import * as tls from "node:tls";
import t from "tap";
import { startConnectProxy } from "../../support/connect-proxy.ts";
import { CERTIFICATE } from "../../support/release-host.ts";
import { requires } from "../../support/require.ts";
import { startUpgradable } from "../../support/upgradable.ts";

const TOKEN = "ghp_0123456789abcdefXYZ";
const skip = requires("tar") || requires("xz");
const readsAuthorities = "setDefaultCACertificates" in tls;
const readsProxy = "setGlobalProxyFromEnv" in http;

t.test("an authority that the system knows and Node does not", { skip }, async (t) => {
  const { upgrade } = await startUpgradable(t);
  const own = { NODE_EXTRA_CA_CERTS: "" };
  const refused = await upgrade(["--check"], { env: { ...own, SSL_CERT_FILE: "/dev/null" } });
  t.equal(refused.code, 1);
  t.match(refused.stderr, /^error: the download of .* failed: /);
  const { stdout, stderr } = await upgrade(["--check"], { env: { ...own, SSL_CERT_FILE: CERTIFICATE } });
  t.equal(stdout, readsAuthorities ? "tool 1.3.0 can be installed: tool upgrade\n" : "", stderr);
});

t.test("a proxy connects to the Git host alone, and is told nothing else", { skip }, async (t) => {
  const { host, upgrade, version } = await startUpgradable(t);
  const proxy = await startConnectProxy(t);
  const env = { HTTPS_PROXY: proxy.url, GIT_HOST_TOKEN: TOKEN };
  const around = await upgrade(["--check"], { env: { ...env, NO_PROXY: "localhost" } });
  t.equal(around.stdout, "tool 1.3.0 can be installed: tool upgrade\n", around.stderr);
  t.same(proxy.connects, [], "not for what NO_PROXY names");

  const { code, stderr } = await upgrade([], { env });
  t.equal(code, 0, stderr);
  t.equal(version(), "1.3.0-pro");
  const api = new URL(host.origin).host;
  const hosts = new Set(proxy.connects.map(({ to }) => (to === api ? "its API" : to.replace(/\d+$/, "PORT"))));
  t.same([...hosts], readsProxy ? ["its API", "127.0.0.1:PORT"] : [], "its API, and the address of its files");
  t.notMatch(JSON.stringify(proxy.connects), TOKEN);
});

t.test("a proxy that is not there", { skip: readsProxy ? skip : "this Node reads no proxy" }, async (t) => {
  const { upgrade, version } = await startUpgradable(t);
  const { code, stderr } = await upgrade([], { env: { https_proxy: "http://127.0.0.1:4" } });
  t.equal(code, 1);
  t.match(stderr, /^error: the download of \S+\/releases\/latest failed: .*ECONNREFUSED.*\n {2}\S/);
  t.equal(version(), "1.2.3-pro");
});
