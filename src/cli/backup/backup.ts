/** The command `windfall backup`: writes an instance to one verified file while it serves. */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { defineCommand } from 'citty'
import type { LoadedConfig } from '../../config/load.ts'
import { Refusal } from '../../errors.ts'
import { assertRecipients, type Encryption } from '../../store/backup/archive/age.ts'
import type { Backup } from '../../store/backup/backup.ts'
import { configArg, load, plural, withInstance } from '../instance/instance.ts'
import { print } from '../instance/output.ts'
import { askNewPassphrase } from '../instance/passphrase.ts'
import { listCommand } from './list.ts'
import { openForBackup } from './unserved.ts'

export const backupCommand = defineCommand({
  meta: { name: 'backup', description: 'Back up the database, the configuration and the keys to one file' },
  subCommands: { list: listCommand },
  args: {
    file: { type: 'positional', required: true, description: 'The backup file to write; it must not exist' },
    recipients: {
      type: 'string',
      valueHint: 'age1…,age1…',
      description: 'Encrypt for these age recipients (default: [backup] recipients)',
    },
    passphrase: {
      type: 'boolean',
      default: false,
      description: 'Encrypt with a passphrase (prompts for it)',
    },
    plain: { type: 'boolean', default: false, description: 'Do not encrypt, even if the configuration does' },
    ...configArg,
  },
  async run({ args }) {
    const destination = resolve(args.file)
    if (!existsSync(dirname(destination)))
      throw new Refusal(400, 'no_folder', `${destination} cannot be written: its folder does not exist`)
    const encryption = await encryptionFor(args, load(args.config))
    const backup = await withInstance(
      args.config,
      (send) => send<Backup>('backup', { destination, lock: encryption }),
      openForBackup,
    )
    for (const line of summaryLines(backup)) print(line)
  },
})

type EncryptionArgs = { recipients?: string | undefined; passphrase: boolean; plain: boolean }

/** How the backup is encrypted. @throws Refusal 400 if options conflict or a recipient is invalid. */
async function encryptionFor(
  { recipients, passphrase, plain }: EncryptionArgs,
  { config }: LoadedConfig,
): Promise<Encryption | null> {
  if ([recipients !== undefined, passphrase, plain].filter(Boolean).length > 1)
    throw new Refusal(400, 'invalid_request', 'choose one of --recipients, --passphrase and --plain')
  if (passphrase) return { passphrase: await askNewPassphrase() }
  const ageRecipients = recipients?.split(',').map((one) => one.trim()) ?? config.backup.recipients
  if (plain || ageRecipients.length === 0) return null
  await assertRecipients(ageRecipients)
  return { recipients: ageRecipients }
}

const UNENCRYPTED =
  'The file is not encrypted. It contains your data and every key that you have stored: Apple keys, and the key that signs webhooks. Keep it where no other user can read it.'

function summaryLines({ file, bytes, sha256, rows, files, encrypted, not_included }: Backup): string[] {
  const counts = Object.values(rows)
  const rowCount = counts.reduce((sum, count) => sum + count, 0)
  const size = `${plural(bytes, 'byte')}, ${plural(rowCount, 'row')} in ${plural(counts.length, 'table')}`
  return [
    `${file}: ${size}, verified${encrypted ? ', encrypted' : ''}`,
    `sha256 ${sha256}`,
    ...files.map((name) => `  ${name}`),
    ...(encrypted ? [] : [UNENCRYPTED]),
    ...not_included.map((name) => `Not included: ${name}`),
  ]
}
