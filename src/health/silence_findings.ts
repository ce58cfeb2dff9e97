/** Findings about apps that send fewer notifications than before. */
import type { Clock } from '../clock.ts'
import { utcMinuteText } from '../days.ts'
import type { History } from '../ledger/history/history.ts'
import { type Finding, notice, warning } from './findings.ts'
import type { SilenceDetector } from './silence.ts'

const HOUR_MS = 3_600_000

type SilenceDeps = { silenceDetector: SilenceDetector; clock: Clock; history: Pick<History, 'progress'> }

/** A warning for a silent app, or a notice if Apple’s history confirms that Apple sent nothing. */
export function silenceFindings(
  { silenceDetector, clock, history }: SilenceDeps,
  app_id: string,
  bundle_id: string,
): Finding[] {
  const silence = silenceDetector.silence(app_id)
  if (silence === null) return []
  const hours = Math.floor((clock() - silence.since) / HOUR_MS)
  const longest = `. The longest silence before was ${Math.ceil(silence.longest_ms / HOUR_MS)} hours.`
  const compared = history.progress().find((one) => one.app_id === app_id && one.environment === 'production')
    ?.watermark?.compared_until_at
  const details = {
    id: `silent:${app_id}`,
    app_id,
    since: silence.since,
    title: `No notifications from ${bundle_id} for ${hours} hours`,
    action: { label: 'Send a test notification', href: '/settings#apple' },
  }
  if (compared !== undefined && compared > clock() - HOUR_MS)
    return [notice('notifications', `Apple confirms that it sent none${longest}`, details)]
  return [warning('notifications', `none received since ${utcMinuteText(silence.since)}${longest}`, details)]
}
