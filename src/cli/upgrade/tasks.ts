/**
 * What `windfall upgrade` asks an executable to do with the database, each in a child process with the rights of the
 * database's owner. The installed version asks the new one and the previous one, so a later version keeps the names, the
 * arguments and the results.
 */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { preciseTime, systemClock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Backup } from '../../store/backup/backup.ts'
import { removeCopy } from '../../store/backup/copies.ts'
import { restore } from '../../store/backup/restore.ts'
import { assertNotSwapping } from '../../store/backup/swap.ts'
import { verify } from '../../store/backup/verification.ts'
import { openConnection } from '../../store/disk/connection.ts'
import { lockWhenFree } from '../../store/disk/lock.ts'
import { realPathOf, statsAt } from '../../store/disk/paths.ts'
import { isAcknowledged } from '../../store/schema/acknowledged.ts'
import { identifyFile } from '../../store/schema/identify.ts'
import { upgrade } from '../../store/schema/migrations.ts'
import { lastUpgrade, upgradeBackup } from '../../store/schema/upgrade_backup.ts'
import { openForBackup } from '../backup/unserved.ts'
import { load, withInstance } from '../instance/instance.ts'

/** The config file, absolute; null if the configuration has none. */
type Configured = { config: string | null }

/** How long a process may take to release the database after it was stopped. */
const RELEASE_MS = 30_000

/** The state of a database that no process serves. `version` is null if there is none. */
export type DatabaseState = {
  version: number | null
  /** The copy of the database before its last migration; null if it is not known. */
  backup: string | null
  isAcknowledged: boolean
  /** Whether a restore was interrupted. */
  isSwapping: boolean
}

/** The version of the database, also while it is served; null if there is no database. */
function version({ config }: Configured): number | null {
  const path = databaseOf(config)
  if (statsAt(path) === null) return null
  const db = openConnection(path, { readonly: true })
  try {
    return Number(db.pragma('user_version', { simple: true }))
  } finally {
    db.close()
  }
}

const databaseOf = (config: string | null): string => realPathOf(load(config ?? undefined).config.store.path)

/** Writes a verified backup, through the server if it runs. */
function backup({ config, destination }: Configured & { destination: string }): Promise<Backup> {
  mkdirSync(dirname(destination), { recursive: true, mode: 0o700 })
  const { recipients } = load(config ?? undefined).config.backup
  const lock = recipients.length > 0 ? { recipients } : null
  return withInstance(config ?? undefined, (send) => send('backup', { destination, lock }), openForBackup)
}

/** Writes a verified copy of the database, through the server if it runs. */
async function copy({ config, destination }: Configured & { destination: string }): Promise<void> {
  mkdirSync(dirname(destination), { recursive: true, mode: 0o700 })
  removeCopy(destination)
  await withInstance(config ?? undefined, (send) => send('database.copy', { destination }), openForBackup)
}

/** Migrates the database `file`, a copy, as a start of this version would, and verifies it. Returns the time taken. */
async function rehearse({ file }: { file: string }): Promise<{ version: number; ms: number }> {
  const began_at = preciseTime()
  await upgrade(file)
  const identity = identifyFile(file)
  if (identity === null) throw new Refusal(400, 'empty', `${file} is empty`)
  await verify(file, new AbortController().signal)
  return { version: identity.version, ms: preciseTime() - began_at }
}

/** The state of the database once its server is stopped. @throws Refusal 409 `already_serving` if it is not. */
async function state({ config }: Configured): Promise<DatabaseState> {
  const file = databaseOf(config)
  const lock = await lockWhenFree(file, { upToMs: RELEASE_MS })
  try {
    const isSwapping = isPartlyReplaced(file)
    if (isSwapping || statsAt(file) === null)
      return { version: null, backup: null, isAcknowledged: false, isSwapping }
    const db = openConnection(file)
    try {
      const found = Number(db.pragma('user_version', { simple: true }))
      const last = lastUpgrade(db)
      const finished = last?.to === found ? last.backup : null
      return {
        version: found,
        backup: upgradeBackup(db) ?? finished,
        isAcknowledged: isAcknowledged(db),
        isSwapping,
      }
    } finally {
      db.close()
    }
  } finally {
    lock.release()
  }
}

function isPartlyReplaced(file: string): boolean {
  try {
    assertNotSwapping(file)
    return false
  } catch {
    return true
  }
}

/** Puts the copy from before the migration in place. Returns where the database is that it replaced. */
async function goBack({
  config,
  copy: from,
}: Configured & { copy: string }): Promise<{ aside: string | null }> {
  const { config: configured, base } = load(config ?? undefined)
  const { aside } = await restore({
    backup: from,
    key: null,
    database: realPathOf(configured.store.path),
    folder: base,
    allowsAbsolutePath: false,
    isHeld: false,
    clock: systemClock,
  })
  return { aside }
}

/** The tasks by name. */
const TASKS = { version, backup, copy, rehearse, state, goBack }
export type Tasks = typeof TASKS

/** What a task prints: its result, or why it was refused. */
export type TaskAnswer = { result: unknown } | { refusal: { code: string; message: string } }

/** Runs the task `name` with its arguments as JSON, and prints a `TaskAnswer`. */
export async function runUpgradeTask([name = '', text = '{}']: readonly string[]): Promise<void> {
  const task = Object.hasOwn(TASKS, name)
    ? (TASKS[name as keyof Tasks] as unknown as (args: unknown) => unknown)
    : undefined
  const answer = await answerOf(() => {
    if (task === undefined) throw new Refusal(404, 'unknown_task', `this version has no task ${name}`)
    return task(JSON.parse(text))
  })
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}

async function answerOf(run: () => unknown): Promise<TaskAnswer> {
  try {
    return { result: (await run()) ?? null }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { refusal: { code: error instanceof Refusal ? error.code : 'failed', message } }
  }
}
