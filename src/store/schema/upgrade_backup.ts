/**
 * Records in the database which backup an upgrade created: of a running upgrade, so that a restart during the upgrade
 * does not create a second backup, and of the last finished one, so that `windfall upgrade` can go back to it. Opening
 * the file to serve it clears the first record, because serving changes the content. Later versions read the second
 * record of earlier ones, so its form never changes.
 */
import type { Database } from 'better-sqlite3'

const KEY = 'upgrade_backup'
const LAST_KEY = 'last_upgrade'

/** An upgrade from one version of the database to another, and the verified copy of the database before it. */
export type Upgrade = { from: number; to: number; backup: string }

/** The path of the backup that was created before the first step; null if no upgrade is in progress. */
export function upgradeBackup(db: Database): string | null {
  return find(db, KEY)
}

/** The last upgrade that was finished; null if there was none, or if a version before 0.2.0 ran it. */
export function lastUpgrade(db: Database): Upgrade | null {
  const text = find(db, LAST_KEY)
  return text === null ? null : (JSON.parse(text) as Upgrade)
}

/** Records a finished upgrade. Call it in the transaction of its last step. */
export const noteLastUpgrade = (db: Database, upgrade: Upgrade): void =>
  put(db, LAST_KEY, JSON.stringify(upgrade))

/** Records the path of the backup; null clears it. Call it in the transaction of a step, or after the upgrade. */
export function noteUpgradeBackup(db: Database, backup: string | null): void {
  if (backup === null) db.prepare('delete from settings where key = ?').run(KEY)
  else put(db, KEY, backup)
}

const find = (db: Database, key: string): string | null =>
  db.prepare<[string], string>('select value from settings where key = ?').pluck().get(key) ?? null

function put(db: Database, key: string, value: string): void {
  db.prepare('insert or replace into settings (key, value) values (?, ?)').run(key, value)
}
