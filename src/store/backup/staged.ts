/** Unpacks or copies a backup into an empty folder and verifies it there. */
import { chmodSync, copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from '../../errors.ts'
import { addonFor } from '../../program/addon.ts'
import { assertOwnLog } from '../schema/header.ts'
import { type Identity, identifyFile } from '../schema/identify.ts'
import { VERSIONS } from '../schema/schema.ts'
import { reasonOf } from '../warnings.ts'
import type { DecryptionKey } from './archive/age.ts'
import { DATABASE, type Manifest } from './archive/format.ts'
import { backupKindOf, unpack } from './archive/unpack.ts'
import { type RowCounts, verify } from './verification.ts'

/** A verified database. `manifest` is null if the backup is a plain database. */
type Staged = { file: string; rows: RowCounts; identity: Identity; manifest: Manifest | null }

/**
 * Verifies a backup in `folder`. An archive is unpacked into `folder`; a plain database is copied there with its log.
 * Does not change `backup`.
 *
 * @throws Refusal 400 `not_a_backup`, `damaged_backup`, `wrong_key` or `unusable_database`, 409 `foreign_log`.
 */
export async function stage(backup: string, key: DecryptionKey | null, folder: string): Promise<Staged> {
  const file = join(folder, DATABASE)
  const manifest =
    backupKindOf(backup) === 'database' ? copyDatabase(backup, file) : await unpack(backup, folder, key)
  // Before the thread that verifies: there, an addon that cannot be loaded would be taken for a damaged database.
  addonFor(file)
  const { rows } = await verify(file, new AbortController().signal).catch((error: unknown) => {
    throw new Refusal(400, 'damaged_backup', `${backup} contains a damaged database: ${reasonOf(error)}`)
  })
  const identity = identifyFile(file, VERSIONS, backup)
  if (identity === null) throw new Refusal(400, 'not_a_backup', `${backup} is empty`)
  return { file, rows, identity, manifest }
}

function copyDatabase(from: string, to: string): null {
  assertOwnLog(from)
  for (const suffix of ['', '-wal', '-journal'])
    if (existsSync(`${from}${suffix}`)) copyFileSync(`${from}${suffix}`, `${to}${suffix}`)
  chmodSync(to, 0o600)
  return null
}
