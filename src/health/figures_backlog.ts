/** Reports metrics that lag behind the ledger, and purchases that cannot be computed. */
import type { Clock } from '../clock.ts'
import { utcMinuteText } from '../days.ts'
import type { Reader } from '../store/reader.ts'
import { type Finding, fault, ok, warning } from './findings.ts'

/** Metrics that lag behind for longer are a finding. */
const MAX_BEHIND_MS = 600_000

type Backlog = { lineages: number; since: number | null; failed: number }
type FailedLineage = { bundle_id: string; original_transaction_id: string; reason: string; failed_at: number }
type StalledGeneration = { slug: string; stood_still_at: number }

/**
 * Yields one finding for metrics that lag behind, one for purchases that cannot be computed, and one for each
 * organization whose metrics were computed by another version of Windfall and are not updated.
 */
export function* examineBacklog(reader: Reader, clock: Clock): Generator<Finding> {
  const backlog = reader
    .prepare<[], Backlog>(`
      select count(*) filter (where failed_at is null) as lineages, min(since) filter (where failed_at is null) as since,
        count(distinct lineage_id) filter (where failed_at is not null) as failed
      from metric_due join metric_generations g on g.id = generation and g.state = 'shown'`)
    .get()
  const findings = [
    ...lateFinding(backlog ?? NO_BACKLOG, clock()),
    ...failedFinding(reader, backlog?.failed ?? 0),
    ...reader.prepare<[], StalledGeneration>(STALLED_GENERATIONS).all().map(stalledFinding),
  ]
  if (findings.length === 0) yield ok('metrics', progressIn(backlog?.lineages ?? 0))
  else yield* findings
}

const NO_BACKLOG: Backlog = { lineages: 0, since: null, failed: 0 }
const STALLED_GENERATIONS = `
  select slug, stood_still_at from metric_generations g join organizations o on o.id = organization_id
  where state = 'shown' and stood_still_at is not null
    and not exists (select 1 from metric_generations n where n.organization_id = g.organization_id and n.state = 'making')`

const progressIn = (lineages: number): string =>
  lineages === 0 ? 'up to date.' : `${purchases(lineages)} being processed.`

const purchases = (count: number): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? 'purchase is' : 'purchases are'}`

function lateFinding({ lineages, since }: Backlog, now: number): Finding[] {
  if (since === null || now - since < MAX_BEHIND_MS) return []
  const title = `${purchases(lineages)} not in the metrics yet`
  const words = `${title}; the first has waited since ${utcMinuteText(since)}.`
  const remedy = 'If writes fail, the log says why. Otherwise the server needs more CPU time.'
  return [warning('metrics', words, { id: 'metrics:behind', title, since, remedy })]
}

function failedFinding(reader: Reader, count: number): Finding[] {
  const [latest] = reader
    .prepare<[], FailedLineage>(`
      select bundle_id, original_transaction_id, reason, failed_at
      from metric_due d join metric_generations g on g.id = d.generation and g.state = 'shown'
        join metric_lineages l on l.id = d.lineage_id join apps a on a.id = l.app_id
      where failed_at is not null order by failed_at desc limit 1`)
    .all()
  if (latest === undefined) return []
  const { bundle_id, original_transaction_id, reason, failed_at } = latest
  const title = `Windfall cannot compute ${count} ${count === 1 ? 'purchase' : 'purchases'}`
  const words = `${title}, so the metrics of these apps are incomplete.`
  const quote = `The latest is ${original_transaction_id} of ${bundle_id}: ${reason}.`
  const remedy = 'Windfall tries again when Apple reports more about it. Please report this as a bug.'
  return [fault('metrics', words, { id: 'metrics:failed', title, since: failed_at, quote, remedy })]
}

function stalledFinding({ slug, stood_still_at }: StalledGeneration): Finding {
  const title = `The metrics of ${slug} are not updated`
  const words = `${title} since ${utcMinuteText(stood_still_at)}: another version of Windfall computed them, and this version could not start to recompute them.`
  const details = { id: `metrics:still:${slug}`, title, since: stood_still_at }
  return fault('metrics', words, { ...details, remedy: 'Free up disk space, then restart Windfall.' })
}
