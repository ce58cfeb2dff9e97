/** Finds the file of a backup and the key that decrypts it, for commands that open a backup. */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { shownUrl } from '../../config/backup/bucket.ts'
import { Refusal } from '../../errors.ts'
import type { DecryptionKey } from '../../store/backup/archive/age.ts'
import type { BackupKind } from '../../store/backup/archive/unpack.ts'
import { askPassphrase } from './passphrase.ts'

/** The argument of every command that opens a backup. */
export const identityArg = {
  identity: {
    type: 'string',
    valueHint: 'FILE',
    description: 'The file with the age identity that decrypts the backup',
  },
} as const

/** The path of a backup. @throws Refusal 404 `no_backup` if the file does not exist. */
export function existingBackup(name: string): string {
  const backup = resolve(name)
  const shown = name.includes('://') ? shownUrl(name) : backup
  if (!existsSync(backup)) throw new Refusal(404, 'no_backup', `there is no file ${shown}`)
  return backup
}

/**
 * The key that decrypts a backup of this kind; null if the backup is not encrypted. Prompts for the passphrase if it has
 * one. `backup` is its name for the person.
 *
 * @throws Refusal 400 `identity_needed` if the backup is encrypted for recipients and there is no `--identity`; 404
 * `no_identity` if the identity file does not exist.
 */
export async function decryptionKeyFor(
  backup: string,
  kind: BackupKind,
  identity: string | undefined,
): Promise<DecryptionKey | null> {
  if (kind === 'encrypted with a passphrase') return { passphrase: await askPassphrase('Backup passphrase') }
  if (kind !== 'encrypted for recipients') return null
  if (identity === undefined)
    throw new Refusal(
      400,
      'identity_needed',
      `${backup} is encrypted; pass the file with its age identity as --identity`,
    )
  if (!existsSync(identity)) throw new Refusal(404, 'no_identity', `there is no file ${identity}`)
  return { identities: readFileSync(identity, 'utf8') }
}
