/** What we remember: questions that are asked while figures are due: they wait a little, and read one generation. */
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
 * How far an answer is behind the facts: by how many lineages, and days of Apple's reports, since when, and why.
 * catching_up: they are being counted. store: nothing can be written. failed: they cannot be counted. formula: figures are
 * shown as another version of the program counted them, until they are counted again.
 */
export type Lag = {
  lineages: number
  report_days: number
  since: number | null
  reason: 'catching_up' | 'store' | 'failed' | 'formula'
}

/** Whose figures are asked for. `shown`: the generation that is being read already. */
type SnapshotRequest = { organization: Organization; apps: readonly App[]; shown?: ReadSnapshot }

/**
 * What an answer is read from. The organization has the currency and time zone that its figures are counted by.
 * `is_incomplete`: there are lineages that could not be counted.
 */
export type ReadSnapshot = { generation: Generation; behind: Lag | null; isIncomplete: boolean }

/** A question waits for so many lineages; with more due it is answered at once. */
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
  const waits = new Map<string, Promise<void>>()
  let isClosed = false

  /** Ends the waits that are over; to be called after each slice of the worker. */
  function look(): void {
    for (const check of [...checks]) check()
  }

  /** Resolves when `isDone`, when nothing can be written, or after so many milliseconds. */
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
   * Waits until nothing of some apps is due: for few lineages so long as a question waits, with `patience_ms` for any
   * number, so long. Those who wait for the same share one wait.
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
    const name = [generation.id, max_wait_ms, ...app_ids].join(' ')
    await (waits.get(name) ??
      begin(name, { generation, app_ids, isDone, timeout_ms: max_wait_ms ?? wait_ms() }))
  }

  type Wait = {
    generation: Generation
    app_ids: readonly string[]
    isDone: () => boolean
    timeout_ms: number
  }

  function begin(name: string, { generation, app_ids, isDone, timeout_ms }: Wait): Promise<void> {
    const stop = scheduler.prefer(name, generation, app_ids)
    const wait = waitUntil(isDone, timeout_ms).finally(() => {
      stop()
      waits.delete(name)
    })
    waits.set(name, wait)
    return wait
  }

  /** Waits for figures of some apps, of any organizations, as `reading` does; how far the first that are behind are. */
  async function ready(some: readonly App[], max_wait_ms: number | null = null): Promise<Lag | null> {
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

  /** How far the figures of some apps are behind now; null where they are not. */
  function behind(generation: Generation, app_ids: readonly string[] | null): Lag | null {
    const { lineages, since, failed } = due.backlog(generation, app_ids)
    const days = reported.dueDays(generation.id)
    const lag = { lineages, report_days: days.count, since: earliest(since, days.since) }
    if (!generations.isLive(generation))
      return { ...lag, since: generation.stood_still_at, reason: 'formula' }
    // A task has not marked all that it concerns yet.
    const isBehind = lineages + days.count > 0 || tasks.isPending()
    if (isBehind) return { ...lag, reason: isRefused() ? 'store' : 'catching_up' }
    return failed === 0 ? null : { ...lag, lineages: failed, reason: 'failed' }
  }

  /**
   * What `read` gives of the generation that is shown, which it reads alone: nothing of that is deleted meanwhile. Waits a
   * little before, or up to `patience_ms`, for figures that are due.
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
   * Brings some lineages up to date before all others. Resolves with whether their figures are those of the facts by now,
   * at most after so many milliseconds.
   */
  async function current(some: readonly Numbered[], timeout_ms: number): Promise<boolean> {
    const dueMarks = () =>
      some.flatMap(({ id, app_id }) => {
        const shown = generations.shownOf(app_id)
        return shown && due.isDue(shown.id, id) ? [{ generation: shown.id, lineage_id: id }] : []
      })
    const isLive = some.every(({ app_id }) => {
      const shown = generations.shownOf(app_id)
      return shown === null || generations.isLive(shown)
    })
    const waiting = dueMarks()
    if (waiting.length === 0 || !isLive) return isLive
    if (isRefused()) return false
    scheduler.prioritize(waiting)
    await waitUntil(() => dueMarks().length === 0, timeout_ms)
    return dueMarks().length === 0
  }

  /** Ends all waits, whose questions are answered with what there is. */
  function close(): void {
    isClosed = true
    for (const check of [...checks]) check()
  }

  return { withSnapshot, ready, current, behind, look, close }
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
