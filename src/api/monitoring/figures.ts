/** The metrics of `/internal/metrics`. Names and units follow Prometheus’ conventions: base units, counters end in _total. */
import { readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Alerts } from '../../alerts/alerts.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Feed } from '../../events/feed.ts'
import type { Forwarding } from '../../forwarding/forwarding.ts'
import type { Health } from '../../health/collect_findings.ts'
import type { Http } from '../../http/http.ts'
import { BUCKETS } from '../../http/request_counts.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import { openBackupLog } from '../../store/backup/log.ts'
import { freeBytesOf } from '../../store/disk/disk_space.ts'
import type { Store } from '../../store/store.ts'
import { versions } from '../../version.ts'
import type { Metric, Sample } from './exposition.ts'

export type MonitoringDeps = {
  store: Store
  apps: Apps
  feed: Feed
  http: Http
  jobs: Jobs
  health: Health
  forwarding: Forwarding
  alerts: Pick<Alerts, 'channels'>
}

/** Returns a function that reads all metrics. It only reads. */
export function openMonitoring(deps: MonitoringDeps) {
  const { store } = deps
  const countDue = store.prepare<[], { lineages: number; since: number | null }>(
    'select count(*) as lineages, min(since) as since from metric_due where failed_at is null',
  )
  // One step in the index for each app.
  const lastOf = store.prepare<[string, string], { received_at: number }>(`
    select received_at from notifications where app_id = ? and environment = ? and origin = 'live'
    order by signed_at desc limit 1`)
  const lastNotifications = (): Sample[] =>
    deps.apps
      .list()
      .flatMap(({ id, bundle_id }) =>
        ENVIRONMENTS.map((environment) => ({
          labels: { bundle_id, environment },
          value: seconds(lastOf.get(id, environment)?.received_at ?? null),
        })),
      )
  const backups = openBackupLog(store)

  return async (): Promise<Metric[]> => [
    ...processMetrics(),
    ...requestMetrics(deps.http),
    ...storeMetrics(store),
    gauge('windfall_events_last_seq', 'The number of the newest event.', deps.feed.head()),
    ...dueMetrics(countDue.get() ?? { lineages: 0, since: null }),
    gauges(
      'windfall_app_last_notification_timestamp_seconds',
      'When the last notification that Apple pushed for an app arrived.',
      lastNotifications(),
    ),
    ...jobMetrics(deps.jobs),
    gauge(
      'windfall_backup_last_success_timestamp_seconds',
      'When the last verified backup was made.',
      seconds(backups.last()?.at ?? null),
    ),
    ...endpointMetrics(deps.forwarding),
    ...channelMetrics(deps.alerts),
    await findingMetric(deps.health),
  ]
}

const ENVIRONMENTS = ['production', 'sandbox']

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000)

const gauge = (name: string, help: string, value: number | null): Metric => ({
  name,
  help,
  type: 'gauge',
  samples: [{ value }],
})
const counter = (name: string, help: string, value: number): Metric => ({
  ...gauge(name, help, value),
  type: 'counter',
})
const gauges = (name: string, help: string, samples: Sample[]): Metric => ({
  name,
  help,
  type: 'gauge',
  samples,
})

function processMetrics(): Metric[] {
  const { windfall, commit, node, sqlite } = versions
  const labels = { version: windfall, commit: commit ?? '', node, sqlite: sqlite ?? '' }
  const { user, system } = process.cpuUsage()
  const { active } = performance.eventLoopUtilization()
  return [
    gauges('windfall_build_info', 'The versions of the running program. Always 1.', [{ labels, value: 1 }]),
    gauge(
      'process_start_time_seconds',
      'When the process started, since the epoch.',
      performance.timeOrigin / 1000,
    ),
    counter('process_cpu_seconds_total', 'Processor time that the process used.', (user + system) / 1e6),
    gauge('process_resident_memory_bytes', 'Resident memory of the process.', process.memoryUsage.rss()),
    gauge('process_open_fds', 'Open file descriptors; only on Linux.', openDescriptors()),
    counter(
      'windfall_event_loop_active_seconds_total',
      'Time in which the event loop was busy. Its rate is the utilization, 0 to 1.',
      active / 1000,
    ),
  ]
}

function openDescriptors(): number | null {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return null
  }
}

function requestMetrics(http: Http): Metric[] {
  const routes = [...http.requestCounts()]
  const durations = routes.flatMap(([route, counts]) => [
    ...BUCKETS.map((le, at) => ({
      suffix: '_bucket',
      labels: { route, le: String(le) },
      value: counts.buckets[at] ?? 0,
    })),
    { suffix: '_bucket', labels: { route, le: '+Inf' }, value: counts.requests },
    { suffix: '_sum', labels: { route }, value: counts.seconds },
    { suffix: '_count', labels: { route }, value: counts.requests },
  ])
  return [
    {
      name: 'windfall_http_requests_total',
      help: 'Answered requests by route and status. Notifications: POST /apple/notifications.',
      type: 'counter',
      samples: routes.flatMap(([route, { byStatus }]) =>
        [...byStatus].map(([status, value]) => ({ labels: { route, status: String(status) }, value })),
      ),
    },
    {
      name: 'windfall_http_request_duration_seconds',
      help: 'Time from the head of a request to the begin of its answer, by route.',
      type: 'histogram',
      samples: durations,
    },
  ]
}

function storeMetrics(store: Store): Metric[] {
  return [
    gauge('windfall_database_bytes', 'Size of the database file.', sizeOf(store.file)),
    gauge('windfall_wal_bytes', 'Size of the write-ahead log.', sizeOf(`${store.file}-wal`)),
    gauge(
      'windfall_disk_free_bytes',
      'Free space on the disk of the database.',
      freeBytesOf(dirname(store.file)),
    ),
    gauge(
      'windfall_database_writable',
      '1 if the database can be written.',
      store.condition() === 'ok' ? 1 : 0,
    ),
  ]
}

const sizeOf = (file: string): number | null => statSync(file, { throwIfNoEntry: false })?.size ?? null

const dueMetrics = ({ lineages, since }: { lineages: number; since: number | null }): Metric[] => [
  gauge('windfall_metrics_due_lineages', 'Subscriptions whose figures are behind their facts.', lineages),
  gauge(
    'windfall_metrics_due_since_timestamp_seconds',
    'Since when the oldest of them is behind; absent if none is.',
    seconds(since),
  ),
]

function jobMetrics(jobs: Jobs): Metric[] {
  const states = jobs.list()
  const perJob = (
    name: string,
    help: string,
    value: (state: (typeof states)[number]) => number | null,
  ): Metric =>
    gauges(
      name,
      help,
      states.map((state) => ({ labels: { job: state.job }, value: value(state) })),
    )
  return [
    perJob(
      'windfall_job_last_finish_timestamp_seconds',
      'When the last run of a job finished, also if it failed.',
      ({ finished_at }) => seconds(finished_at),
    ),
    perJob(
      'windfall_job_failures',
      'Failed runs of a job since its last success.',
      ({ failures }) => failures,
    ),
    perJob('windfall_job_duration_seconds', 'Duration of the last run of a job.', ({ duration_ms }) =>
      seconds(duration_ms),
    ),
    perJob('windfall_job_running', '1 while a job runs.', ({ running }) => (running ? 1 : 0)),
  ]
}

function endpointMetrics({ endpoints, log }: Forwarding): Metric[] {
  const all = endpoints
    .list()
    .map((endpoint) => ({
      labels: { endpoint: endpoint.name, organization: endpoint.organization_id },
      state: endpoint.state,
      health: log.healthOf(endpoint),
    }))
  return [
    gauges(
      'windfall_endpoint_active',
      '1 if an endpoint of webhooks is active; 0 if it is failing, paused or disabled.',
      all.map(({ labels, state }) => ({ labels, value: state === 'active' ? 1 : 0 })),
    ),
    gauges(
      'windfall_endpoint_waiting',
      'Deliveries and events that wait for an endpoint; at most 10,000 are counted.',
      all.map(({ labels, health }) => ({ labels, value: health.waiting })),
    ),
    gauges(
      'windfall_endpoint_oldest_waiting_timestamp_seconds',
      'When the oldest of them was recorded; absent if none waits.',
      all.map(({ labels, health }) => ({ labels, value: seconds(health.oldest_waiting_at) })),
    ),
    gauges(
      'windfall_endpoint_last_success_timestamp_seconds',
      'When an endpoint last answered with success.',
      all.map(({ labels, health }) => ({ labels, value: seconds(health.last_success_at) })),
    ),
  ]
}

function channelMetrics({ channels }: MonitoringDeps['alerts']): Metric[] {
  const all = channels
    .list()
    .map(({ name, organization_id, ...channel }) => ({
      labels: { channel: name, organization: organization_id },
      ...channel,
    }))
  return [
    gauges(
      'windfall_alert_channel_active',
      '1 if a channel of alerts is active; 0 if its provider refuses it or it is off.',
      all.map(({ labels, state }) => ({ labels, value: state === 'active' ? 1 : 0 })),
    ),
    gauges(
      'windfall_alert_channel_last_success_timestamp_seconds',
      'When a channel last accepted an alert; absent if it never did.',
      all.map(({ labels, last_sent_at }) => ({ labels, value: seconds(last_sent_at) })),
    ),
  ]
}

async function findingMetric(health: Health): Promise<Metric> {
  const found = await health.findings()
  const severities = ['fault', 'warning', 'notice'] as const
  return gauges(
    'windfall_findings',
    'What needs attention, by severity; the status lists it.',
    severities.map((severity) => ({
      labels: { severity },
      value: found.filter(({ state }) => state === severity).length,
    })),
  )
}
