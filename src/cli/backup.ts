/** The command `windfall backup`: a verified copy of the database, taken while it serves. */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { defineCommand } from 'citty'
import { Refusal } from '../errors.ts'
import type { Backup } from '../store/backup.ts'
import { configArg, print, tell } from './instance.ts'

export const backupCommand = defineCommand({
  meta: { name: 'backup', description: 'Copy the database to a file, and verify the copy' },
  args: {
    file: { type: 'positional', required: true, description: 'Where to; it must not exist' },
    ...configArg,
  },
  async run({ args }) {
    const destination = resolve(args.file)
    if (!existsSync(dirname(destination)))
      throw new Refusal(400, 'no_folder', `${destination} cannot be written: its folder does not exist`)
    const backup = await tell<Backup>(args.config, 'backup', { destination })
    const rows = Object.values(backup.rows).reduce((sum, count) => sum + count, 0)
    print(
      `${backup.file}: ${backup.bytes} bytes, ${rows} rows in ${Object.keys(backup.rows).length} tables, verified`,
    )
    print(`sha256 ${backup.sha256}`)
  },
})
