import type { ComponentChildren } from "preact";
import {
  FUNCTIONS,
  KEYWORD_DOCS,
  KNOWN_FIELDS,
  LEVEL_SPELLINGS,
  LEVELS,
  PIPE_DOCS,
  PIPE_WORDS,
  WORD_DOCS,
} from "../../../grammar/query/reference.ts";
import { pathOf } from "../../address/page.ts";
import { searchOf } from "../../address/view.ts";
import { readKept } from "../data/preferences.ts";
import { session } from "../data/session.ts";
import { QueryCode } from "../query-box/query-code.tsx";
import { FIRST, functionExample, meaningOf, pipeExample, UNITS, WORD_EXAMPLES, WRITTEN } from "./examples.ts";

/** The query language on one page, made of the language's own tables. Each example opens in the last project. */
export function LanguagePage() {
  const events = lastEvents();
  return (
    <div class="page help">
      <header>
        <h1>Query language</h1>
        {events !== undefined && (
          <a class="button" href={events}>
            Explore
          </a>
        )}
        <a class="button" href="/reference">
          API reference
        </a>
      </header>
      <p class="lead">
        A query says which events are shown.{" "}
        {events === undefined ? "" : "Each example here opens in the project where you were last. "}
        After a bar come stages: what is made of those events.
      </p>
      <nav class="contents" aria-label="On this page">
        {TITLES.map((title) => (
          <a key={title} href={`#${anchorOf(title)}`}>
            {title}
          </a>
        ))}
      </nav>
      <Part title="Basics">
        <Examples queries={FIRST} events={events} />
      </Part>
      {WRITTEN.map(({ title, queries }) => (
        <Part title={title} key={title}>
          <Examples queries={queries} events={events} />
        </Part>
      ))}
      <Part title="Operators">
        <Rows
          rows={Object.entries(WORD_DOCS).map(([word, text]) => [
            <code>{word}</code>,
            text,
            <Example query={WORD_EXAMPLES[word]!} events={events} />,
          ])}
        />
      </Part>
      <Part title="Levels" lead="From the least severe. All spellings of a level are equal, in any case.">
        <Rows
          rows={LEVELS.map((level) => [
            <span class={`level-${level === "warn" ? "warning" : level} strong`}>{level}</span>,
            LEVEL_SPELLINGS[level].join(", "),
            <Example query={`level >= ${level}`} events={events} />,
          ])}
        />
      </Part>
      <Part
        title="Sizes and durations"
        lead="A number with one of these units. A bare number is bytes or milliseconds where a field is measured."
      >
        <ul class="units">
          {UNITS.map(({ unit, is }) => (
            <li key={unit}>
              <code>1{unit}</code> <span class="soft">{is}</span>
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Stages" lead="Each takes what the one before it gives: | count by path | sort count desc | limit 5">
        <Rows
          rows={PIPE_WORDS.map((word) => [
            <code>{word}</code>,
            PIPE_DOCS[word],
            <Example query={pipeExample(word)} events={events} />,
          ])}
        />
        <Rows rows={Object.entries(KEYWORD_DOCS).map(([word, text]) => [<code>{word}</code>, text])} />
      </Part>
      <Part title="Functions" lead="In the stages stats and timeseries.">
        <Rows
          rows={(Object.keys(FUNCTIONS) as (keyof typeof FUNCTIONS)[]).map((name) => {
            const { call, query } = functionExample(name);
            return [<code>{call}</code>, FUNCTIONS[name].documentation, <Example query={query} events={events} />];
          })}
        />
      </Part>
      <Part
        title="Fields"
        lead="Those of every event and of requests. Any other field is found by its name, such as user.email."
      >
        <Rows rows={KNOWN_FIELDS.map(({ name, documentation }) => [<code>{name}</code>, documentation])} />
      </Part>
    </div>
  );
}

/** The titles of the parts, in their order. */
const TITLES: readonly string[] = [
  "Basics",
  ...WRITTEN.map(({ title }) => title),
  ...["Operators", "Levels", "Sizes and durations", "Stages", "Functions", "Fields"],
];

const anchorOf = (title: string) => title.toLowerCase().replaceAll(" ", "-");

/** Where the explorer of the project is in which the person was last; undefined if that is not known. */
function lastEvents(): string | undefined {
  const [team, project] = (readKept("last") ?? "").split("\n");
  const isIn = session.value?.account.teams.some(({ id }) => id === team);
  return isIn && team && project ? pathOf({ kind: "project", team, project, section: "events" }) : undefined;
}

function Part({
  title,
  lead,
  children,
}: {
  readonly title: string;
  readonly lead?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section aria-labelledby={anchorOf(title)}>
      <h2 id={anchorOf(title)}>{title}</h2>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </section>
  );
}

interface ExampleProps {
  readonly query: string;
  /** The path of the explorer that it opens. */
  readonly events: string | undefined;
}

function Example({ query, events }: ExampleProps) {
  if (events === undefined) return <QueryCode query={query} />;
  return (
    <a class="example" href={events + searchOf({ query })}>
      <QueryCode query={query} />
    </a>
  );
}

/** Queries with what they mean. */
function Examples({ queries, events }: { readonly queries: readonly string[]; readonly events: string | undefined }) {
  return (
    <dl class="examples card">
      {queries.map((query) => (
        <div key={query}>
          <dt>
            <Example query={query} events={events} />
          </dt>
          <dd>{meaningOf(query)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A word, what it does, and an example. */
function Rows({ rows }: { readonly rows: readonly (readonly ComponentChildren[])[] }) {
  return (
    <dl class="words card">
      {rows.map(([word, text, example], i) => (
        <div key={i}>
          <dt>{word}</dt>
          <dd>{text}</dd>
          {example !== undefined && <dd>{example}</dd>}
        </div>
      ))}
    </dl>
  );
}
