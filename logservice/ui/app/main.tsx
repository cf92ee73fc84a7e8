import { render } from "preact";
import { pageAt } from "../../address/page.ts";
import { firstData } from "../data/first.ts";
import { followLinks } from "../data/location.ts";
import { followPerson } from "../data/person.ts";
import { showTheme } from "../data/preferences.ts";
import { followTeam } from "../data/projects.ts";
import { App } from "./app.tsx";
import { begin } from "./begin.ts";

showTheme();
followTeam();
followPerson();
followLinks((path) => pageAt(path) !== undefined);
render(<App />, document.getElementById("app")!);
void firstData().then(begin);
