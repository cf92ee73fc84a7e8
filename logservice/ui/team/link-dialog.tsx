import { OneTimeSecret } from "../kit/shown-once.tsx";
import { Text } from "../kit/text.tsx";
import { At } from "../kit/time.tsx";

/** A link that one person hands over to another. */
export interface HandedLink {
  readonly kind: "invite" | "sign-in";
  readonly email: string;
  readonly link: string;
  readonly expires_at: string;
}

/** Shows a link to hand over. */
export function LinkDialog({
  of: { kind, email, link, expires_at },
  onClose,
}: {
  readonly of: HandedLink;
  onClose(): void;
}) {
  return (
    <OneTimeSecret title={kind === "invite" ? "Invite link" : "A link to sign in"} text={link} onClose={onClose}>
      Hand it over to <Text text={email} />, and to nobody else:{" "}
      {kind === "invite"
        ? "whoever opens it can join the team."
        : "whoever opens it is signed in as this person, once."}{" "}
      Copy it now: it will not be shown again. It expires on <At at={expires_at} />.
    </OneTimeSecret>
  );
}
