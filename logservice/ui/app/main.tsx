import { render } from "preact";
import { pageAt } from "../../address/page.ts";
import { readFirstData } from "../data/first.ts";
import { followLinks, here } from "../data/location.ts";
import { followPerson } from "../data/person.ts";
import { showTheme } from "../data/preferences.ts";
import { followTeam } from "../data/projects.ts";
import { App } from "./app.tsx";
import { showFirstData } from "./begin.ts";

/** How long the page waits for its data before it is drawn without them. */
const PATIENCE_MS = 200;

showTheme();
followTeam();
followPerson();
followLinks((path) => pageAt(path) !== undefined);
// Links and the button back lead elsewhere before the data are there.
const { path, search } = here.peek();
let isAwaited = true;
/** Undefined while it may still come: the script is loaded beside the page, and may run before what follows its head. */
function placeOfApp(): HTMLElement | undefined {
  const place = document.getElementById("app");
  if (place !== null) return place;
  if (isAwaited || document.body === null) return undefined;
  // The connection ended before it, or takes too long.
  const made = document.createElement("div");
  made.id = "app";
  document.addEventListener("DOMContentLoaded", () => {
    for (const late of document.querySelectorAll("#app")) if (late !== made) late.remove();
  });
  return document.body.appendChild(made);
}
let isShown = false;
const show = (): void => {
  if (isShown) return;
  const place = placeOfApp();
  if (place === undefined) {
    requestAnimationFrame(show);
    return;
  }
  isShown = true;
  // The content of the page while there is no script.
  place.replaceChildren();
  render(<App />, place);
};
// Drawn once and with its data if those come soon: what was drawn before would have to be drawn anew.
const isLate = setTimeout(show, PATIENCE_MS);
void readFirstData().then((first) => {
  clearTimeout(isLate);
  isAwaited = false;
  showFirstData(first, path + search);
  show();
});
