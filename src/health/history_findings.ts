/** Findings about Apple’s notification history: gaps, problems, and a backfill in progress. */
import type { HistoryProgress } from '../ledger/history/history.ts'
import { type Finding, notice, warning } from './findings.ts'

/** The findings about the history of one app in one environment. */
export function historyFindings({
  app_id,
  bundle_id,
  environment,
  has_key,
  ...progress
}: HistoryProgress): Finding[] {
  const { backfill, watermark, gaps } = progress
  const name = `${bundle_id}, ${environment}`
  const gapFindings = gaps
    .filter(({ filled_at }) => filled_at === null)
    .map(({ id, notifications, recovered, found_at }) => {
      const details = {
        id: `gap:${id}`,
        app_id,
        since: found_at,
        title: `${notifications} missing ${notifications === 1 ? 'notification' : 'notifications'}`,
      }
      const filled = { ...details, progress: { done: recovered, of: notifications } }
      return warning('gap', `${name}: Windfall is fetching them from Apple.`, filled)
    })
  if (!has_key) return gapFindings
  const details = { id: `history:${app_id}:${environment}`, app_id }
  const problem = backfill?.problem ?? watermark?.problem ?? null
  if (problem !== null && environment === 'production') {
    const since = backfill?.problem_at ?? watermark?.problem_at ?? null
    const title = `Windfall cannot read the history of ${bundle_id}`
    return [...gapFindings, warning('history', `${name}: ${problem}`, { ...details, since, title })]
  }
  if (backfill === null || backfill.stage === 'done') return gapFindings
  const title = `Backfill of ${bundle_id} in progress`
  const words = `${name}: ${backfill.notifications} notifications and ${backfill.transactions} transactions so far.`
  return [...gapFindings, notice('history', words, { ...details, title, since: backfill.started_at })]
}
