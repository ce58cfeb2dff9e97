/** The command `windfall restore`: puts a backup in place, and says what it brought back and what it lacks. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defineCommand } from 'citty'
import { systemClock } from '../clock.ts'
import { ConfigError } from '../config/checks/issues.ts'
import { utcMinuteText } from '../days.ts'
import { type Restored, restore } from '../store/backup/restore.ts'
import type { PlacedFile } from '../store/backup/restored_files.ts'
import { realPathOf } from '../store/disk/paths.ts'
import { configArg, load, plural, print, printError } from './instance/instance.ts'
import { existingBackup, identityArg, keyFor } from './instance/opening.ts'
import { giveTo, ownerOf } from './instance/privileges.ts'

export const restoreCommand = defineCommand({
  meta: { name: 'restore', description: 'Put a backup in place; what is there is moved aside' },
  args: {
    file: { type: 'positional', required: true, description: 'The backup, or a copy of the database' },
    into: {
      type: 'string',
      valueHint: 'DIR',
      description: 'Restore into this folder, whatever is configured',
    },
    ...identityArg,
    ...configArg,
  },
  async run({ args }) {
    const backup = existingBackup(args.file)
    const target = args.into === undefined ? configuredTarget(args.config) : intoTarget(args.into)
    const key = await keyFor(backup, args.identity)
    printError('Verifying the backup …')
    const owner = ownerOf(target.database ?? target.folder)
    const restored = await restore({ backup, key, ...target, clock: systemClock })
    giveTo(owner, filesOf(restored), target.folder)
    for (const line of summaryLines(restored, backup)) print(line)
    print(args.into === undefined ? START : `To look at it: ${serveCommand(restored, target.folder)}`)
  },
})

const filesOf = ({ database, placed }: Restored): string[] => [
  database,
  `${database}.lock`,
  ...placed.filter(({ state }) => state !== 'same').map(({ file }) => file),
]

const START = 'Start Windfall, then run `windfall doctor`.'

/** What serves the restored database where it is. Its own configuration may be missing, or name another place. */
function serveCommand({ database }: Restored, folder: string): string {
  const config = join(folder, 'config.toml')
  return existsSync(config)
    ? `windfall serve --config ${config}`
    : `WINDFALL_STORE_PATH=${database} windfall serve`
}

const intoTarget = (into: string) => ({ folder: resolve(into), database: null, isAnywhere: false })

/** Where the configuration says, or the backup where there is none. */
function configuredTarget(configPath: string | undefined) {
  try {
    const { config, file, base, sources } = load(configPath)
    const isChosen = file !== null || sources.get('store.path') !== 'default'
    const database = isChosen ? realPathOf(config.store.path) : null
    return { folder: base, database, isAnywhere: true }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    printError(
      'The configuration cannot be used; restore into another folder with --into DIR, then compare the two.',
    )
    throw error
  }
}

function summaryLines(
  { database, originalPath, aside, rows, placed, manifest }: Restored,
  backup: string,
): string[] {
  const all = Object.values(rows).reduce((sum, count) => sum + count, 0)
  const made =
    manifest === null ? '' : ` of ${utcMinuteText(manifest.created_at)}, by Windfall ${manifest.windfall}`
  return [
    `Restored ${database}: ${plural(all, 'row')}, verified; from ${backup}${made}.`,
    ...(originalPath === null
      ? []
      : [`  The configuration names ${originalPath}: set store.path to the file above, or move it there.`]),
    ...(aside === null
      ? []
      : [`The database that was there is ${aside}. Delete it once you no longer need it.`]),
    ...placed.flatMap(placedText),
    ...(manifest?.not_included ?? []).map((name) => `Not in the backup: ${name}`),
    '',
    'What happened after the backup was made is not in it:',
    '  Apple’s notifications come back by themselves: the job `reconcile` fetches them with the In-App Purchase key',
    '  (up to 180 days back), and the job `import` fetches the daily reports.',
    '  Calls of identify and attribute, keys, tokens, share links and settings of that time are lost.',
    '  What was revoked since then works again: revoke it again. Users who were forgotten since are back: forget them again.',
  ]
}

function placedText({ file, state, originalPath }: PlacedFile): string[] {
  const words = {
    restored: `Restored ${file}.`,
    same: `${file} is there already, and the same.`,
    beside: `Another file is in its place, so the backup’s is ${file}. Compare the two.`,
  }[state]
  return originalPath === null
    ? [words]
    : [words, `  The configuration names ${originalPath}: move it there, or change the setting.`]
}
