/** Runs reads on one generation. Waits briefly for due figures first, and prevents deletion of the generation meanwhile. */
import type { App } from '../../apps/apps.ts'
import type { Organization } from '../../apps/organizations.ts'
import type { Store } from '../../store/store.ts'
import type { Reported } from '../reports/reported.ts'
import type { Due } from '../upkeep/due.ts'
import type { Generation, Generations } from '../upkeep/generations.ts'
import type { Numbered } from '../upkeep/marks.ts'
import type { Scheduler } from '../upkeep/scheduler.ts'
import type { Tasks } from '../upkeep/tasks.ts'
import type { Worker } from '../upkeep/worker.ts'

/**
 * How far an answer lags behind the facts: lineages, days of Apple’s reports, since when, and why. catching_up: due
 * figures are being recomputed. store: the store refuses writes. failed: some lineages cannot be recomputed. formula: the
 * figures were computed with another version’s formulas and are not rebuilt yet.
 */
export type Lag = {
  lineages: number
  report_days: number
  since: number | null
  reason: 'catching_up' | 'store' | 'failed' | 'formula'
}

/** The organization and apps to read. `shown`: the generation that the caller is already reading. */
type SnapshotRequest = { organization: Organization; apps: readonly App[]; shown?: ReadSnapshot }

/**
 * The generation from which an answer is read. `isIncomplete`: some lineages could not be recomputed.
 */
export type ReadSnapshot = { generation: Generation; behind: Lag | null; isIncomplete: boolean }

/** A request waits for up to this many due lineages. With more due lineages it is answered immediately. */
const MAX_LINEAGES_TO_WAIT = 200

type Deps = {
  store: Store
  generations: Generations
  due: Due
  tasks: Pick<Tasks, 'isPending' | 'isWaiting'>
  scheduler: Scheduler
  worker: Worker
  reported: Pick<Reported, 'dueDays'>
  wait_ms: () => number
}

export function openSnapshotReads({
  store,
  generations,
  due,
  tasks,
  scheduler,
  worker,
  reported,
  wait_ms,
}: Deps) {
  const checks = new Set<() => void>()
  const waitByKey = new Map<string, Promise<void>>()
  let isClosed = false

  /** Ends the waits whose figures are current. Call it after each slice of the worker. */
  function checkWaits(): void {
    for (const check of [...checks]) check()
  }

  /** Resolves when `isDone` returns true, when the store refuses writes, or after `timeout_ms`. */
  function waitUntil(isDone: () => boolean, timeout_ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(end, timeout_ms)
      function end(): void {
        clearTimeout(timer)
        checks.delete(check)
        resolve()
      }
      function check(): void {
        if (isDone() || isRefused()) end()
      }
      checks.add(check)
      worker.kick()
    })
  }

  const isRefused = (): boolean => isClosed || worker.isRefused() || store.condition() !== 'ok'

  /**
   * Waits until no lineage of some apps is due. With `max_wait_ms` it waits up to that time for any number of lineages.
   * Without it, it waits up to the configured time, and only for few lineages. Callers for the same apps share one wait.
   */
  async function waitUntilCurrent(
    generation: Generation,
    app_ids: readonly string[],
    max_wait_ms: number | null,
  ) {
    if (!generations.isLive(generation) || isRefused()) return
    const isDone = (): boolean => due.backlog(generation, app_ids).lineages === 0 && !tasks.isWaiting()
    const { lineages } = due.backlog(generation, app_ids)
    if (isDone() || (max_wait_ms === null && lineages > MAX_LINEAGES_TO_WAIT)) return
    const key = [generation.id, max_wait_ms, ...app_ids].join(' ')
    await (waitByKey.get(key) ??
      startWait(key, { generation, app_ids, isDone, timeout_ms: max_wait_ms ?? wait_ms() }))
  }

  type Wait = {
    generation: Generation
    app_ids: readonly string[]
    isDone: () => boolean
    timeout_ms: number
  }

  function startWait(key: string, { generation, app_ids, isDone, timeout_ms }: Wait): Promise<void> {
    const stop = scheduler.prefer(key, generation, app_ids)
    const wait = waitUntil(isDone, timeout_ms).finally(() => {
      stop()
      waitByKey.delete(key)
    })
    waitByKey.set(key, wait)
    return wait
  }

  /** Waits for the figures of some apps of any organization. Returns the first lag; null if all figures are current. */
  async function waitForApps(some: readonly App[], max_wait_ms: number | null = null): Promise<Lag | null> {
    const owners = Map.groupBy(some, ({ organization_id }) => organization_id)
    const all = await Promise.all(
      [...owners].map(async ([organization_id, own]) => {
        const app_ids = own.map(({ id }) => id)
        await waitUntilCurrent(generations.shown(organization_id), app_ids, max_wait_ms)
        return behind(generations.shown(organization_id), app_ids)
      }),
    )
    return all.find((one) => one !== null) ?? null
  }

  /** How far the figures of some apps lag now; null if they are current. */
  function behind(generation: Generation, app_ids: readonly string[] | null): Lag | null {
    const { lineages, since, failed } = due.backlog(generation, app_ids)
    const days = reported.dueDays(generation.id)
    const lag = { lineages, report_days: days.count, since: earliest(since, days.since) }
    if (!generations.isLive(generation))
      return { ...lag, since: generation.stood_still_at, reason: 'formula' }
    // A pending task has not marked all of its lineages yet.
    const isBehind = lineages + days.count > 0 || tasks.isPending()
    if (isBehind) return { ...lag, reason: isRefused() ? 'store' : 'catching_up' }
    return failed === 0 ? null : { ...lag, lineages: failed, reason: 'failed' }
  }

  /**
   * Runs `read` on the shown generation, which is not deleted meanwhile. First waits for due figures up to `max_wait_ms`,
   * or up to the configured time (null). The organization passed to `read` has the generation’s currency and time zone.
   */
  async function withSnapshot<Scope extends SnapshotRequest, Found>(
    scope: Scope,
    read: (scope: Scope & { shown: ReadSnapshot }) => Promise<Found>,
    max_wait_ms: number | null = null,
  ): Promise<Found> {
    if (scope.shown) return read({ ...scope, shown: scope.shown })
    const app_ids = scope.apps.map(({ id }) => id)
    await waitUntilCurrent(generations.shown(scope.organization.id), app_ids, max_wait_ms)
    const generation = generations.shown(scope.organization.id)
    const { currency, time_zone } = generation
    const organization = { ...scope.organization, currency, time_zone }
    const isIncomplete = due.backlog(generation, app_ids).failed > 0
    const shown = { generation, behind: behind(generation, app_ids), isIncomplete }
    return generations.withHold(generation, () => read({ ...scope, organization, shown }))
  }

  /**
   * Recomputes some lineages before all others. Resolves after at most `timeout_ms`: true if their figures contain the
   * newest facts.
   */
  async function waitForLineages(some: readonly Numbered[], timeout_ms: number): Promise<boolean> {
    const dueMarks = () =>
      some.flatMap(({ id, app_id }) => {
        const shown = generations.shownOf(app_id)
        return shown && due.isDue(shown.id, id) ? [{ generation: shown.id, lineage_id: id }] : []
      })
    const isLive = some.every(({ app_id }) => {
      const shown = generations.shownOf(app_id)
      return shown === null || generations.isLive(shown)
    })
    const dueNow = dueMarks()
    if (dueNow.length === 0 || !isLive) return isLive
    if (isRefused()) return false
    scheduler.prioritize(dueNow)
    await waitUntil(() => dueMarks().length === 0, timeout_ms)
    return dueMarks().length === 0
  }

  /** Ends all waits. The waiting requests are answered with the stored figures. */
  function close(): void {
    isClosed = true
    for (const check of [...checks]) check()
  }

  return { withSnapshot, waitForApps, waitForLineages, behind, checkWaits, close }
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
