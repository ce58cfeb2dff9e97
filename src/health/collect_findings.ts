/** Collects the findings of every source for the dashboard and `GET /api/v1/status`. */
import type { Accounts } from '../apps/accounts.ts'
import type { AppleClients } from '../apps/apple_clients.ts'
import type { Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Attest } from '../attribution/devices/attest.ts'
import type { Pruning } from '../attribution/prune.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import { dayOfUtc, utcMinuteText } from '../days.ts'
import type { History } from '../ledger/history/history.ts'
import type { NotificationReceiver } from '../ledger/notification_receiver.ts'
import type { Imports } from '../ledger/reports/imports.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Stoppages } from '../stoppages.ts'
import { damageIn } from '../store/disk/disk_faults.ts'
import { openReader, type Reader } from '../store/reader.ts'
import type { Store } from '../store/store.ts'
import { reasonOf } from '../store/warnings.ts'
import { backupFinding, copyFinding } from './backup_findings.ts'
import { conditionFinding } from './condition.ts'
import { deviceFindings } from './device_findings.ts'
import { damagedFinding, diskSpaceFinding, examineDisk } from './disk_findings.ts'
import { examineErasures } from './erasure_findings.ts'
import { examineBacklog } from './figures_backlog.ts'
import { type Finding, fault, notice, warning } from './findings.ts'
import { historyFindings } from './history_findings.ts'
import { examineJobs } from './job_findings.ts'
import { keyFindings } from './key_findings.ts'
import { connectedApps, examineNotifications, pendingFinding } from './notification_findings.ts'
import { examineRates } from './rate_findings.ts'
import { examineRefusedCalls, isRefusedCall } from './refused_calls.ts'
import type { SilenceDetector } from './silence.ts'
import { silenceFindings } from './silence_findings.ts'
import { stoppageFindings } from './stoppage_findings.ts'

const ROOT_WARNING_MS = 90 * 86_400_000

type HealthDeps = {
  store: Store
  clock: Clock
  accounts: Accounts
  appleClients: Pick<AppleClients, 'keyStatus'>
  apps: Apps
  organizations: Organizations
  arrivals: Pick<NotificationReceiver, 'pending' | 'refused'>
  attest: Pick<Attest, 'suggestions' | 'deviceUsers' | 'attestedOnly'>
  history: Pick<History, 'progress'>
  imports: Pick<Imports, 'progress'>
  metrics: Pick<Metrics, 'progress'>
  pruning: Pick<Pruning, 'isThresholdReached' | 'threshold'>
  silenceDetector: SilenceDetector
  stoppages: Pick<Stoppages, 'list'>
  /** Whether rates are fetched. It is read on each call, because a reload can change it. */
  rates: { readonly fetch: boolean }
  /** The configuration. It is read on each call, because a reload can change it. */
  current: { readonly config: Pick<Config, 'backup'> }
  root_expires_at: number
}

const WORST_FIRST = ['fault', 'warning', 'notice', 'ok'] as const

/** A function that returns findings. It is called for each request. */
type FindingSource = () => Finding[] | Promise<Finding[]>

export type Health = ReturnType<typeof openHealth>

/** Opens the collection of findings. `app.ts` adds the sources of modules that this folder must not import. */
export function openHealth(deps: HealthDeps) {
  const sources: FindingSource[] = [
    () => diskFindings(deps),
    () => keyFindings(deps),
    () => databaseFindings(deps),
    () => stoppageFindings(deps.stoppages.list(), deps.clock),
    () => deps.arrivals.pending.list().map((pending) => pendingFinding(pending)),
    () => deps.apps.list().flatMap(({ id, bundle_id }) => silenceFindings(deps, id, bundle_id)),
    () => deps.history.progress().flatMap(historyFindings),
    () => progressFindings(deps),
    () => pruningFindings(deps),
    () => [...deviceFindings(deps)],
    () => rootFindings(deps),
  ]

  /** Adds a source. Among findings of the same state, those of earlier sources come first. */
  function add(source: FindingSource): void {
    sources.push(source)
  }

  /** All faults, warnings and notices, the most severe first. Of one severity, what clients do wrong comes last. */
  async function findings(): Promise<Finding[]> {
    const found: Finding[] = []
    for (const source of sources)
      try {
        found.push(...(await source()))
      } catch (error) {
        found.push(uncheckedFinding(error))
      }
    return found
      .filter(({ state, details }) => state !== 'ok' && details?.id !== 'pending')
      .sort(
        (a, b) =>
          WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state) ||
          Number(isRefusedCall(a)) - Number(isRefusedCall(b)),
      )
  }

  return { add, findings }
}

/** The finding for a source that failed, which hides what the others found otherwise. */
const uncheckedFinding = (error: unknown): Finding =>
  fault('checks', `a check failed: ${reasonOf(error)}.`, {
    id: 'unchecked',
    title: 'Some things are not checked',
    remedy: 'Please report this as a bug.',
  })

/** The findings from the database file. `windfall doctor` computes them with the same functions. */
function databaseFindings({ store, clock, rates, current, arrivals }: HealthDeps): Finding[] {
  const reader = openReader(store.file)
  if (reader === null) return []
  try {
    return [
      ...scheduledBackups(reader, clock, current.config.backup),
      ...examineDisk(reader, clock),
      ...examineErasures(reader, clock),
      ...examineNotifications(reader, clock, arrivals.refused.recentRefusals()),
      ...examineRefusedCalls(reader, clock),
      ...examineBacklog(reader, clock),
      ...jobAndRateFindings(reader, clock, rates.fetch),
    ]
  } catch (error) {
    const code = damageIn(error)
    if (code === null) throw error
    return [damagedFinding(code)]
  } finally {
    reader.close()
  }
}

/** The findings about backups, if they are scheduled. Otherwise only `windfall doctor` reports backups. */
function scheduledBackups(reader: Reader, clock: Clock, backup: Config['backup']): Finding[] {
  if (backup.schedule === 'off') return []
  const copy = copyFinding(reader, clock, backup)
  return [backupFinding(reader, clock, backup.schedule), ...(copy === null ? [] : [copy])]
}

/** The findings about jobs and exchange rates. Rates that are missing or old are reported once, without the job that failed. */
function jobAndRateFindings(reader: Reader, clock: Clock, fetchesRates: boolean): Finding[] {
  const rates = [...examineRates(reader, clock, { fetchesRates })]
  const jobs = [...examineJobs(reader, clock, { isServed: true, isEachWaiting: false })]
  const isJobRepeated = rates.some(({ state }) => state !== 'ok') || connectedApps(reader).length === 0
  return [...jobs.filter(({ details }) => !isJobRepeated || details?.id !== 'job:rates'), ...rates]
}

async function diskFindings({ store }: HealthDeps): Promise<Finding[]> {
  // After a failed write, `isWritable` writes a probe, so that a fault that has ended is not reported.
  await store.isWritable()
  return [conditionFinding(store.condition(), store.file) ?? diskSpaceFinding(store.file)]
}

function progressFindings({ imports, metrics }: HealthDeps): Finding[] {
  const [reports, counting] = [imports.progress(), metrics.progress()]
  const found: Finding[] = []
  if (reports !== null && reports.of > 0) {
    const { done, of, is_first, started_at, waiting_until } = reports
    // The text contains no numbers: `progress` has them.
    const about = is_first
      ? { id: 'import:first', title: 'Windfall is importing a year of history' }
      : { id: 'import', title: 'Report import in progress' }
    const details = { ...about, since: started_at }
    const words =
      waiting_until !== null
        ? `Apple’s hourly rate limit is reached. The import resumes at ${utcMinuteText(waiting_until)}.`
        : is_first
          ? 'Figures change until it is done.'
          : 'Windfall imports Apple’s daily reports, oldest first.'
    found.push(notice('import', words, { ...details, progress: { done, of } }))
  }
  if (counting !== null) {
    const words =
      'Until this is done, the dashboard shows the previous figures, which still include new transactions.'
    found.push(
      notice('metrics', words, { id: 'metrics', title: 'Recomputing all metrics', progress: counting }),
    )
  }
  return found
}

/** A notice if many users can be pruned. Housekeeping counts them once a day, so this runs no query. */
function pruningFindings({ pruning }: HealthDeps): Finding[] {
  if (!pruning.isThresholdReached()) return []
  const { users, unseen_days } = pruning.threshold
  const title = `At least ${users.toLocaleString('en-US')} users can be pruned`
  const words = `no call with a secret key named them, they have no purchase, and no call named them for ${unseen_days} days. To prune such users automatically, set prune_after_days in [users].`
  const command = `windfall users prune --unseen-for ${unseen_days}`
  return [notice('users', words, { id: 'users', title, action: { label: 'Prune them', command } })]
}

function rootFindings({ root_expires_at, clock }: HealthDeps): Finding[] {
  const left = root_expires_at - clock()
  if (left > ROOT_WARNING_MS) return []
  const title = left > 0 ? 'Apple’s root certificate expires soon' : 'Apple’s root certificate has expired'
  const words = `it ${left > 0 ? 'expires' : 'expired'} on ${dayOfUtc(root_expires_at)}.`
  const details = { id: 'root', title, remedy: 'Install a newer version of Windfall.' }
  return [(left > 0 ? warning : fault)('root certificate', words, details)]
}
