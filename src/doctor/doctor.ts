/** Runs the checks inside the server, daily and on request, one examination at a time, and stores the last result. */
import { statSync } from 'node:fs'
import type { Alerts } from '../alerts/alerts.ts'
import type { AppleHosts } from '../apple/api/hosts.ts'
import type { Accounts } from '../apps/accounts.ts'
import type { Clock } from '../clock.ts'
import { type ConfigSources, defaultFileIn } from '../config/load.ts'
import type { Config } from '../config/settings.ts'
import { Refusal } from '../errors.ts'
import type { Forwarding } from '../forwarding/forwarding.ts'
import { stoppageFindings } from '../health/stoppage_findings.ts'
import type { Http } from '../http/http.ts'
import type { Log } from '../log.ts'
import type { Stoppages } from '../stoppages.ts'
import { openReader } from '../store/reader.ts'
import { openSetting } from '../store/setting.ts'
import type { Store } from '../store/store.ts'
import type { DoctorContext, ServingProcess } from './context.ts'
import type { CheckProgress } from './examine.ts'
import { type CheckResult, type CheckStatus, outcomeOf } from './result.ts'

/** Who waits for a request of the dashboard to Apple's and its own hosts: at most one examination a minute. */
const MIN_INTERVAL_MS = 60_000

/** How long after an examination with errors the next one is due. An error may be transient. */
const AGAIN_MS = 30 * 60_000

/** An examination that has ended. Both instants are in milliseconds since the epoch. */
export type Examination = {
  version: string
  started_at: number
  finished_at: number
  /** Whether test notifications were requested. */
  with_test: boolean
  results: CheckResult[]
}

/** An examination in progress. */
export type RunningExamination = CheckProgress & { started_at: number; with_test: boolean }

/** What an examination includes. */
type Extent = { with_test: boolean; asksApple: boolean }

type Deps = {
  store: Store
  clock: Clock
  monotonic: Clock
  log: Pick<Log, 'warn'>
  wait: (ms: number) => Promise<void>
  hosts: AppleHosts
  accounts: Pick<Accounts, 'list'>
  http: Pick<Http, 'baseUrl' | 'seen'>
  /** The configuration. It is read for each examination, because a reload can change it. */
  current: { readonly config: Config; readonly configSources: ConfigSources }
  forwarding: Pick<Forwarding, 'findings'>
  alerts: Pick<Alerts, 'findings'>
  stoppages: Pick<Stoppages, 'list'>
  root_expires_at: number
  version: string
}

export type Doctor = ReturnType<typeof openDoctor>

/** Opens the doctor. */
export function openDoctor(deps: Deps) {
  const { monotonic, log } = deps
  const configFile = openFileWatch()
  const runs = openRuns(deps, configFile)
  let began_at = Number.NEGATIVE_INFINITY

  /** Runs the checks, after an examination that is in progress. Rejects if the server stops. */
  function run(with_test: boolean): Promise<Examination> {
    began_at = monotonic()
    return runs.beginNext({ with_test, asksApple: true })
  }

  /**
   * Runs the checks for the job, which does not delay a run on request. Without Apple keys it sends no request to Apple,
   * like every other job. Returns the number of results of each status as text. Rejects if the server stops.
   */
  async function runScheduled(): Promise<string> {
    const asksApple = deps.accounts.list().length > 0
    return countsText((await runs.beginNext({ with_test: false, asksApple })).results)
  }

  /** When the checks are due again, in milliseconds since the epoch, if the last ones found errors; otherwise null. */
  function againAt(): number | null {
    const last = runs.last()
    return last?.results.some(({ status }) => status === 'error') ? last.finished_at + AGAIN_MS : null
  }

  /**
   * Starts the checks, and returns at once.
   *
   * @throws Refusal 429 `rate_limited` within a minute of the last start; 409 `checks_running` while they run.
   */
  function request(with_test: boolean): void {
    const left_ms = began_at + MIN_INTERVAL_MS - monotonic()
    if (left_ms > 0) throw tooSoon(Math.ceil(left_ms / 1000))
    if (runs.state() !== null) throw new Refusal(409, 'checks_running', 'the checks are still running')
    began_at = monotonic()
    const ended = runs.begin({ with_test, asksApple: true })
    ended.catch((error: unknown) => log.warn('the checks did not end', { error }))
  }

  return {
    run,
    runScheduled,
    againAt,
    request,
    close: runs.close,
    /** Notes that the configuration was loaded now. */
    noteConfig: configFile.note,
    /** The last examination; null if there is none. */
    last: runs.last,
    /** The examination in progress; null if none is. */
    running: runs.state,
  }
}

/** The number of results of each status as text. */
function countsText(results: readonly CheckResult[]): string {
  const countOf = (wanted: CheckStatus) => results.filter(({ status }) => status === wanted).length
  return `errors: ${countOf('error')}, warnings: ${countOf('warning')}, passed: ${countOf('ok')}, skipped: ${countOf('skipped')}`
}

/** Opens the runs of the checks, of which at most one is in progress. */
function openRuns(deps: Deps, configFile: FileWatch) {
  const { store, clock, version } = deps
  const last = openLastExamination(store)
  const closing = new AbortController()
  let running: { state: RunningExamination; done: Promise<Examination> } | null = null

  function begin({ with_test, asksApple }: Extent): Promise<Examination> {
    const state = { started_at: clock(), with_test, done: 0, of: 0, title: '' }
    const done = examineAndStore(state, asksApple).finally(() => {
      running = null
    })
    running = { state, done }
    return done
  }

  async function examineAndStore(state: RunningExamination, asksApple: boolean): Promise<Examination> {
    const { started_at, with_test } = state
    const results = await runChecks(deps, state, { signal: closing.signal, configFile, asksApple })
    return last.set({ version, started_at, finished_at: clock(), with_test, results })
  }

  /** Begins a run once none is in progress. */
  async function beginNext(extent: Extent): Promise<Examination> {
    while (running !== null) await running.done.catch(() => undefined)
    return begin(extent)
  }

  /** Abandons an examination in progress. */
  async function close(): Promise<void> {
    closing.abort(new Refusal(503, 'store_closing', 'the server stopped before the checks ended'))
    await running?.done.catch(() => undefined)
  }

  return {
    begin,
    beginNext,
    close,
    last: last.get,
    state: (): RunningExamination | null => running?.state ?? null,
  }
}

/** Opens the last examination, which a restart keeps. */
function openLastExamination(store: Pick<Store, 'prepare' | 'commit'>) {
  const stored = openSetting(store, 'examination')
  let last: Examination | null = JSON.parse(stored.get() ?? 'null')

  async function set(examination: Examination): Promise<Examination> {
    last = examination
    const text = JSON.stringify(examination)
    // On a full disk the result cannot be stored, but it can be shown.
    await store.commit(() => stored.set(text)).catch(() => undefined)
    return examination
  }

  return { get: () => last, set }
}

type RunOptions = { signal: AbortSignal; configFile: Pick<FileWatch, 'hasChanged'>; asksApple: boolean }

/** Runs all checks and writes their progress into `state`. @throws the reason of `signal` when it aborts */
async function runChecks(
  deps: Deps,
  state: RunningExamination,
  { signal, asksApple, configFile: { hasChanged: hasConfigChanged } }: RunOptions,
): Promise<CheckResult[]> {
  const { examine } = await import('./examine.ts')
  const { clock, wait, hosts, http, store, stoppages, current, forwarding, alerts, root_expires_at } = deps
  const { config, configSources: sources } = current
  const { condition, pragma } = store
  const base_url = http.baseUrl() ?? config.base_url
  const seen = http.seen
  const stopped = () => stoppageFindings(stoppages.list(), clock)
  const sent = { webhooks: () => [...forwarding.findings()], alerts: alerts.findings }
  const serving: ServingProcess = { base_url, condition, pragma, seen, ...sent, stopped, hasConfigChanged }
  const database = openDatabase(store)
  const context = { config, sources, clock, wait, hosts, asksApple, serving, root_expires_at, ...database }
  const results: CheckResult[] = []
  try {
    const onProgress = (progress: CheckProgress): void => void Object.assign(state, progress)
    const checks = examine({ ...context, isTestRequested: state.with_test }, { onProgress, signal })
    await untilAborted(signal, async () => {
      for await (const result of checks) results.push(result)
    })
    return results
  } finally {
    database.reader?.close()
  }
}

/** Opens a connection of its own, so that the checks do not use the connection that writes. */
function openDatabase({ file }: Store): Pick<DoctorContext, 'reader' | 'databaseProblem'> {
  try {
    return { reader: openReader(file), databaseProblem: null }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    const remedy = 'See the log. If the file is damaged, restore a backup: `windfall restore FILE`.'
    const finding = {
      state: 'fault',
      subject: 'database',
      text,
      details: { id: 'unreadable', remedy },
    } as const
    return { reader: null, databaseProblem: outcomeOf(finding) }
  }
}

type FileWatch = ReturnType<typeof openFileWatch>

/** Remembers when the config file was changed last, at the time it was loaded. Without one, the default file may follow. */
function openFileWatch() {
  let loaded: { file: string; changed_at: number | null } | null = null
  const changedAt = (file: string): number | null =>
    statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null
  return {
    note({ file: named, base }: Pick<ConfigSources, 'file' | 'base'>): void {
      const file = named ?? defaultFileIn(base)
      loaded = { file, changed_at: changedAt(file) }
    },
    hasChanged: (): boolean => loaded !== null && changedAt(loaded.file) !== loaded.changed_at,
  }
}

/** Runs `work` until it ends or `signal` is aborted. @throws the reason of the abort; what `work` throws */
async function untilAborted(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  aborted.catch(() => undefined)
  const working = work()
  working.catch(() => undefined)
  await Promise.race([working, aborted])
}

const tooSoon = (seconds: number): Refusal =>
  new Refusal(429, 'rate_limited', `the checks run at most once a minute; try again in ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  })
