import type { FunctionComponent } from "preact";
import type { Page } from "../../address/page.ts";
import { projectsProblem } from "../data/projects.ts";
import { page, project, projects, session } from "../data/session.ts";
import { Explorer } from "../explorer/explorer.tsx";
import { late } from "../kit/late.tsx";
import { NoProject } from "../kit/no-project.tsx";
import { Waiting } from "../kit/state.tsx";
import { PageFrame } from "../shell/frame.tsx";
import { NotHere } from "../shell/not-here.tsx";
import { Home } from "./home.tsx";

/** Pages that are loaded when they are first shown. The explorer comes with the page. */
const Projects = late(() => import("../projects/projects.tsx").then(({ Projects }) => Projects));
const ProjectSettings = late(() => import("../projects/settings.tsx").then(({ ProjectSettings }) => ProjectSettings));
const Start = late(() => import("../start/start.tsx").then(({ Start }) => Start));
const Searches = late(() => import("../searches/searches.tsx").then(({ Searches }) => Searches));
const Alerts = late(() => import("../alerts/alerts.tsx").then(({ Alerts }) => Alerts));
const Alert = late(() => import("../alerts/alert.tsx").then(({ Alert }) => Alert));
const Notifications = late(() =>
  import("../notifications/notifications.tsx").then(({ Notifications }) => Notifications),
);
const Notification = late(() => import("../notifications/notification.tsx").then(({ Notification }) => Notification));
const Usage = late(() => import("../projects/usage.tsx").then(({ Usage }) => Usage));
const Tokens = late(() => import("../tokens/tokens.tsx").then(({ Tokens }) => Tokens));
const Members = late(() => import("../team/members.tsx").then(({ Members }) => Members));
const Audit = late(() => import("../audit/audit.tsx").then(({ Audit }) => Audit));
const LanguagePage = late(() => import("../help/language.tsx").then(({ LanguagePage }) => LanguagePage));

/** The whole page: the frame, and in it what the address says. */
export function App() {
  const at = page.value;
  return (
    <PageFrame>
      {session.value === undefined ? <Waiting /> : at === undefined ? <NotHere /> : <PageOf at={at} />}
    </PageFrame>
  );
}

function PageOf({ at }: { readonly at: Page }) {
  const isKnown = projects.value !== undefined && projectsProblem.value === undefined;
  if ("project" in at && isKnown && project.value === undefined) return <NoProject key={at.project} />;
  switch (at.kind) {
    case "home":
      return <Home />;
    case "help":
      return <LanguagePage />;
    case "team": {
      const Section = { projects: Projects, usage: Usage, members: Members, tokens: Tokens, audit: Audit }[at.section];
      return <Section key={at.team} />;
    }
    case "project": {
      const Section: FunctionComponent<{ readonly projectId: string }> = {
        ...{ events: Explorer, searches: Searches, alerts: Alerts, notifications: Notifications },
        ...{ start: Start, settings: ProjectSettings },
      }[at.section];
      return <Section key={`${at.team}/${at.project}`} projectId={at.project} />;
    }
    case "item": {
      const Item = at.section === "alerts" ? Alert : Notification;
      return <Item key={`${at.team}/${at.project}/${at.id}`} projectId={at.project} id={at.id} />;
    }
  }
}
