/** The command `windfall backup`: a verified copy of the database, taken while it serves. */
import { resolve } from 'node:path'
import { defineCommand } from 'citty'
import type { Backup } from '../store/backup.ts'
import { configArg, print, tell } from './instance.ts'

export const backupCommand = defineCommand({
  meta: { name: 'backup', description: 'Copy the database to a file, and verify the copy' },
  args: {
    file: { type: 'positional', required: true, description: 'Where to; it must not exist' },
    ...configArg,
  },
  async run({ args }) {
    const backup = await tell<Backup>(args.config, 'backup', { destination: resolve(args.file) })
    const rows = Object.values(backup.rows).reduce((sum, count) => sum + count, 0)
    print(
      `${backup.file}: ${backup.bytes} bytes, ${rows} rows in ${Object.keys(backup.rows).length} tables, verified`,
    )
    print(`sha256 ${backup.sha256}`)
  },
})
