/** The heartbeat: a GET every five minutes to a monitoring service, which notices when Windfall itself is down. */
import type { Clock } from '../clock.ts'
import { type Finding, warning } from '../health/findings.ts'
import type { Log } from '../log.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { Store } from '../store/store.ts'

/** The failures in a row from which there is a finding. */
const FAILURES = 3

type Deps = {
  clock: Clock
  log: Log
  store: Pick<Store, 'condition'>
  dispatcher: Pick<Outgoing['dispatcher'], 'request'>
  isHeld: () => boolean
}

/** Opens the heartbeat. There is none before `declare` names a URL. */
export function openHeartbeat({ clock, log, store, dispatcher, isHeld }: Deps) {
  let target: string | null = null
  let failures = 0
  let failing_since = 0
  let words = ''

  /**
   * Sends one request. While the database cannot be written there is none, because no alert can be sent either; nor while
   * outgoing requests are held, because this may be a copy.
   */
  async function beat(): Promise<void> {
    const url = target
    if (url === null || store.condition() !== 'ok' || isHeld()) return
    // The dispatcher throws only when Windfall stops.
    const answer = await dispatcher.request({ url, method: 'GET', headers: {}, body: null }).catch(() => null)
    if (answer === null || url !== target) return
    const isReceived = 'status' in answer && answer.status >= 200 && answer.status < 300
    if (isReceived) {
      failures = 0
      return
    }
    // The host is named, never the whole URL, which is a secret of the service.
    words = 'status' in answer ? `${new URL(url).host} answered ${answer.status}.` : answer.words
    if (failures === 0) failing_since = clock()
    failures++
    log.warn('the heartbeat was not received', { reason: words })
  }

  /** Replaces the URL; null for no heartbeat. */
  function declare(url: string | null): void {
    if (url === target) return
    target = url
    failures = 0
  }

  /** A warning when the last requests failed. */
  const findings = (): Finding[] =>
    failures < FAILURES
      ? []
      : [
          warning('alerts', `${words} Check heartbeat_url in config.toml.`, {
            id: 'heartbeat',
            title: 'The heartbeat is not received',
            since: failing_since,
          }),
        ]

  return { beat, declare, findings }
}
