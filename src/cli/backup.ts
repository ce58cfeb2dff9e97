/** The command `windfall backup`: a verified copy of the database, taken while it serves. */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { defineCommand } from 'citty'
import { Refusal } from '../errors.ts'
import type { Copy } from '../store/backup.ts'
import { configArg, counted, print, tell } from './instance.ts'

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
    const backup = await tell<Copy>(args.config, 'backup', { destination })
    const { file, bytes, rows } = backup
    const counts = Object.values(rows)
    const all = counts.reduce((sum, count) => sum + count, 0)
    print(
      `${file}: ${counted(bytes, 'byte')}, ${counted(all, 'row')} in ${counted(counts.length, 'table')}, verified`,
    )
    print(`sha256 ${backup.sha256}`)
  },
})
