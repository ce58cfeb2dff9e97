/**
 * Names the backup of an upgrade under way in the file itself, so that a restart in the middle does not make another one.
 * A file that was served since has other content, so opening it to serve clears the name.
 */
import type { Database } from 'better-sqlite3'

const KEY = 'upgrade_backup'

/** The backup that was made before the first step; null where no upgrade is under way. */
export function upgradeBackup(db: Database): string | null {
  return db.prepare<[string], string>('select value from settings where key = ?').pluck().get(KEY) ?? null
}

/** Inside the transaction of a step, or where the upgrade is over. */
export function noteUpgradeBackup(db: Database, backup: string | null): void {
  if (backup === null) db.prepare('delete from settings where key = ?').run(KEY)
  else db.prepare('insert or replace into settings (key, value) values (?, ?)').run(KEY, backup)
}
