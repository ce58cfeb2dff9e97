/** The command `windfall restore`: restores a backup, lists the restored files, and names what the backup lacks. */
import { existsSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { defineCommand } from 'citty'
import * as v from 'valibot'
import { systemClock } from '../../clock.ts'
import { ConfigError } from '../../config/checks/issues.ts'
import { defaultFileIn } from '../../config/load.ts'
import { callControl } from '../../control/socket.ts'
import { utcMinuteText } from '../../days.ts'
import { addonFile } from '../../program/addon.ts'
import { commandName } from '../../program/form.ts'
import { CONFIG, DATABASE } from '../../store/backup/archive/format.ts'
import { backupKindOf } from '../../store/backup/archive/unpack.ts'
import { type Restored, restore } from '../../store/backup/restore.ts'
import type { PlacedFile } from '../../store/backup/restored_files.ts'
import { lockForServing } from '../../store/disk/lock.ts'
import { realPathOf } from '../../store/disk/paths.ts'
import { openReader } from '../../store/reader.ts'
import { isFirstConfig } from '../install/first_config.ts'
import { configArg, load, plural } from '../instance/instance.ts'
import { decryptionKeyFor, existingBackup, identityArg } from '../instance/opening.ts'
import { print, printError, setResult } from '../instance/output.ts'
import { changeOwner, ownerOf } from '../instance/privileges.ts'
import { isBucketUrl, type OpenableBackup, withFetchedBackup } from './fetching.ts'

export const restoreCommand = defineCommand({
  meta: { name: 'restore', description: 'Restore a backup; an existing database is moved aside' },
  args: {
    file: {
      type: 'positional',
      required: true,
      description: 'The backup, or a copy of the database; or s3://BUCKET/PREFIX for the newest one there',
    },
    into: {
      type: 'string',
      valueHint: 'DIR',
      description: 'Restore into this folder instead of the configured place',
    },
    'original-paths': {
      type: 'boolean',
      description:
        'Restore to the absolute path that the backup names, if it is free and no configuration of your own says another',
    },
    ...identityArg,
    ...configArg,
  },
  async run({ args }) {
    const { file: named, identity, config } = args
    const backup = isBucketUrl(named) ? null : existingBackup(named)
    const target =
      args.into === undefined
        ? configuredTarget(config, args['original-paths'] ?? false)
        : intoTarget(args.into)
    const place = (opened: OpenableBackup): Promise<void> => restoreTo(target, opened, args)
    if (backup !== null) {
      const key = await decryptionKeyFor(backup, backupKindOf(backup), identity)
      return place({ file: backup, name: backup, key })
    }
    assertNotServed(target)
    const near = target.database ?? join(target.folder, DATABASE)
    return withFetchedBackup({ config: load(config).config, url: named, identity, near }, place)
  },
})

/** Refuses to fetch a backup that cannot be restored. Without a lock there has never been a server. */
function assertNotServed({ database }: Target): void {
  if (database !== null && existsSync(`${database}.lock`)) lockForServing(database).release()
}

type RestoreArgs = { into?: string | undefined; config?: string | undefined }

async function restoreTo(
  target: Target,
  { file, name, key }: OpenableBackup,
  args: RestoreArgs,
): Promise<void> {
  printError('Verifying the backup …')
  const owner = ownerOf(target.database ?? target.folder)
  const restored = await restore({ backup: file, key, ...target, clock: systemClock })
  changeOwner(owner, [...filesOf(restored), ...addonBeside(restored)], target.folder)
  const unused = args.into === undefined ? unusedConfig(restored, target) : null
  setResult({ ...answerOf(restored), unused_config: unused?.file ?? null })
  for (const line of summaryLines(restored, name)) print(line)
  printOriginal(restored, target)
  if (unused !== null) return printUnused(unused, restored)
  if (args.into === undefined) return print(START_HINT)
  print(`To inspect it: ${serveCommand(restored, target.folder)}`)
  if (await recordDrill(args.config, name, restored.database))
    print(`Windfall records this restore as a drill: \`${commandName} doctor\` shows its age.`)
}

/**
 * Records a restore into another folder in the running instance, if the backup is one of that instance. Returns whether
 * it was recorded. Without a running instance on this machine, there is nothing to record it in.
 */
async function recordDrill(
  configPath: string | undefined,
  backup: string,
  database: string,
): Promise<boolean> {
  const reader = openReader(database)
  try {
    const organization_ids = reader
      ?.prepare<[], { id: string }>('select id from organizations')
      .all()
      .map(({ id }) => id)
    const { config } = load(configPath)
    const drill = { file: backup, organization_ids }
    const answer = await callControl(config.store.path, 'backup.drill', drill)
    return v.parse(Recorded, answer?.result).recorded
  } catch {
    // The restore succeeded. A record of it is only a convenience.
    return false
  } finally {
    reader?.close()
  }
}

const Recorded = v.object({ recorded: v.boolean() })

/** What `--json` prints. `configured` is the path that the configuration names, if it is another. */
const answerOf = ({ database, originalPath, aside, rows, placed, manifest }: Restored) => ({
  database,
  configured: originalPath,
  moved_aside: aside,
  rows,
  files: placed.map(({ file, state, originalPath: configured, aside: moved_aside = null }) => ({
    file,
    state,
    configured,
    moved_aside,
  })),
  backup: manifest,
})

const filesOf = ({ database, placed }: Restored): string[] => [
  database,
  `${database}.lock`,
  ...placed.filter(({ state }) => state !== 'same').map(({ file }) => file),
  ...placed.flatMap(({ aside }) => aside ?? []),
]

/** The addon of the executable, if the restore wrote it beside the database. */
const addonBeside = ({ database }: Restored): string[] =>
  [addonFile() ?? ''].filter((file) => dirname(dirname(file)) === dirname(database))

/** The backup's config file, if the server reads another one, `used`. */
type UnusedConfig = { file: string; used: string }

/** The backup's config file, if it is not the one that the server reads from now on; otherwise null. */
function unusedConfig({ manifest, placed }: Restored, { folder, config }: Target): UnusedConfig | null {
  const path = manifest?.entries.find(({ name }) => name === CONFIG)?.path
  const used = config ?? defaultFileIn(folder)
  const file = path === undefined ? used : (placed.at(-1)?.file ?? used)
  return file === used ? null : { file, used }
}

/** Says how the database gets the absolute path of the backup, if the same command can do that. */
function printOriginal({ database, manifest }: Restored, { canHaveOriginal }: Target): void {
  const original = manifest?.entries.find(({ name }) => name === DATABASE)?.path ?? ''
  if (!canHaveOriginal || !isAbsolute(original) || original === database || existsSync(original)) return
  print(`With --original-paths, a restore puts the database where the backup had it: ${original}.`)
}

/** On a machine that had a database, the present configuration was chosen. On a new one it is an error. */
function printUnused({ file, used }: UnusedConfig, { database, aside, manifest }: Restored): void {
  const configured = manifest?.entries.find(({ name }) => name === DATABASE)?.path ?? ''
  const other = existsSync(used) ? `The server reads ${used}, which sets something else` : 'There is no other'
  print(`The backup’s configuration is not in use. ${other}.`)
  print(`To use the backup’s, before you start Windfall: mv ${file} ${used}`)
  if (resolve(dirname(used), configured) !== database)
    print(`It names the database ${configured}: set store.path = "${database}" in it.`)
  if (aside === null) process.exitCode = 1
}

const START_HINT = `Start Windfall, then run \`${commandName} doctor\`.`

/** The command line that serves the restored database, also if `folder` has no config file. */
function serveCommand({ database }: Restored, folder: string): string {
  const config = join(folder, 'config.toml')
  // The server of this machine has the configured port. Port 0 is any free one.
  return existsSync(config)
    ? `WINDFALL_SERVER_PORT=0 ${commandName} serve --config ${config}`
    : `WINDFALL_SERVER_PORT=0 WINDFALL_STORE_PATH=${database} ${commandName} serve`
}

type Target = {
  folder: string
  database: string | null
  allowsAbsolutePath: boolean
  /** Whether `--original-paths` has an effect. */
  canHaveOriginal: boolean
  /** The config file that the server reads; null if there is none. */
  config: string | null
  /** The same, if it sets nothing but what `init` or `install` wrote. */
  firstConfig: string | null
}

const intoTarget = (into: string): Target => ({
  folder: resolve(into),
  database: null,
  allowsAbsolutePath: false,
  canHaveOriginal: false,
  config: null,
  firstConfig: null,
})

/**
 * The target of a restore without `--into`. Without a configured database path, the path in the backup applies; an
 * absolute one only with `--original-paths`, because the maker of the backup chose it.
 */
function configuredTarget(configPath: string | undefined, originalPaths: boolean): Target {
  try {
    const { config, file, base, sourceKindByPath } = load(configPath)
    const kind = sourceKindByPath.get('store.path')
    const database = file !== null || kind !== 'default' ? realPathOf(config.store.path) : null
    const firstConfig = file !== null && isFirstConfig(file) ? file : null
    // A variable overrides the path of every config file, also of the backup's.
    const canHaveOriginal = kind !== 'environment' && (file === null || firstConfig !== null)
    const allowsAbsolutePath = canHaveOriginal && originalPaths
    return { folder: base, database, allowsAbsolutePath, canHaveOriginal, config: file, firstConfig }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    printError(
      'The configuration is invalid. Restore into another folder with --into DIR, then compare the two.',
    )
    throw error
  }
}

function summaryLines(
  { database, originalPath, aside, rows, placed, manifest }: Restored,
  backup: string,
): string[] {
  const rowCount = Object.values(rows).reduce((sum, count) => sum + count, 0)
  const backupOrigin =
    manifest === null ? '' : ` of ${utcMinuteText(manifest.created_at)}, by Windfall ${manifest.windfall}`
  return [
    `Restored ${database}: ${plural(rowCount, 'row')}, verified; from ${backup}${backupOrigin}.`,
    ...(originalPath === null
      ? []
      : [
          `  The configuration names ${originalPath}: set store.path to the file above, or move the file there.`,
        ]),
    ...(aside === null
      ? []
      : [`The previous database is now ${aside}. Delete it when you no longer need it.`]),
    ...placed.flatMap(placedText),
    ...litestreamLines(database),
    ...(manifest?.not_included ?? []).map((name) => `Not in the backup: ${name}`),
    '',
    `Outgoing requests are held, because the original may still serve: ${commandName} outgoing resume sends them.`,
    'The backup does not contain anything from after it was made:',
    '  Apple’s notifications are recovered automatically: the job `reconcile` fetches them with the In-App Purchase key',
    '  (up to 180 days back), and the job `import` fetches the daily reports.',
    '  Later identify and attribute calls, keys, tokens, share links and settings are lost.',
    '  Keys, tokens and links revoked later are valid again: revoke them again. Users erased later are back: erase them again.',
  ]
}

/** What to do with Litestream, if it replicates the database: it keeps its state in a folder beside the file. */
function litestreamLines(database: string): string[] {
  if (!existsSync(join(dirname(database), `.${basename(database)}-litestream`))) return []
  return [
    `Litestream replicates this database, and would continue with the previous file. Stop it, run litestream reset ${database}, and start it.`,
  ]
}

function placedText({ file, state, originalPath, aside }: PlacedFile): string[] {
  const outcome = {
    restored: `Restored ${file}.`,
    same: `${file} already exists and is identical.`,
    swapped: `Restored ${file}. The previous file is now ${aside}.`,
    beside: `A different file exists, so the backup’s file is ${file}. Compare the two.`,
  }[state]
  return originalPath === null
    ? [outcome]
    : [outcome, `  The configuration names ${originalPath}: move the file there, or change the setting.`]
}
