/** Runs alerts: follows the feed, looks at findings and figures by the clock, and sends what is due. */
import { Cron } from 'croner'
import type { Feed } from '../events/feed.ts'
import type { Log } from '../log.ts'
import type { Stoppages, Watched } from '../stoppages.ts'

const EVERY_MINUTE = '0 * * * * *'
const EVERY_FIVE_MINUTES = '30 */5 * * * *'

const MESSAGE = 'alerts could not be evaluated'
const FINDINGS: Watched = {
  part: 'alerts',
  name: 'findings',
  title: 'Findings are not reported',
  message: MESSAGE,
  isWhole: true,
}
const DIGESTS: Watched = { part: 'alerts', name: 'digests', title: 'Digests are not made', message: MESSAGE }
const FIGURES: Watched = {
  part: 'alerts',
  name: 'rules',
  title: 'Alert rules are not evaluated',
  message: MESSAGE,
}
const HEARTBEAT: Watched = {
  part: 'alerts',
  name: 'heartbeat',
  title: 'The heartbeat is not sent',
  message: MESSAGE,
}

type Deps = {
  log: Log
  stoppages: Pick<Stoppages, 'watch'>
  feed: Pick<Feed, 'listen'>
  following: {
    follow: () => Promise<void>
    settled: () => Promise<void>
    storePositions: () => Promise<void>
  }
  figureRules: { evaluate: () => Promise<void>; settled: () => Promise<void> }
  trouble: { look: () => Promise<void> }
  digests: { make: () => Promise<void>; settled: () => Promise<void> }
  heartbeat: { beat: () => Promise<void> }
  courier: {
    start: () => Promise<void>
    wake: () => void
    settled: () => Promise<void>
    close: () => Promise<void>
  }
}

/** Opens the running of alerts. Nothing is read or sent before `start`. */
export function openRunning(deps: Deps) {
  const { log, stoppages, feed, following, figureRules, trouble, digests, heartbeat, courier } = deps
  let timers: Cron[] = []

  /** Reads new events, then sends what is due. */
  const wake = (): void => void following.follow().then(courier.wake)

  /** Starts following the feed and sending, and, unless `is_timed` is false, what happens by the clock. */
  async function start({ is_timed = true } = {}): Promise<void> {
    feed.listen(wake)
    if (is_timed) startTimers()
    await courier.start()
    void heartbeat.beat()
    wake()
  }

  function startTimers(): void {
    timers = [
      every(EVERY_MINUTE, FINDINGS, () => trouble.look().then(courier.wake)),
      every(EVERY_MINUTE, DIGESTS, () => digests.make().then(courier.wake)),
      every(EVERY_FIVE_MINUTES, FIGURES, () => figureRules.evaluate().then(courier.wake)),
      every(EVERY_FIVE_MINUTES, HEARTBEAT, heartbeat.beat),
    ]
  }

  function every(schedule: string, watched: Watched, act: () => Promise<void>): Cron {
    const watch = stoppages.watch(watched)
    return new Cron(schedule, { unref: true, protect: true }, () =>
      act().then(
        () => watch.worked(),
        (error: unknown) => watch.failed(error),
      ),
    )
  }

  /** Resolves when every event was read and nothing that is due is left. */
  async function settled(): Promise<void> {
    await following.settled()
    await figureRules.settled()
    await digests.settled()
    await courier.settled()
  }

  async function close(): Promise<void> {
    for (const timer of timers) timer.stop()
    await following.settled()
    await digests.settled()
    await courier.close()
    await following.storePositions().catch((error: unknown) => {
      log.warn('the positions of alert rules could not be stored at the stop', { error })
    })
  }

  return { wake, start, settled, close }
}
