/** Attempts to prove who someone is: throttled, logged and audited. */
import type { H3Event } from 'h3'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { clientAddress } from '../../http/addresses.ts'
import { clientOf } from '../../http/clients/client.ts'
import type { Log } from '../../log.ts'
import type { Audit, AuditAction } from '../audit.ts'
import type { KnownBrowsers } from './known_browsers.ts'
import type { Lane, Throttle } from './throttle.ts'

/** The most failures that the audit log gets in one hour. The server log has all of them. */
const MAX_NOTED_FAILURES = 100
const HOUR_MS = 3_600_000

/** What is tried: the account that is throttled, and the audit action and the reason of a failure. */
type Attempted = { account: string; action: AuditAction; why: string }

export type Attempts = ReturnType<typeof openAttempts>

type Deps = {
  clock: Clock
  log: Log
  audit: Audit
  throttle: Throttle
  knownBrowsers: Pick<KnownBrowsers, 'find'>
}

/** Opens the attempts of passwords, codes, passkeys, links and passcodes, which share their limits. */
export function openAttempts({ clock, log, audit, throttle, knownBrowsers }: Deps) {
  let audited = { hour: 0, failures: 0 }

  /** Logs a failed attempt. The log line has a stable format, so tools such as fail2ban can match it. */
  function noteFailure(event: H3Event, { account, action, why }: Attempted): void {
    const address = clientAddress(event)
    log.warn('auth.failure', { ip: address, account, why })
    const hour = Math.floor(clock() / HOUR_MS)
    audited = { hour, failures: audited.hour === hour ? audited.failures + 1 : 1 }
    if (audited.failures > MAX_NOTED_FAILURES) return
    audit.noteInBackground({ actor: 'anonymous', address, action, subject: account, detail: why })
  }

  /**
   * Whether `check` accepts the caller. Throttles attempts and logs each failure.
   *
   * @throws Refusal 429 `rate_limited`; and as `check`.
   */
  async function attempt(
    event: H3Event,
    attempted: Attempted,
    check: (lane: Lane) => Promise<boolean>,
  ): Promise<boolean> {
    const trier = { client: clientOf(event), browser: knownBrowsers.find(event) }
    try {
      const isAccepted = await throttle.attempt(attempted.account, trier, check)
      if (!isAccepted) noteFailure(event, attempted)
      return isAccepted
    } catch (error) {
      if (error instanceof Refusal && error.code === 'rate_limited')
        log.warn('auth.failure', {
          ip: clientAddress(event),
          account: attempted.account,
          why: 'too many attempts',
        })
      throw error
    }
  }

  return { attempt }
}
