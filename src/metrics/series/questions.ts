/** What we remember: questions that are asked while figures are due: they wait a little, and read one generation. */
import type { App } from '../../apps/apps.ts'
import type { Organization } from '../../apps/organizations.ts'
import type { Store } from '../../store/store.ts'
import type { Reported } from '../reports/reported.ts'
import type { Agenda } from '../upkeep/agenda.ts'
import type { Due } from '../upkeep/due.ts'
import type { Generation, Generations } from '../upkeep/generations.ts'
import type { Numbered } from '../upkeep/marks.ts'
import type { Tasks } from '../upkeep/tasks.ts'
import type { Worker } from '../upkeep/worker.ts'

/**
 * How far an answer is behind the facts: by how many lineages, and days of Apple's reports, since when, and why.
 * catching_up: they are being counted. store: nothing can be written. failed: they cannot be counted. formula: figures are
 * shown as another version of the program counted them, until they are counted again.
 */
export type Behind = {
  lineages: number
  report_days: number
  since: number | null
  reason: 'catching_up' | 'store' | 'failed' | 'formula'
}

/** Whose figures are asked for. `shown`: the generation that is being read already. */
export type Asked = { organization: Organization; apps: readonly App[]; shown?: Shown }

/**
 * What an answer is read from. The organization has the currency and time zone that its figures are counted by.
 * `is_incomplete`: there are lineages that could not be counted.
 */
export type Shown = { generation: Generation; behind: Behind | null; is_incomplete: boolean }

/** A question waits for so many lineages; with more due it is answered at once. */
const LINEAGES_WAITED_FOR = 200

type Deps = {
  store: Store
  generations: Generations
  due: Due
  tasks: Pick<Tasks, 'isPending' | 'isWaiting'>
  agenda: Agenda
  worker: Worker
  reported: Pick<Reported, 'dueDays'>
  wait_ms: () => number
}

export function openQuestions({ store, generations, due, tasks, agenda, worker, reported, wait_ms }: Deps) {
  const checks = new Set<() => void>()
  const waits = new Map<string, Promise<void>>()
  let isClosed = false

  /** Ends the waits that are over; to be called after each slice of the worker. */
  function look(): void {
    for (const check of [...checks]) check()
  }

  /** Resolves when `isDone`, when nothing can be written, or after so many milliseconds. */
  function until(isDone: () => boolean, most_ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(end, most_ms)
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
  async function caught(generation: Generation, app_ids: readonly string[], patience_ms: number | null) {
    if (!generations.isLive(generation) || isRefused()) return
    const isDone = (): boolean => due.backlog(generation, app_ids).lineages === 0 && !tasks.isWaiting()
    const { lineages } = due.backlog(generation, app_ids)
    if (isDone() || (patience_ms === null && lineages > LINEAGES_WAITED_FOR)) return
    const name = [generation.id, patience_ms, ...app_ids].join(' ')
    await (waits.get(name) ?? begin(name, { generation, app_ids, isDone, most_ms: patience_ms ?? wait_ms() }))
  }

  type Wait = { generation: Generation; app_ids: readonly string[]; isDone: () => boolean; most_ms: number }

  function begin(name: string, { generation, app_ids, isDone, most_ms }: Wait): Promise<void> {
    const stop = agenda.prefer(name, generation, app_ids)
    const wait = until(isDone, most_ms).finally(() => {
      stop()
      waits.delete(name)
    })
    waits.set(name, wait)
    return wait
  }

  /** Waits for figures of some apps, of any organizations, as `reading` does; how far the first that are behind are. */
  async function ready(some: readonly App[], patience_ms: number | null = null): Promise<Behind | null> {
    const owners = Map.groupBy(some, ({ organization_id }) => organization_id)
    const all = await Promise.all(
      [...owners].map(async ([organization_id, own]) => {
        const app_ids = own.map(({ id }) => id)
        await caught(generations.shown(organization_id), app_ids, patience_ms)
        return behind(generations.shown(organization_id), app_ids)
      }),
    )
    return all.find((one) => one !== null) ?? null
  }

  /** How far the figures of some apps are behind now; null where they are not. */
  function behind(generation: Generation, app_ids: readonly string[] | null): Behind | null {
    const { lineages, since, failed } = due.backlog(generation, app_ids)
    const days = reported.dueDays(generation.id)
    const told = { lineages, report_days: days.count, since: least(since, days.since) }
    if (!generations.isLive(generation))
      return { ...told, since: generation.stood_still_at, reason: 'formula' }
    // A task has not marked all that it concerns yet.
    const isBehind = lineages + days.count > 0 || tasks.isPending()
    if (isBehind) return { ...told, reason: isRefused() ? 'store' : 'catching_up' }
    return failed === 0 ? null : { ...told, lineages: failed, reason: 'failed' }
  }

  /**
   * What `read` gives of the generation that is shown, which it reads alone: nothing of that is deleted meanwhile. Waits a
   * little before, or up to `patience_ms`, for figures that are due.
   */
  async function reading<Scope extends Asked, Found>(
    scope: Scope,
    read: (scope: Scope & { shown: Shown }) => Promise<Found>,
    patience_ms: number | null = null,
  ): Promise<Found> {
    if (scope.shown) return read({ ...scope, shown: scope.shown })
    const app_ids = scope.apps.map(({ id }) => id)
    await caught(generations.shown(scope.organization.id), app_ids, patience_ms)
    const generation = generations.shown(scope.organization.id)
    const { currency, time_zone } = generation
    const organization = { ...scope.organization, currency, time_zone }
    const is_incomplete = due.backlog(generation, app_ids).failed > 0
    const shown = { generation, behind: behind(generation, app_ids), is_incomplete }
    return generations.holding(generation, () => read({ ...scope, organization, shown }))
  }

  /**
   * Brings some lineages up to date before all others. Resolves with whether their figures are those of the facts by now,
   * at most after so many milliseconds.
   */
  async function current(some: readonly Numbered[], most_ms: number): Promise<boolean> {
    const marks = () =>
      some.flatMap(({ id, app_id }) => {
        const shown = generations.shownOf(app_id)
        return shown && due.isDue(shown.id, id) ? [{ generation: shown.id, lineage_id: id }] : []
      })
    const isLive = some.every(({ app_id }) => {
      const shown = generations.shownOf(app_id)
      return shown === null || generations.isLive(shown)
    })
    const waiting = marks()
    if (waiting.length === 0 || !isLive) return isLive
    if (isRefused()) return false
    agenda.hurry(waiting)
    await until(() => marks().length === 0, most_ms)
    return marks().length === 0
  }

  /** Ends all waits, whose questions are answered with what there is. */
  function close(): void {
    isClosed = true
    for (const check of [...checks]) check()
  }

  return { reading, ready, current, behind, look, close }
}

function least(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
