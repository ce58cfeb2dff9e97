/** Steps 4 to 6 of an upgrade: put the new executable in place, wait until it is ready, and go back if it fails. */

import { linkSync, renameSync, rmSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { preciseTime } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { INSTALLED_FOLDER } from '../../program/addon.ts'
import { renameDurably } from '../../store/disk/durable_files.ts'
import { realPathOf, statsAt } from '../../store/disk/paths.ts'
import type { ServiceState } from '../../systemd/systemctl.ts'
import { UNIT_NAME } from '../../systemd/unit.ts'
import { sha256Of } from './candidate.ts'
import type { Journal } from './journal.ts'
import { configArgs, type Plan, shortName } from './plan.ts'
import type { Outcome } from './report.ts'
import type { DatabaseState } from './tasks.ts'

const POLL_MS = 250
const REQUEST_TIMEOUT_MS = 2_000
/** How long the previous version, which served before, may take until it is ready again. */
const RETURN_WAIT_MS = 120_000

/** Puts the new executable in place and completes the upgrade. */
export async function switchOver(plan: Plan, journal: Journal): Promise<Outcome> {
  const { program, staged, previous, earlier, report } = plan
  plan.journal.write(journal)
  await installAddon(plan)
  // An interrupted upgrade can have kept the program already.
  if (statsAt(previous) !== null && sha256Of(previous) !== sha256Of(program)) keepAs(previous, earlier)
  keepAs(program, previous)
  renameDurably(staged, program)
  report.step(4, `${program} is ${journal.to}; ${journal.from} is ${previous}`)
  return complete(plan, journal)
}

/** Goes on with an upgrade whose journal exists: forward from the restart, or back if it had failed. */
export async function resume(plan: Plan, journal: Journal): Promise<Outcome | null> {
  const isNew = sha256Of(plan.program) === journal.sha256
  if (journal.failure !== null) return isNew ? undo(plan, journal) : serveAgain(plan, journal, null)
  if (isNew) return complete(plan, journal)
  // Nothing was changed: the upgrade begins again.
  plan.journal.remove()
  return null
}

/** Restarts the service and waits until it is ready. */
async function complete(plan: Plan, journal: Journal): Promise<Outcome> {
  const { from, to, wait_ms } = journal
  plan.report.step(4, 'restarting the service')
  const failure = await startAndWait(plan, 'restart', wait_ms)
  if (failure !== null) {
    const failed = { ...journal, failure }
    plan.journal.write(failed)
    return undo(plan, failed)
  }
  plan.journal.remove()
  rmSync(plan.earlier, { force: true })
  plan.report.step(5, `${plan.readyUrl} answers`)
  return { outcome: 'upgraded', from, to }
}

/** Writes SQLite's addon of the new version beside that of the old one, where `windfall install` keeps it. */
async function installAddon({ staged, asking, isService }: Plan): Promise<void> {
  if (!isService || statsAt(INSTALLED_FOLDER) === null || process.geteuid?.() !== 0) return
  await asking.runAsSelf(staged, ['install', '--addon-only', '--json'])
}

/** Gives a file another name, in place of what has that name, without a moment at which either is missing. */
function keepAs(file: string, name: string): void {
  const partial = `${name}.partial`
  rmSync(partial, { force: true })
  linkSync(file, partial)
  // Renaming one link over another link to the same file does nothing.
  renameSync(partial, name)
  rmSync(partial, { force: true })
}

/** Starts or restarts the service, and waits until it is ready. Returns why it is not; null if it is. */
async function startAndWait(plan: Plan, verb: 'start' | 'restart', wait_ms: number): Promise<string | null> {
  const { service, readyUrl, report } = plan
  const before = service.state()?.invocation ?? ''
  try {
    service.begin(verb)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const until = preciseTime() + wait_ms
  const watch = openCrashWatch(before)
  report.step(5, `waiting up to ${Math.ceil(wait_ms / 1_000)} s until ${readyUrl} answers`)
  for (;;) {
    const { hasBegun, failure } = watch(service.state())
    if (failure !== null) return `${UNIT_NAME} ${failure}; journalctl -u windfall says why`
    const answer = hasBegun ? await ask(readyUrl) : null
    if (answer === 200) return null
    if (preciseTime() > until)
      return `${readyUrl} ${answerText(answer)} for ${Math.ceil(wait_ms / 1_000)} s; journalctl -u windfall says why`
    await setTimeout(POLL_MS)
  }
}

/**
 * Returns a function that says whether a start has begun, and how it failed. Until then, the state is that of the start
 * with the invocation `before`. The first crash is enough: systemd would try the same program four times more.
 */
function openCrashWatch(before: string) {
  let own: string | null = null

  return (state: ServiceState | null): { hasBegun: boolean; failure: string | null } => {
    const { active = '', sub = '', invocation = '' } = state ?? {}
    if (invocation === before) return { hasBegun: false, failure: null }
    own ??= invocation
    const hasEnded = active === 'failed' || active === 'inactive'
    const hasCrashed = sub === 'auto-restart' || invocation !== own
    return { hasBegun: true, failure: hasEnded ? `is ${active}` : hasCrashed ? 'ended at its start' : null }
  }
}

const answerText = (status: number | null): string =>
  status === null ? 'did not answer' : `answered ${status}`

/** The status of a GET; null without an answer. */
async function ask(url: string): Promise<number | null> {
  try {
    const { status, body } = await fetch(url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
    await body?.cancel()
    return status
  } catch {
    return null
  }
}

/** Stops the new version and goes back as far as nobody loses anything. */
async function undo(plan: Plan, journal: Journal): Promise<Outcome> {
  const { service, report, asking, previous } = plan
  const { config, database_version, failure } = journal
  report.step(6, `stopping ${journal.to}: ${failure}`)
  service.run('stop')
  const state = await asking.task(previous, 'state', { config })
  if (state.version === database_version && !state.isSwapping) return serveAgain(plan, journal, null)
  const copy = state.isSwapping ? journal.copy : state.backup
  if (state.isAcknowledged || copy === null) return undecided(plan, journal, state)
  plan.journal.write({ ...journal, copy })
  report.step(6, `restoring ${copy}`)
  const { aside } = await asking.task(previous, 'goBack', { config, copy })
  return serveAgain(plan, journal, aside)
}

/** Puts the previous executable back and starts it. `database` is where the migrated database is. */
async function serveAgain(plan: Plan, journal: Journal, database: string | null): Promise<Outcome> {
  const { program, previous, earlier, service, report } = plan
  const { from, to, failure } = journal
  if (sha256Of(program) === journal.sha256) keepAs(previous, program)
  report.step(6, `starting ${from} again`)
  service.run('reset-failed')
  const problem = await startAndWait(plan, 'start', RETURN_WAIT_MS)
  if (problem !== null)
    throw new Refusal(
      500,
      'not_ready',
      `Windfall ${to} failed (${failure}), and ${from}, which is in place again, is not ready either: ${problem}`,
    )
  plan.journal.remove()
  if (statsAt(earlier) !== null) renameDurably(earlier, previous)
  else rmSync(previous, { force: true })
  return { outcome: 'went_back', from, to, reason: failure ?? '', database }
}

function undecided(plan: Plan, journal: Journal, state: DatabaseState): Outcome {
  const { program, previous, earlier, loaded } = plan
  const { from, to, failure, backup } = journal
  const copy = state.backup ?? backup
  plan.journal.remove()
  rmSync(earlier, { force: true })
  return {
    outcome: 'undecided',
    why: state.isAcknowledged ? 'acknowledged' : 'no_copy',
    from,
    to,
    reason: failure ?? '',
    database: realPathOf(loaded.config.store.path),
    backup: copy,
    keep: ['systemctl start windfall'],
    go_back: [
      `${shortName(previous)} ${['restore', copy ?? 'BACKUP', ...configArgs(loaded)].join(' ')}`,
      `mv ${previous} ${program}`,
      'systemctl start windfall',
      `${shortName(program)} outgoing resume`,
    ],
  }
}
