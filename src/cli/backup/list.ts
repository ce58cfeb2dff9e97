/** The command `windfall backup list`: lists scheduled backups, in the folder or in the bucket. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { defineCommand } from 'citty'
import { systemClock } from '../../clock.ts'
import type { Config } from '../../config/settings.ts'
import { Refusal } from '../../errors.ts'
import { withBucket } from '../../offsite/reading.ts'
import { listBackups } from '../../offsite/remote_backups.ts'
import { commandName } from '../../program/form.ts'
import { madeAtOf } from '../../store/backup/files.ts'
import { columns, configArg, instantText, load } from '../instance/instance.ts'
import { print, setResult } from '../instance/output.ts'

/** A backup. Instants are in ms since the epoch; `uploaded_at` is null in the folder. */
type Listed = { name: string; bytes: number; made_at: number; uploaded_at: number | null }

export const listCommand = defineCommand({
  meta: { name: 'list', description: 'List the scheduled backups, the newest first' },
  args: {
    remote: {
      type: 'boolean',
      default: false,
      description: 'Those in the bucket of [backup] to, instead of those in the folder',
    },
    ...configArg,
  },
  async run({ args }) {
    const { config } = load(args.config)
    const place = args.remote ? bucketOf(config) : config.backup.folder
    const backups = args.remote ? await inBucket(config, place) : inFolder(place)
    setResult({ place, backups })
    if (backups.length === 0)
      return print(`There is no backup in ${place}. To make one: ${commandName} jobs run backup`)
    const rows = backups.map(({ name, bytes, made_at, uploaded_at }) => [
      name,
      `${bytes.toLocaleString('en-US')} bytes`,
      instantText(args.remote ? uploaded_at : made_at),
    ])
    print(`In ${place}:`)
    print(columns([['backup', 'size', args.remote ? 'uploaded' : 'made'], ...rows]))
  },
})

function bucketOf({ backup: { to } }: Config): string {
  if (to !== null) return to
  throw new Refusal(400, 'no_bucket', 'no bucket is configured: set to = "s3://…" in [backup] of config.toml')
}

const inBucket = (config: Config, url: string): Promise<Listed[]> =>
  withBucket({ config, url, clock: systemClock }, async (s3, place) => {
    const { backups } = await listBackups(s3, place)
    return backups.map(({ name, bytes, made_at, uploaded_at }) => ({ name, bytes, made_at, uploaded_at }))
  })

function inFolder(folder: string): Listed[] {
  return namesIn(folder)
    .flatMap((name) => {
      const made_at = madeAtOf(name)
      const { size: bytes } = statSync(join(folder, name))
      return made_at === null ? [] : [{ name, bytes, made_at, uploaded_at: null }]
    })
    .sort((a, b) => b.made_at - a.made_at)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
