/**
 * Keeps figures current. The commit of a fact recomputes the lineage’s figures if time allows; otherwise a worker does
 * so soon after. Settings that change all figures build another generation, which replaces the shown generation when it is
 * complete.
 */
import type { Apps } from '../apps/apps.ts'
import type { Organization, Organizations } from '../apps/organizations.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import type { Origin } from '../events/vocabulary.ts'
import type { LineageKey } from '../ledger/ledger.ts'
import type { Imports } from '../ledger/reports/imports.ts'
import type { Log } from '../log.ts'
import type { RateChange } from '../rates/rate_store.ts'
import type { Stoppages } from '../stoppages.ts'
import type { Store } from '../store/store.ts'
import type { Contributions } from './cohorts/contributions.ts'
import type { CustomerValues } from './customers/values.ts'
import { type DayNumber, dayNumber } from './lineage/calendar.ts'
import type { CountingSettings } from './lineage/settings.ts'
import type { Reported } from './reports/reported.ts'
import { openSnapshotReads } from './series/snapshot_reads.ts'
import type { Cube } from './sums/cube.ts'
import { openBatchRecount } from './upkeep/batch_recount.ts'
import { openCounting } from './upkeep/counting.ts'
import { openDue } from './upkeep/due.ts'
import { FORMULA, type Generation, type Generations } from './upkeep/generations.ts'
import { openMarks, RANK } from './upkeep/marks.ts'
import { openRecount } from './upkeep/recount.ts'
import { openScheduler } from './upkeep/scheduler.ts'
import { openSweeping } from './upkeep/sweeping.ts'
import { openTasks } from './upkeep/tasks.ts'
import { openWorker } from './upkeep/worker.ts'
import { openVerification } from './verification/verification.ts'

type Deps = {
  store: Store
  clock: Clock
  apps: Apps
  organizations: Organizations
  generations: Generations
  settings: CountingSettings
  cube: Cube
  values: CustomerValues
  contributions: Contributions
  reported: Reported
  imports: Pick<Imports, 'progress'>
  /** The commission as text. When the text changes, all proceeds are recomputed. */
  commissionText: () => string
  /** How long a request waits for due figures, in milliseconds. */
  wait_ms: () => number
  /** The version of the formulas; by default this program’s version. */
  formula?: number
  log: Log
  stoppages: Pick<Stoppages, 'watch'>
}

const NO_APP_BACKLOG = { lineages: 1, failed: 0 }

/** The progress of a rebuild, in lineages. */
export type RebuildProgress = { done: number; of: number }

export type Metrics = ReturnType<typeof openMetrics>

export function openMetrics(deps: Deps) {
  const { store, clock, apps, organizations, generations, reported, log, stoppages } = deps
  const marks = openMarks(store)
  const due = openDue({ store, clock, apps, generations, marks })
  const isImporting = (): boolean => deps.imports.progress() !== null
  const tasks = openTasks({ store, generations, marks, due, isImporting })
  const counting = openCounting(deps)
  const recount = openRecount({ store, clock, log, generations, marks, counting })
  const sweeping = openSweeping({ store, generations, sweepReports: reported.sweep })
  const scheduler = openScheduler({
    store,
    clock,
    generations,
    marks,
    due,
    tasks,
    recount,
    sweeping,
    lacksReports: reported.isDue,
  })
  const worker = openWorker({ store, stoppages, scheduler, recount })
  const recountAtBatchEnd = openBatchRecount({
    store,
    due,
    generations,
    recount,
    onMarked: worker.kick,
    isHeld: worker.isHeld,
  })
  const snapshotReads = openSnapshotReads({
    store,
    generations,
    due,
    tasks,
    scheduler,
    worker,
    reported,
    wait_ms: deps.wait_ms,
  })
  const verification = openVerification({ store, clock, formula: deps.formula ?? FORMULA })
  const commission = store.prepare<[], { counted_by: string }>('select counted_by from metric_commission')
  const putCommission = store.prepare<[string]>(
    'insert or replace into metric_commission (id, counted_by) values (1, ?)',
  )
  const newestId = store.prepare<[], { last: number | null }>('select max(id) as last from metric_lineages')
  let isClosed = false
  /** Whether an evaluation of cutovers was deferred because lineages were due. */
  let isEvaluationDeferred = false
  /** The error that prevented building another generation, by organization. */
  const refused = new Map<string, unknown>()
  worker.onSlice(snapshotReads.checkWaits)
  worker.onIdle(evaluateDeferredCutovers)

  /** Handles a new fact of a lineage. This and the next three functions run in the unit of work of the change. */
  const lineageChanged = (lineage: LineageKey, origin: Origin): void =>
    recountAtBatchEnd({ ...lineage, id: marks.numberOf(lineage) }, origin === 'live' ? RANK.live : RANK.bulk)

  /** Handles an added or revoked exchange rate. */
  const ratesChanged = ({ is_removal, from_on }: RateChange): void =>
    addTask(() => tasks.add(is_removal ? 'all' : 'rates', '', dayNumber(from_on)))

  /** Handles a changed period of an app’s product. */
  const periodChanged = (app_id: string): void => addTask(() => tasks.add('period', app_id))

  /** Handles changed prices in the reports of a Pacific day. */
  const pricesChanged = (day: DayNumber): void => addTask(() => tasks.add('prices', '', day))

  /** Adds a task within the caller’s unit of work, and starts the worker after the commit. */
  function addTask(add: () => void): void {
    add()
    store.afterCommit(worker.kick)
  }

  /** Whether no lineage of an app is due in the shown generation. If one is, defers the evaluation of cutovers. */
  function isCurrent(app_id: string): boolean {
    const shown = generations.shownOf(app_id)
    const { lineages, failed } = shown === null ? NO_APP_BACKLOG : due.backlog(shown, [app_id])
    const isUpToDate = lineages + failed === 0 && !tasks.isWaiting()
    isEvaluationDeferred ||= !isUpToDate
    return isUpToDate
  }

  function evaluateDeferredCutovers(): void {
    if (!isEvaluationDeferred) return
    isEvaluationDeferred = false
    void reported.evaluateCutovers()
  }

  /** Begins another generation if settings require it, and continues to build one that was begun. */
  async function resume(): Promise<void> {
    for (const organization of organizations.list()) await resumeOne(organization)
    await store.commit(() => {
      const now = deps.commissionText()
      const before = commission.get()?.counted_by
      if (before === now) return
      putCommission.run(now)
      if (before !== undefined) tasks.add('all')
    })
    worker.watch()
    worker.kick()
  }

  async function resumeOne(listed: Organization): Promise<void> {
    const needsRebuild = await store.commit(() => {
      const organization = currentSettings(listed)
      const { generation, is_new } = generations.ensureShown(organization)
      if (is_new) {
        tasks.add('all', organization.id)
        reported.begin(generation)
      }
      generations.freeze(generation)
      const next = generations.making(organization.id)
      if (next && !generations.isUpToDate(next, organization)) generations.abandon(organization.id)
      const shown = generations.shown(organization.id)
      return !generations.isUpToDate(shown, organization) && generations.making(organization.id) === null
    })
    refused.delete(listed.id)
    if (needsRebuild) await begin(listed).catch((error) => noteRefusal(listed, error))
  }

  /** Reads an organization again, because its settings may have changed since it was listed. */
  const currentSettings = (listed: Organization): Organization => organizations.get(listed.id) ?? listed

  function noteRefusal({ id, slug }: Organization, error: unknown): void {
    refused.set(id, error)
    log.warn(
      'the figures cannot be recomputed with the new settings yet; the previous figures remain shown',
      { organization: slug, error },
    )
  }

  /**
   * Begins another generation of an organization.
   *
   * @throws Refusal 507 `no_room` if there is no disk space for both generations.
   */
  async function begin(listed: Organization): Promise<Generation> {
    // Figures take about half of the file, and both generations are stored until the new one is shown.
    store.assertFreeSpaceFor(store.bytes())
    refused.delete(listed.id)
    const generation = await store.commit(() => {
      const next = generations.begin(currentSettings(listed))
      reported.begin(next)
      return next
    })
    worker.kick()
    return generation
  }

  /**
   * Recomputes all figures from the facts in another generation while facts continue to arrive, then shows that
   * generation. Returns the number of lineages. A rebuild that is stopped resumes at the next start.
   *
   * @throws Refusal 507 `no_room` if there is no disk space for both generations; 503 `store_closing` if stopped.
   */
  async function rebuild(): Promise<number> {
    for (const organization of organizations.list()) await begin(organization)
    await whenCurrent()
    return newestId.get()?.last ?? 0
  }

  /**
   * Resolves once nothing is due and all figures contain the newest facts.
   *
   * @throws Refusal 503 `store_closing` if the figures are closed before.
   */
  async function whenCurrent(): Promise<void> {
    for (let isDone = false; !isDone; ) {
      await reported.settled()
      await worker.idle()
      await reported.evaluateCutovers()
      // A stop resolves the waits above while lineages are still due.
      if (isClosed) throw closing()
      isDone = reported.isSettled() && !scheduler.isWaiting()
    }
  }

  /** The progress of all rebuilds together; null if there is none. */
  function progress(): RebuildProgress | null {
    const next = generations.all().filter(({ state }) => state === 'making')
    if (next.length === 0) return null
    const of = newestId.get()?.last ?? 0
    return { done: Math.min(of, ...next.map(({ made_up_to }) => made_up_to ?? 0)), of }
  }

  /** Stops after the work in progress and ends all waits. Marked lineages stay due. */
  async function close(): Promise<void> {
    isClosed = true
    snapshotReads.close()
    await Promise.all([worker.close(), verification.close()])
  }

  return {
    resume,
    rebuild,
    whenCurrent,
    progress,
    close,
    lineageChanged,
    ratesChanged,
    periodChanged,
    pricesChanged,
    isCurrent,
    kick: worker.kick,
    hold: worker.hold,
    verify: verification.verify,
    verifyProgress: verification.progress,
    isWorking: scheduler.isWaiting,
    withSnapshot: snapshotReads.withSnapshot,
    ready: snapshotReads.waitForApps,
    current: snapshotReads.waitForLineages,
    failed: marks.failed,
    behind: snapshotReads.behind,
    refused: (organization_id: string): unknown => refused.get(organization_id) ?? null,
    settingsOf: deps.settings.settingsOf,
    generations,
  }
}

const closing = (): Refusal =>
  new Refusal(503, 'store_closing', 'the server is stopping; the rebuild resumes at the next start')
