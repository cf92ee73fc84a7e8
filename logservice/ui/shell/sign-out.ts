import { call, errorText } from "../data/call.ts";
import { say } from "../kit/toasts.tsx";

/** Ends the session and shows where one signs in. */
export async function signOut(): Promise<void> {
  try {
    await call("sign_out", {});
    location.assign("/sign-in");
  } catch (error) {
    say(errorText(error));
  }
}
