// The operations of `tool service` on a data directory. The command imports nothing else of the log service; the events
// store, which takes longest to load, is loaded by the functions that need it.
export { addOwner, type PrintedLink, signInLinks } from "./admin/accounts.ts";
export { BACKUP_LIST } from "./admin/backup-list.ts";
export type { BillingOptions } from "./admin/billing.ts";
export { type CheckReport, checkDataDirectory, type Finding } from "./admin/check.ts";
export { type Copied, type CopyOptions, checkBackup, copyDataDirectory } from "./admin/copy.ts";
export { createDataDirectory } from "./admin/create.ts";
export type { RecordsPlace } from "./admin/data-directory.ts";
export { migrateRecords } from "./admin/migrate.ts";
export type { PeopleOptions } from "./admin/people.ts";
export { serveDataDirectory } from "./admin/serve.ts";
export { addToken, listTokens, removeToken } from "./admin/tokens.ts";
/** Thrown by each of them if the directory cannot be used. */
export { OperatorError } from "./error.ts";
export { livingOwnerOf, lockDirectory } from "./events/lock.ts";
export { readPostgresAddress } from "./records/postgres/place.ts";
export { readTeamLimits, TEAM_LIMITS_FORM } from "./records/team-limits.ts";
