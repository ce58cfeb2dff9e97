/** Sends what is due: routes each message, marks it as sending, calls the provider, and stores the result. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Cron } from 'croner'
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { Stoppages, Watch } from '../../stoppages.ts'
import type { Store } from '../../store/store.ts'
import type { Channel } from '../channels/channels.ts'
import type { Message, Messages, Send } from '../messages/messages.ts'
import type { Attempts } from './attempts.ts'
import { noteUnsendable } from './results.ts'
import type { Routing } from './routing.ts'
import type { Summaries } from './summaries.ts'

/** How often the clock wakes the courier. Whether anything is due is decided by the stored times. */
const TICK_SCHEDULE = '* * * * * *'
/** The sends that are routed in one commit. */
const SLICE = 100
/** The requests that run at the same time. */
const SLOTS = 8
/** A send that is due later than this was probably computed before the clock was set back: only long mutes are longer. */
const LONGEST_MS = 8 * 86_400_000
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
  let timer: Cron | null = null
  const watches = {
    rounds: deps.stoppages.watch({ ...WATCHED, name: 'sending' }),
    results: deps.stoppages.watch({ ...WATCHED, name: 'results' }),
  }
  const sending = openSending(deps, { onEnd: wake, onError: pause, ...watches })

  /** Looks for what is due. A call during a round begins another one after it. */
  function wake(): void {
    if (state !== 'started' || isHeld() || monotonic() < pausedUntil) return
    isAgain = round !== null
    round ??= sending.round().finally(() => {
      round = null
      if (isAgain) wake()
    })
  }

  function pause(): void {
    pausedUntil = monotonic() + ERROR_PAUSE_MS
  }

  /** Starts sending. What was being sent when the process ended is sent once more. */
  async function start(): Promise<void> {
    await deps.store.commit(() => deps.messages.repeatInterrupted())
    state = 'started'
    timer = new Cron(TICK_SCHEDULE, { unref: true }, wake)
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
    timer?.stop()
    await deps.attempts.close()
    await Promise.allSettled([round, sending.ended()])
  }

  return { wake, start, settled, close }
}

type SendingHooks = { onEnd: () => void; onError: () => void; rounds: Watch; results: Watch }

/** Opens the sending of what is due, several messages at the same time. */
function openSending(deps: Deps, { onEnd, onError, rounds, results }: SendingHooks) {
  const running = new Map<string, Task & { work: Promise<void> }>()
  const route = openRound(deps, running)

  /** Begins to send what is due. Never rejects. */
  async function round(): Promise<void> {
    try {
      for (let isMore = true; isMore; ) {
        const routed = await route(SLOTS - running.size)
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
    const key = keyOf(send)
    const work = deps.attempts
      .attempt(message, send, channel)
      .then(() => results.worked())
      .catch((error: unknown) => {
        results.failed(error)
        onError()
      })
      .finally(() => {
        running.delete(key)
        onEnd()
      })
    running.set(key, { message, send, channel, work })
  }

  return {
    round,
    isBusy: () => running.size > 0,
    ended: () => Promise.allSettled([...running.values()].map(({ work }) => work)),
  }
}

const keyOf = ({ message_id, channel_id }: Send): string => `${message_id}/${channel_id}`

/** What is sent now. `isMore`: more is due, and not all slots are in use. */
type Routed = { tasks: Task[]; isMore: boolean }

/** Returns the function that routes a slice of what is due. At most `free` messages are sent now. */
function openRound(
  { store, log, messages, routing, summaries, attempts }: Deps,
  running: ReadonlyMap<string, Task>,
) {
  return (free: number): Promise<Routed> =>
    store.commit(() => {
      const tasks: Task[] = []
      const due = messages.due(SLICE, LONGEST_MS)
      for (const send of due) {
        if (running.has(keyOf(send)) || tasks.length >= free) continue
        // What one message breaks is undone, and keeps no other message from being sent.
        const error = store.inSavepoint(() => {
          const message = messages.get(send.message_id)
          const task = message && routeOne(message, send, [...running.values(), ...tasks])
          if (task) tasks.push(task)
        })
        if (error !== null) noteUnsendable({ log, messages }, send, error)
      }
      // What waits for the limit of its provider must not hide what is due on other channels.
      return { tasks, isMore: due.length === SLICE && tasks.length < free }
    })

  /** `others`: what is sent at the same time, which counts for the limit of the rule. */
  function routeOne(message: Message, send: Send, others: readonly Task[]): Task | null {
    const isOfRule = (one: Task): boolean =>
      one.channel.id === send.channel_id && one.message.rule_id === message.rule_id
    const route = routing.routeOf(send, message, others.filter(isOfRule).length)
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
        const wait_ms = attempts.waitOf(route.channel)
        if (wait_ms === 0) return { message, send, channel: route.channel }
        messages.delay(send, wait_ms)
        return null
      }
    }
  }
}
