// Which tests are run for what changed or was named, the likeliest to fail first.
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { generatedFiles } from "../../cli/build/generated.mjs";
import { recordedCosts, secondsOf } from "./cost.mjs";
import { COMMANDS, DATA, UI_FOLDERS } from "./tables.mjs";
import { hasSlow, isTest, isUsual, nameOf } from "./test-files.mjs";

/** The limit for tests that are not named: what a person waits for between two changes. */
const BUDGET_S = 60;
/** For tests of other rooms if those of the own room take all of that. */
const OTHERS_S = 20;
const BOUNDARIES = "test/boundaries.test.ts";
/** Counted for a test in the room of a source that no import leads to: it may start it as a process. */
const UNKNOWN_STEPS = 4;
const CODE = /\.(?:tsx?|mjs)$/;
const NO_CODE = /^(?:test\/(?:apps|fixtures)|examples)\//;

/**
 * @param {string} root
 * @param {{ importsOf: Function, testsOf: Function }} graph  of test/mutate/imports.ts
 * @param {{ folders: string[], isSlow?: boolean }} options  `isSlow`: slow tests are chosen, and no others
 */
export function chooser(root, { importsOf, testsOf }, { folders, isSlow = false }) {
  const imports = importsOf(root, folders);
  const all = [...imports.keys()].filter(isTest).sort();
  const isChosen = (test) => (isSlow ? test.startsWith("test/slow/") || hasSlow(root, test) : isUsual(test));
  const tests = all.filter(isChosen);
  const generated = Object.entries(generatedFiles(root));
  return { imports, ofWord, ofFiles, leftOut };

  /** Tests that a word means, or why there is none. */
  function ofWord(word) {
    const path = relative(root, resolve(root, word)).replace(/^dist\/(.*)\.js$/, "$1.ts");
    // The name of a test comes before a folder of that name: FAILED lines say `npm run t -- cli`.
    const exact = all.filter(
      (test) =>
        test === path ||
        (word.includes("/") && nameOf(test) === word) ||
        (isChosen(test) && basename(test) === `${word}.test.ts`),
    );
    if (exact.length > 0) return choice(exact.map(named));
    if (path !== "" && existsSync(join(root, path))) {
      const isFolder = statSync(join(root, path)).isDirectory();
      const chosen = isFolder ? ofFolder(path) : ofFiles([path]);
      if (chosen.length > 0) return choice(chosen);
      const others = leftOut([path]);
      return { why: others.length > 0 ? `${path} is of ${byName(others)}` : `no test imports ${path}` };
    }
    if (existsSync(join(root, "test/vectors", word))) return choice(ofFiles([`test/vectors/${word}`]));
    const name = (file) => basename(file, ".ts").replace(/\.test$/, "");
    const same = (test) => [name(test), basename(test), basename(test, ".ts")].includes(word);
    for (const [isMeant, list] of [
      [same, tests],
      [(test) => rowOf(COMMANDS, word).includes(test), tests],
      [(test) => name(test).includes(word), tests.filter((test) => isUsual(test) || isSlow)],
    ]) {
      const meant = list.filter(isMeant);
      if (meant.length > 0) return choice(meant.map(named));
    }
    const fromSources = ofFiles([...imports.keys()].filter((file) => !file.startsWith("test/") && file.includes(word)));
    if (fromSources.length > 0) return choice(fromSources);
    const slow = all.find((test) => !tests.includes(test) && name(test).includes(word));
    if (slow !== undefined) return { why: `${slow} is not run by a part of its name: npm run t -- ${slow}` };
    return { why: `no test or source is named ${word}: give a file, or a part of a name` };
  }

  /** Those of test/slow and the like that files are, or are data of, and that are run by their names alone. */
  function leftOut(files) {
    const others = new Set(files.flatMap((file) => [file, ...listed(file)]));
    return all.filter((test) => others.has(test) && !isUsual(test) && !tests.includes(test));
  }

  /** Tests of changed files, without repetition. */
  function ofFiles(files) {
    const isSource = (file) => folders.some((folder) => file.startsWith(`${folder}/`)) && CODE.test(file);
    const ofAll =
      files.some(isSource) && tests.includes(BOUNDARIES) ? [{ test: BOUNDARIES, steps: 1, isOwn: false }] : [];
    return [...files.flatMap(ofFile), ...ofAll];
  }

  function ofFile(file) {
    const modules = modulesOf(file);
    const reached = modules.flatMap((module) =>
      testsOf(imports, tests, module).map(({ test, steps }) => ({ test, steps: Math.max(1, steps), isOwn: false })),
    );
    const own = new Set([file, ...modules].flatMap((one) => roomTests(one, reached)));
    const steps = new Map(reached.map((one) => [one.test, one.steps]));
    return [
      ...(tests.includes(file) ? [named(file)] : []),
      ...listed(file)
        .filter((test) => tests.includes(test))
        .map(named),
      ...[...own].map((test) => ({ test, steps: steps.get(test) ?? UNKNOWN_STEPS, isOwn: true })),
      ...reached,
    ];
  }

  /** Tests in the folder that is named as the source's own: those that reach it, or all if none does. */
  function roomTests(file, reached) {
    if (file.startsWith("test/")) return [];
    let nearest;
    for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
      const inRoom = tests.filter((test) => dirname(test) === `test/${folder}`);
      const reaching = inRoom.filter((test) => reached.some((one) => one.test === test));
      if (reaching.length > 0) return reaching;
      if (inRoom.length > 0) nearest ??= inRoom;
    }
    return reached.length > 0 || !CODE.test(file) ? [] : (nearest ?? []);
  }

  function ofFolder(path) {
    const inside = tests.filter((test) => test.startsWith(`${path}/`) || test.startsWith(`test/${path}/`));
    if (inside.length > 0) return inside.map(named);
    return ofFiles([...imports.keys()].filter((file) => file.startsWith(`${path}/`)));
  }

  /** The modules that a file is a part of: itself, what is generated of it, or those that name it if it is data. */
  function modulesOf(file) {
    const made = generated
      .filter(([, inputs]) => inputs.includes(file) && file !== "package-lock.json")
      .map(([output]) => output.replace(/\.js$/, ".ts"));
    if (CODE.test(file) && !NO_CODE.test(file)) return [file, ...made];
    // test/fixtures/first-store.json is read by its name, test/apps/echo/server.mjs as "echo/server.mjs" or by its folder.
    const match = /^test\/(?:vectors|fixtures)\/(.+)$|^test\/apps\/([^/]+)\//.exec(file);
    if (match === null) return made;
    const text = match[1] ?? `${match[2]}/`;
    return [
      ...made,
      ...[...imports.keys()].filter(
        (module) => module.startsWith("test/") && !module.startsWith("test/loop/") && isNaming(module, text),
      ),
    ];
  }

  function isNaming(module, text) {
    return readFileSync(join(root, module), "utf8").includes(text);
  }
}

/** Tests that the tables name for a file. */
export function listed(file) {
  const data = Object.entries(DATA).filter(([key]) => (key.endsWith("/") ? file.startsWith(key) : file === key));
  const command = /^cli\/commands\/([^/]+)\.ts$/.exec(file)?.[1];
  const page = /^logservice\/ui\/([^/]+)\//.exec(file)?.[1];
  return [...data.flatMap(([, tests]) => tests), ...rowOf(COMMANDS, command), ...rowOf(UI_FOLDERS, page)];
}

/** Nothing for a name that the table does not have, such as "constructor", which each object has. */
const rowOf = (table, name) => (Object.hasOwn(table, name) ? table[name] : []);
const named = (test) => ({ test, steps: 0, isOwn: true });
const choice = (chosen) => ({ chosen });

/** Tests that are not run unless they are named, and how. */
export const byName = (tests) =>
  `${tests.length === 1 ? "a test that is" : "tests that are"} run by name: npm run t -- ${tests.join(" ")}`;

/** Each test once, by its shortest way: what is named, then those of the own room, then by steps. */
export function ordered(lists) {
  const nearest = new Map();
  for (const { test, steps, isOwn } of lists.flat()) {
    const before = nearest.get(test);
    nearest.set(test, {
      steps: Math.min(steps, before?.steps ?? Number.POSITIVE_INFINITY),
      isOwn: isOwn || (before?.isOwn ?? false),
    });
  }
  const recorded = recordedCosts();
  const rank = ({ steps, isOwn }) => (isOwn ? Math.min(steps, 1) : steps + 0.5);
  return [...nearest]
    .map(([test, way]) => ({ test, ...way, seconds: secondsOf(recorded, test) }))
    .sort((a, b) => rank(a) - rank(b) || a.steps - b.steps || a.seconds - b.seconds || (a.test < b.test ? -1 : 1));
}

/** All of the own tests, and the nearest of the others until the time is used up; one test in any case. */
export function withinBudget(tests, jobs) {
  const sum = (list) => list.reduce((so, { seconds }) => so + seconds, 0);
  let left = Math.max(OTHERS_S * jobs, BUDGET_S * jobs - sum(tests.filter(({ isOwn }) => isOwn)));
  return tests.filter(({ isOwn, seconds }, index) => {
    if (isOwn || index === 0) return true;
    if (seconds > left) return false;
    left -= seconds;
    return true;
  });
}
