/**
 * Sends what is due: routes each message, marks it as sending, calls the provider, and stores the result. A channel is sent
 * one message at a time, in their order, whatever the others do.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Cron } from 'croner'
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Stoppages, Watch } from '../../stoppages.ts'
import type { Store } from '../../store/store.ts'
import type { Channel } from '../channels/channels.ts'
import type { Message, Messages, Send } from '../messages/messages.ts'
import type { Attempts } from './attempts.ts'
import type { BackOff } from './back_off.ts'
import { noteUnsendable } from './results.ts'
import type { Routing } from './routing.ts'
import type { Summaries } from './summaries.ts'

/** How often the clock wakes the courier. Whether anything is due is decided by the stored times. */
const TICK_SCHEDULE = '* * * * * *'
/** The sends that are routed in one commit. */
const SLICE = 100
/** A send that is due later than this was probably computed before the clock was set back: only long mutes are longer. */
const LONGEST_MS = 8 * 86_400_000
/** A channel that rests for longer is looked at again after this time. */
const LONGEST_REST_MS = 60_000
/** The pause after an error that no result explains. */
const ERROR_PAUSE_MS = 30_000
const WATCHED = {
  part: 'alerts',
  title: 'Alerts are not sent',
  message: 'alerts pause for 30 seconds after an error',
  isWhole: true,
} as const

type Deps = {
  store: Store
  clock: Clock
  monotonic: Clock
  log: Log
  stoppages: Pick<Stoppages, 'watch'>
  messages: Messages
  routing: Routing
  summaries: Summaries
  attempts: Attempts
  backOff: Pick<BackOff, 'resting' | 'shortest' | 'pause'>
  isHeld: () => boolean
}

/** A message to send now. */
type Task = { message: Message; send: Send; channel: Channel }

/** Opens the courier. It sends nothing before `start`. */
export function openCourier(deps: Deps) {
  const { isHeld, monotonic } = deps
  let state: 'waiting' | 'started' | 'closed' = 'waiting'
  let round: Promise<void> | null = null
  let isAgain = false
  let pausedUntil = 0
  const watches = {
    rounds: deps.stoppages.watch({ ...WATCHED, name: 'sending' }),
    results: deps.stoppages.watch({
      ...WATCHED,
      name: 'results',
      title: 'The results of alerts are not stored',
    }),
  }
  const maySend = (): boolean => state === 'started' && !isHeld() && monotonic() >= pausedUntil
  const sending = openSending(deps, { maySend, onEnd: wake, onError: pause, ...watches })
  const timers = openTimers(deps.backOff, wake)

  /** Looks for what is due. A call during a round begins another one after it. */
  function wake(): void {
    if (!maySend()) return
    isAgain = round !== null
    round ??= sending.round().finally(() => {
      round = null
      if (isAgain) wake()
      else if (state === 'started') timers.wakeAfterRest()
    })
  }

  function pause(): void {
    pausedUntil = monotonic() + ERROR_PAUSE_MS
  }

  /** Starts sending. What was being sent when the process ended is sent once more. */
  async function start(): Promise<void> {
    await deps.store.commit(() => deps.messages.repeatInterrupted())
    state = 'started'
    timers.start()
    wake()
  }

  /** Resolves when nothing is sent and nothing more is due. */
  async function settled(): Promise<void> {
    while (round !== null || sending.isBusy()) {
      await Promise.allSettled([round, sending.ended()])
      await nextTurn()
    }
  }

  /** Stops. Requests that run are given a moment to end, then aborted. */
  async function close(): Promise<void> {
    state = 'closed'
    timers.stop()
    await deps.attempts.close()
    await Promise.allSettled([round, sending.ended()])
  }

  return { wake, start, settled, close }
}

/** The timers of the courier: each second, and at the end of the first rest of a channel. */
function openTimers({ shortest }: Pick<BackOff, 'shortest'>, wake: () => void) {
  let seconds: Cron | null = null
  let restEnd: NodeJS.Timeout | undefined

  function start(): void {
    seconds = new Cron(TICK_SCHEDULE, { unref: true }, wake)
  }

  /** Whole seconds alone would halve the limit of a provider that takes one message a second. */
  function wakeAfterRest(): void {
    clearTimeout(restEnd)
    const ms = shortest()
    if (ms !== null) restEnd = setTimeout(wake, Math.min(ms, LONGEST_REST_MS)).unref()
  }

  function stop(): void {
    seconds?.stop()
    clearTimeout(restEnd)
  }

  return { start, wakeAfterRest, stop }
}

type SendingHooks = {
  maySend: () => boolean
  onEnd: () => void
  onError: () => void
  rounds: Watch
  results: Watch
}

/** Opens the sending of what is due, to several channels at the same time. */
function openSending(deps: Deps, { maySend, onEnd, onError, rounds, results }: SendingHooks) {
  const { backOff, attempts } = deps
  /** What is being sent, by the id of the channel. */
  const running = new Map<string, Promise<void>>()
  const route = openRound(deps)

  /** Begins to send what is due. Never rejects. */
  async function round(): Promise<void> {
    try {
      for (let isMore = true; isMore && maySend(); ) {
        const routed = await route([...running.keys(), ...backOff.resting()])
        for (const task of routed.tasks) begin(task)
        isMore = routed.isMore
      }
      rounds.worked()
    } catch (error) {
      rounds.failed(error)
      onError()
    }
  }

  function begin({ message, send, channel }: Task): void {
    const work = attempts
      .attempt(message, send, channel)
      .then(() => results.worked())
      .catch((error: unknown) => {
        results.failed(error)
        onError()
      })
      .finally(() => {
        running.delete(channel.id)
        onEnd()
      })
    running.set(channel.id, work)
  }

  return { round, isBusy: () => running.size > 0, ended: () => Promise.allSettled(running.values()) }
}

/** What is sent now. `isMore`: more may be due, also on channels that got none of it. */
type Routed = { tasks: Task[]; isMore: boolean }

/** Returns the function that routes a slice of what is due, without the channels that are busy or rest. */
function openRound({ store, clock, log, messages, routing, summaries, attempts, backOff }: Deps) {
  return (unavailable: readonly string[]): Promise<Routed> =>
    store.commit(() => {
      const tasks: Task[] = []
      const taken = new Set<string>()
      const due = messages.due(SLICE, LONGEST_MS, unavailable)
      for (const send of due) {
        // What one message breaks is undone, and keeps no other message from being sent.
        const error = store.inSavepoint(() => {
          const message = messages.get(send.message_id)
          const task = message && routeOne(message, send, taken)
          if (task) tasks.push(task)
        })
        if (error !== null) noteUnsendable({ log, messages }, send, error)
      }
      // What is far ahead comes last, and may stay as it is: it is looked at again in a second.
      const isAllNear = (due.at(-1)?.due_at ?? 0) <= clock() + LONGEST_MS
      return { tasks, isMore: due.length === SLICE && isAllNear }
    })

  /**
   * `taken`: the channels to which another message is sent, or that wait for the limits of their provider. A message to one
   * of them can join a summary or end, but is not sent.
   */
  function routeOne(message: Message, send: Send, taken: Set<string>): Task | null {
    const route = routing.routeOf(send, message)
    switch (route.kind) {
      case 'drop':
        messages.finish(send, 'dropped', route.words)
        return null
      case 'wait':
        // A send that is due far ahead is looked at each second.
        if (send.state !== 'held' || send.due_at !== route.due_at)
          messages.change(send, { state: 'held', due_at: route.due_at, words: route.words })
        return null
      case 'join':
        messages.join(send, summaries.idFor(message.organization_id, send.channel_id, route), route.words)
        return null
      case 'send': {
        const { channel } = route
        if (taken.has(channel.id)) return null
        const wait_ms = attempts.waitOf(channel)
        if (wait_ms === 0) {
          taken.add(channel.id)
          return { message, send, channel }
        }
        // The channel rests as a whole, so that the oldest message stays the next one, and none is written while it waits.
        backOff.pause(channel.id, wait_ms)
        taken.add(channel.id)
        return null
      }
    }
  }
}
