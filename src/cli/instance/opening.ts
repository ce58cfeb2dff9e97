/** How a command opens a backup that is named to it: the file, and what decrypts it. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Refusal } from '../../errors.ts'
import type { DecryptionKey } from '../../store/backup/archive/age.ts'
import { backupKindOf } from '../../store/backup/archive/unpack.ts'
import { askPassphrase } from './passphrase.ts'

/** The argument that every command takes which opens a backup. */
export const identityArg = {
  identity: { type: 'string', valueHint: 'FILE', description: 'The age identity that opens the backup' },
} as const

/** The path of a backup. @throws Refusal 404 `no_backup` where there is no such file. */
export function existingBackup(name: string): string {
  const backup = resolve(name)
  if (!existsSync(backup)) throw new Refusal(404, 'no_backup', `there is no file ${backup}`)
  return backup
}

/**
 * What opens a backup; null where it is not encrypted. A passphrase is asked for.
 *
 * @throws Refusal 400 `not_a_backup`, or `identity_needed` when it is encrypted for recipients and no identity is given.
 */
export async function keyFor(backup: string, identity: string | undefined): Promise<DecryptionKey | null> {
  const kind = backupKindOf(backup)
  if (kind === 'encrypted with a passphrase')
    return { passphrase: await askPassphrase('Passphrase of the backup') }
  if (kind !== 'encrypted for recipients') return null
  if (identity === undefined)
    throw new Refusal(
      400,
      'identity_needed',
      `${backup} is encrypted: name the file of its age identity with --identity`,
    )
  if (!existsSync(identity)) throw new Refusal(404, 'no_identity', `there is no file ${identity}`)
  return { identities: readFileSync(identity, 'utf8') }
}
