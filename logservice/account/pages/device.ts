/**
 * Names the program that sent a request, for its owner: "Firefox on Linux". Read from the User-Agent, which anybody can
 * make up: only names from here and, for our own command, a short version and platform.
 */
export function deviceOf(userAgent: string | undefined): string {
  if (userAgent === undefined || userAgent.length > MAX_LENGTH) return UNKNOWN;
  const command = /^tool\/([\w.+-]{1,40}) \(([a-z][a-z0-9]{1,15})\)/.exec(userAgent);
  if (command !== null) return `tool ${command[1]} on ${command[2]}`;
  if (/^curl\//.test(userAgent)) return "curl";
  const browser = nameIn(userAgent, BROWSERS);
  const system = nameIn(userAgent, SYSTEMS);
  if (browser === undefined) return system === undefined ? UNKNOWN : `A program on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
}

const UNKNOWN = "An unknown device";

/** Real ones have at most some hundred characters. */
const MAX_LENGTH = 1000;

type Names = readonly (readonly [pattern: RegExp, name: string])[];

const nameIn = (userAgent: string, names: Names) => names.find(([pattern]) => pattern.test(userAgent))?.[1];

/** Most browsers name others as well, so the one that only its own browser has comes first. */
const BROWSERS: Names = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\b(?:OPR|Opera|OPT)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bVivaldi\//, "Vivaldi"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS|HeadlessChrome|Chromium)\//, "Chrome"],
  [/\bVersion\/[\d.]+ (?:Mobile\/\w+ )?Safari\//, "Safari"],
];

/** Android and ChromeOS also say Linux, iPhones also say Mac OS X. */
const SYSTEMS: Names = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac ?OS X\b|\bMacintosh\b/, "macOS"],
  [/\bFreeBSD\b/, "FreeBSD"],
  [/\bLinux\b/, "Linux"],
];
