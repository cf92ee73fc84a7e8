// The address of records on PostgreSQL, and its faults.
import t from "tap";
import { placeName, readPostgresAddress } from "../../../logservice/records/postgres/place.ts";

const near = { ssl: false, port: 5432 };
const far = { ssl: { rejectUnauthorized: true }, port: 5432 };

const ADDRESSES: Readonly<Record<string, object>> = {
  "postgres://tool@localhost/logs": { ...near, host: "localhost", database: "logs", user: "tool" },
  "postgresql://tool@127.0.0.1:6432/logs": { ...near, host: "127.0.0.1", port: 6432, database: "logs", user: "tool" },
  "postgres://tool@[::1]/logs": { ...near, host: "::1", database: "logs", user: "tool" },
  "postgres://a%40b@db.example.com/my%20logs": { ...far, host: "db.example.com", database: "my logs", user: "a@b" },
  "postgres://tool@db.example.com/logs?sslmode=require": {
    ...{ host: "db.example.com", port: 5432, database: "logs", user: "tool", ssl: { rejectUnauthorized: false } },
  },
  "postgres://tool@db.example.com/logs?sslmode=disable": {
    ...near,
    ...{ host: "db.example.com", database: "logs", user: "tool" },
  },
  "postgres://tool@localhost/logs?host=/run/postgresql": {
    ...near,
    ...{ host: "/run/postgresql", database: "logs", user: "tool" },
  },
};

for (const [text, value] of Object.entries(ADDRESSES))
  t.same(readPostgresAddress(text, undefined), { ok: true, value }, text);

const FAULTS: Readonly<Record<string, string | RegExp>> = {
  logs: "it is no address such as postgres://user@host/database",
  "mysql://tool@localhost/logs": /is no address such as/,
  "postgres://tool:secret@localhost/logs":
    "the address has a password, which others can see: give it by --records-password FILE, or in TOOL_RECORDS_PASSWORD",
  "postgres://localhost/logs": "it needs a user, a host and a database: postgres://user@host/database",
  "postgres://tool@localhost": /needs a user, a host and a database/,
  "postgres://tool@localhost/": /needs a user, a host and a database/,
  "postgres://tool@localhost/%zz": "a % in the address does not begin a character: write it as %25",
  "postgres://%ff@localhost/logs": "a % in the address does not begin a character: write it as %25",
  "postgres://tool@localhost/logs?sslmode=prefer": "sslmode is one of disable, require, verify-full",
  "postgres://tool@localhost/logs?sslmod=require":
    'the address has a parameter "sslmod": there are sslmode, sslrootcert and host',
  "postgres://tool@localhost/logs?sslrootcert=/nowhere/ca.pem": /^\/nowhere\/ca\.pem cannot be read/,
};

for (const [text, problem] of Object.entries(FAULTS)) {
  const read = readPostgresAddress(text, undefined);
  t.match(read, { ok: false, problems: [problem] }, text);
}

t.test("a password in an address that cannot be read is not repeated", (t) => {
  for (const text of [
    "postgres://tool:se#cret@localhost/logs",
    "postgres://tool:se cret@local host/logs",
    "postgres://tool:se[cret@localhost:99999/logs",
    "tool:secret@localhost/logs",
    "postgres://:secret@localhost",
    "postgres://tool@localhost?password=secret",
    "postgres:///?password=secret",
    "postgres://tool:?secret@localhost/logs",
    "postgres://tool:12?x=1&sec=ret@localhost/logs",
  ]) {
    const read = readPostgresAddress(text, undefined);
    t.ok(!read.ok && !/se.?cret/.test(read.problems[0]), text);
  }
  t.end();
});

t.test("a password is kept out of the name", (t) => {
  const read = readPostgresAddress("postgres://tool@db.example.com/logs", "secret");
  if (!read.ok) throw new Error(read.problems[0]);
  t.equal(read.value.password, "secret");
  t.equal(placeName(read.value), "the database logs at db.example.com:5432");
  t.end();
});
