/** Computes the verdict on this instance, which is the one answer to the question whether anything is broken. */
import type { Organizations } from '../apps/organizations.ts'
import type { Clock } from '../clock.ts'
import type { Forwarding } from '../forwarding/forwarding.ts'
import type { Finding } from '../health/findings.ts'
import type { Store } from '../store/store.ts'
import type { Doctor } from './doctor.ts'
import { type CheckResult, detailOf, outcomeOf } from './result.ts'

/** An error or a warning. `check` is the id of the result of a check; null for a finding. */
type Reason = {
  level: 'warning' | 'error'
  title: string
  detail: string
  /** What to do; null if there is no more to say. */
  remedy: string | null
  check: string | null
}

/** The verdict. `checked_at` is when the checks ran last, in milliseconds since the epoch; null if they never ran. */
type Verdict = {
  level: 'ok' | 'warning' | 'error'
  errors: number
  warnings: number
  /** The errors, then the warnings. */
  reasons: Reason[]
  checked_at: number | null
}

type Deps = {
  store: Pick<Store, 'prepare'>
  clock: Clock
  organizations: Pick<Organizations, 'get'>
  doctor: Pick<Doctor, 'last'>
  forwarding: Pick<Forwarding, 'unsteady'>
}

/**
 * Checks that report what the findings of each verdict also have. Their stored results do not count, because what they
 * report may be over.
 */
const LIVE_CHECKS: ReadonlySet<string> = new Set([
  'database',
  'erasures',
  'metrics',
  'last_notification',
  'notifications',
  'sdk_calls',
  'webhooks',
  'alerts',
  'outgoing',
  'stopped',
  'jobs',
  'rates',
])

/**
 * Results whose warnings do not count: a drill on another machine is not known here, and an address in a local network
 * may be intended.
 */
const UNCOUNTED_WARNINGS: ReadonlySet<string> = new Set(['drill', 'address:notifications'])

/** The checks run daily. Older results say nothing about today. */
const MAX_AGE_MS = 2 * 86_400_000

/** Opens the verdict, which joins findings with the results of the last run of the checks. */
export function openVerdict({ store, clock, organizations, doctor, forwarding }: Deps) {
  const selectArrived = store.prepare<[], object>(`
    select 1 where exists (select 1 from notifications)
      or exists (select 1 from import_days where state in ('done', 'empty'))`)

  /** The results that count: recent ones, except what a finding reports. */
  function countedResults(findings: readonly Finding[]): readonly CheckResult[] | null {
    const last = doctor.last()
    if (last === null || clock() - last.finished_at > MAX_AGE_MS) return null
    const covered = new Set(findings.map((finding) => resultIdOf(finding, organizations)))
    return last.results.filter((result) => isCounted(result) && !covered.has(result.id))
  }

  /**
   * The verdict on these findings and the last results. Null before the first notification or report. Also null without
   * results of the last two days, if there is neither an error nor a warning, because nothing is known to be well.
   */
  function of(findings: readonly Finding[]): Verdict | null {
    if (selectArrived.get() === undefined) return null
    const results = countedResults(findings)
    const found = [...findings, ...forwarding.unsteady()].flatMap(reasonOfFinding)
    found.push(...(results ?? []).flatMap(reasonOfResult))
    const errors = found.filter(({ level }) => level === 'error')
    const warnings = found.filter(({ level }) => level === 'warning')
    if (results === null && found.length === 0) return null
    return {
      level: errors.length > 0 ? 'error' : warnings.length > 0 ? 'warning' : 'ok',
      errors: errors.length,
      warnings: warnings.length,
      reasons: [...errors, ...warnings],
      checked_at: doctor.last()?.finished_at ?? null,
    }
  }

  return { of }
}

const isCounted = ({ id, status }: CheckResult): boolean =>
  !LIVE_CHECKS.has(id.split(':')[0] ?? '') && !(status === 'warning' && UNCOUNTED_WARNINGS.has(id))

/** The results that report the same as a finding, by the id of the finding. */
const RESULTS = new Map([
  ['disk', 'disk'],
  ['database', 'disk'],
  ['backup', 'backup'],
  ['backup:copy', 'backup:copied'],
  ['root', 'certificates:apple_root'],
])

/** The id of the result that reports the same as a finding; null if there is none. */
function resultIdOf({ details }: Finding, organizations: Pick<Organizations, 'get'>): string | null {
  const { id = '', organization_id = '' } = details ?? {}
  const kind = /^(?:key|sealed):(connect|purchase)/.exec(id)?.[1]
  if (kind === undefined) return RESULTS.get(id) ?? null
  return `keys:${kind}:${organizations.get(organization_id)?.slug}`
}

function reasonOfFinding(finding: Finding): Reason[] {
  const { text, subject, details } = finding
  const { status: level, quote, remedy, ...outcome } = outcomeOf(finding)
  if (level !== 'error' && level !== 'warning') return []
  // A name at the beginning of a sentence stays as it was declared.
  const isNameFirst = details?.about !== undefined && text.startsWith(details.about)
  const words = isNameFirst ? text : outcome.detail
  const detail = quote === undefined ? words : `${words} ${quote}`
  return [{ level, title: details?.title ?? subject, detail, remedy, check: null }]
}

function reasonOfResult(result: CheckResult): Reason[] {
  const { id, title, status, remedy } = result
  if (status !== 'error' && status !== 'warning') return []
  return [{ level: status, title, detail: detailOf(result), remedy, check: id }]
}
