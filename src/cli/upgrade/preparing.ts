/** Steps 1 to 3 of an upgrade: check the new executable, back up, and migrate a copy. They change nothing that runs. */
import { existsSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { freeBytesOf } from '../../store/disk/disk_space.ts'
import { realPathOf } from '../../store/disk/paths.ts'
import { version as ownVersion } from '../../version.ts'
import { type Candidate, isOlder, sha256Of, stage } from './candidate.ts'
import type { Journal } from './journal.ts'
import { configArgs, type Plan } from './plan.ts'

/** The copy, the backup of its migration, and its log. */
const REHEARSAL_FACTOR = 3
const MEGABYTE = 1_048_576
const LEAST_WAIT_MS = 120_000

/** The new version is the installed one. */
type Unchanged = { version: string }

/**
 * Checks, backs up and rehearses. Returns the journal of an upgrade that is ready to begin; `Unchanged` if the file is
 * installed already.
 *
 * @throws Refusal that names the step, after which everything is as before.
 */
export async function prepare(plan: Plan, file: string, sha256: string): Promise<Journal | Unchanged> {
  const candidate = stage(file, plan.staged, sha256)
  try {
    if (sha256Of(plan.program) === sha256) {
      rmSync(plan.staged)
      return { version: candidate.version }
    }
    await examine(plan, candidate)
    const database_version = await versionOf(plan)
    const backup = database_version === null ? null : await backUp(plan, candidate.version)
    const rehearsal_ms = database_version === null ? null : await rehearse(plan)
    return {
      pid: process.pid,
      from: ownVersion,
      to: candidate.version,
      sha256,
      config: plan.loaded.file,
      database_version,
      backup,
      wait_ms: plan.wait_ms ?? Math.max(LEAST_WAIT_MS, 2 * (rehearsal_ms ?? 0)),
      failure: null,
      copy: null,
    }
  } catch (error) {
    rmSync(plan.staged, { force: true })
    throw error
  }
}

/** @throws Refusal 409 `downgrade`; 400 `check_failed` with what the check printed. */
async function examine(
  { asking, loaded, report }: Plan,
  { file, sha256, version }: Candidate,
): Promise<void> {
  if (isOlder(version, ownVersion))
    throw new Refusal(
      409,
      'downgrade',
      `the file is Windfall ${version}, older than the installed ${ownVersion}, and an older version cannot open the database of a newer one. To go back, restore a backup of ${version} with that version`,
    )
  report.step(1, `Windfall ${version}, SHA-256 ${sha256}`)
  const { status, stdout, stderr } = await asking.run(file, ['check', ...configArgs(loaded)])
  if (status !== 0)
    throw new Refusal(
      400,
      'check_failed',
      `Windfall ${version} does not accept the configuration:\n${`${stderr}${stdout}`.trim()}`,
    )
  report.step(1, `Windfall ${version} accepts the configuration`)
}

const versionOf = ({ asking, program, loaded }: Plan): Promise<number | null> =>
  asking.task(program, 'version', { config: loaded.file })

async function backUp({ asking, program, loaded, report }: Plan, to: string): Promise<string> {
  const { folder, recipients } = loaded.config.backup
  // Scheduled backups have other names, so that this one does not expire. The time has milliseconds, because an earlier
  // run that was killed can have left its backup.
  const time = new Date(systemClock()).toISOString().replaceAll(':', '')
  const name = `before-${to}-${time}.tar.zst${recipients.length > 0 ? '.age' : ''}`
  const destination = join(folder, name)
  report.step(2, `writing ${destination}`)
  const { bytes } = await asking.task(program, 'backup', { config: loaded.file, destination })
  report.step(2, `${destination}: ${bytes} bytes, verified`)
  return destination
}

/** Lets the new version migrate a copy. Returns how long that took, in milliseconds; null without room for a copy. */
async function rehearse({ asking, program, staged, loaded, report }: Plan): Promise<number | null> {
  const database = realPathOf(loaded.config.store.path)
  const needed = statSync(database).size * REHEARSAL_FACTOR
  const free = freeBytesOf(dirname(database))
  if (free < needed) {
    const [need, have] = [needed, free].map((bytes) => Math.ceil(bytes / MEGABYTE))
    report.step(3, `skipped: a copy needs ${need} MB beside the database, but only ${have} MB are free`)
    return null
  }
  const folder = `${database}.rehearsal`
  const copy = join(folder, 'windfall.db')
  if (existsSync(folder)) rmSync(folder, { recursive: true })
  try {
    report.step(3, 'copying the database')
    await asking.task(program, 'copy', { config: loaded.file, destination: copy })
    report.step(3, 'migrating and verifying the copy')
    const { version, ms } = await asking.task(staged, 'rehearse', { file: copy })
    report.step(3, `the copy has database version ${version} after ${(ms / 1_000).toFixed(1)} s`)
    return ms
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
