// Begins a sign-in with the provider whose issuer is the first argument; prints the address of its page, or the refusal.
import { OidcRefusal } from "../../../logservice/account/oidc.ts";
import { openOwn } from "./refuses.ts";

const line = await openOwn(process.argv[2]!)
  .begin()
  .then(
    ({ url }) => url,
    (error: unknown) => {
      if (!(error instanceof OidcRefusal)) throw error;
      return `${error.kind}: ${error.message}`;
    },
  );
process.stdout.write(`${line}\n`);
