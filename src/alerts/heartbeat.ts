/** The heartbeat: a GET every five minutes to a monitoring service, which notices when Windfall itself is down. */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import { type Finding, warning } from '../health/findings.ts'
import type { Log } from '../log.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { Stoppages } from '../stoppages.ts'
import { openSetting } from '../store/setting.ts'
import type { Store } from '../store/store.ts'

/** The failures in a row from which there is a finding. */
const FAILURES = 3

/**
 * The failures in a row, the first one's time, and the words of the last one. They are stored, because a restart ends no
 * failure. `url_hash`: the SHA-256 of the URL, which is a secret of the service.
 */
const Failing = v.object({ url_hash: v.string(), failures: v.number(), since: v.number(), words: v.string() })
type Failing = v.InferOutput<typeof Failing>

type Deps = {
  clock: Clock
  log: Log
  store: Pick<Store, 'condition' | 'prepare' | 'commit'>
  dispatcher: Pick<Outgoing['dispatcher'], 'request'>
  isHeld: () => boolean
  stoppages: Pick<Stoppages, 'isStanding'>
}

/** Opens the heartbeat. There is none before `declare` names a URL. */
export function openHeartbeat({ clock, log, store, dispatcher, isHeld, stoppages }: Deps) {
  const setting = openSetting(store, 'heartbeat')
  let target: string | null | undefined
  let failing: Failing | null = null
  const isStanding = (): boolean => stoppages.isStanding('alerts') || stoppages.isStanding('forwarding')

  /**
   * Sends one request. While the database cannot be written, or an error has stopped alerts or webhooks for five minutes,
   * there is none, because nothing else reports that; nor while outgoing requests are held, because this may be a copy.
   */
  async function beat(): Promise<void> {
    const url = target ?? null
    if (url === null || store.condition() !== 'ok' || isHeld() || isStanding()) return
    // The dispatcher throws only when Windfall stops.
    const answer = await dispatcher.request({ url, method: 'GET', headers: {}, body: null }).catch(() => null)
    if (answer === null || url !== target) return
    const isReceived = 'status' in answer && answer.status >= 200 && answer.status < 300
    if (isReceived) return remember(null)
    // The host is named, never the whole URL.
    const words = 'status' in answer ? `${new URL(url).host} answered ${answer.status}.` : answer.words
    log.warn('the heartbeat was not received', { reason: words })
    const { failures = 0, since = clock() } = failing ?? {}
    await remember({ url_hash: hashOf(url), failures: failures + 1, since, words })
  }

  async function remember(next: Failing | null): Promise<void> {
    if (next === null && failing === null) return
    failing = next
    await store.commit(() => (next === null ? setting.clear() : setting.set(JSON.stringify(next))))
  }

  /** Replaces the URL; null for no heartbeat. */
  function declare(url: string | null): void {
    if (url === target) return
    failing = target === undefined && url !== null ? stored(url) : null
    target = url
  }

  /** What was stored of this URL before a restart. */
  function stored(url: string): Failing | null {
    const text = setting.get()
    const before = text === null ? null : v.parse(Failing, JSON.parse(text))
    return before?.url_hash === hashOf(url) ? before : null
  }

  /** A warning when the last requests failed. */
  const findings = (): Finding[] =>
    failing === null || failing.failures < FAILURES
      ? []
      : [
          warning('alerts', `${failing.words} Check heartbeat_url in config.toml.`, {
            id: 'heartbeat',
            title: 'The heartbeat is not received',
            since: failing.since,
          }),
        ]

  return { beat, declare, findings }
}

const hashOf = (url: string): string => createHash('sha256').update(url).digest('base64url')
