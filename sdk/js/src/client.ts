/**
 * The SDK of one install. Calls are queued in memory until the storage has taken them, and run one after another; sending
 * runs beside them. Each change of the storage happens in `turn`, one at a time in all tabs.
 */
import { isUserId } from './attributes.ts'
import { DAY_MS, jitter, SOFT_MS } from './backoff.ts'
import type { Environment } from './environment.ts'
import { attributePurchase, identify, reset, resume, setAttributes } from './identity.ts'
import { endLease, takeLease } from './lease.ts'
import { readPurchase } from './purchases.ts'
import { listItems } from './queue.ts'
import { newSdk, type Sdk, type Target } from './sdk.ts'
import { pickItem, sendItem, settleItem } from './sender.ts'
import { stateOf } from './state.ts'
import { UNREADABLE } from './store.ts'
import type { DebugState } from './types.ts'

const MOST_CALLS = 1000

/** Runs `work` when all earlier work has ended, also that of other tabs. */
function turn<T>(sdk: Sdk, work: () => Promise<T>): Promise<T> {
  const { lock } = sdk.env
  const mine = sdk.tail.then(() => (lock ? lock('windfall.turn', work) : work()))
  sdk.tail = mine.catch(() => {})
  return mine
}

/** Runs the calls in order. A storage that cannot be read keeps them in memory. */
async function runCalls(sdk: Sdk): Promise<void> {
  const { calls } = sdk
  for (let call = calls[0]; call; call = calls[0]) {
    try {
      await turn(sdk, call.run)
    } catch (error) {
      sdk.debug(`a call failed: ${error}`)
      if (error === UNREADABLE) break
    }
    calls.shift()
    call.done()
  }
  // Without a pause since the last look at the calls: one that comes now starts new work.
  sdk.working = null
}

function work(sdk: Sdk): Promise<void> {
  sdk.working ??= Promise.resolve().then(() => runCalls(sdk))
  return sdk.working
}

/** Resolves when the call is in the storage, or in memory if that refuses it. */
function call(sdk: Sdk, run: () => Promise<void>): Promise<void> {
  return new Promise((done) => {
    if (sdk.calls.length < MOST_CALLS) sdk.calls.push({ run, done })
    else sdk.debug('too many calls')
    wake(sdk)
  })
}

/** Returns the ms until there may be more to send. */
async function sendAll(sdk: Sdk): Promise<number> {
  for (;;) {
    const left = await takeLease(sdk)
    const next = left || (await turn(sdk, () => pickItem(sdk)))
    if (typeof next === 'number') {
      if (!left) await endLease(sdk)
      return next
    }
    const answer = await sendItem(sdk, next)
    await turn(sdk, () => settleItem(sdk, next, answer))
    sdk.inFlight = null
  }
}

/** Sends all that need not wait, then sets the timer for the rest. */
async function sendAndWait(sdk: Sdk): Promise<void> {
  const { lock, after, random } = sdk.env
  const send = () => sendAll(sdk)
  let ms: number
  try {
    ms = await (lock ? lock('windfall.send', send) : send())
    sdk.stalls = 0
  } catch {
    sdk.stalls += 1
    ms = jitter(random, sdk.stalls, SOFT_MS)
  }
  sdk.inFlight = null
  sdk.cancelTimer()
  if (ms < DAY_MS * 2) sdk.cancelTimer = after(ms + 1, () => workAndSend(sdk))
  sdk.sending = null
  if (sdk.isAgain) await drain(sdk)
}

function drain(sdk: Sdk): Promise<void> {
  sdk.isAgain = sdk.sending !== null
  sdk.sending ??= sendAndWait(sdk)
  return sdk.sending
}

const workAndSend = (sdk: Sdk): Promise<void> => work(sdk).then(() => drain(sdk))

/** Foreground, connectivity or a call: tries now what failed for lack of a connection. */
function wake(sdk: Sdk): Promise<void> {
  sdk.soft = {}
  return workAndSend(sdk)
}

async function debugState(sdk: Sdk): Promise<DebugState> {
  const state = await stateOf(sdk).catch(() => null)
  const i = state?.i ?? null
  const isOk = !sdk.unsaved.size && !sdk.calls.length
  return {
    configured: true,
    appUserId: state?.u ?? i,
    anonymousId: i,
    queue: (await listItems(sdk).catch(() => [])).map(({ item }) => ({
      call: item.t === 'i' ? 'identify' : 'attribute',
      appUserId: item.u,
      at: item.at,
      ...(item.o && { originalTransactionId: item.o }),
    })),
    refused: state?.g ?? [],
    storage: sdk.env.isMemory ? 'memory' : isOk ? 'ok' : 'failing',
    lastAnswer: sdk.answer,
  }
}

export type Client = ReturnType<typeof openClient>

export function openClient(env: Environment, target: () => Target, debug: (line: string) => void) {
  const sdk = newSdk(env, target, debug)
  const isDropped = (what: string) => {
    debug(`left out: ${what}`)
    return Promise.resolve()
  }
  call(sdk, () => resume(sdk))
  return {
    wake: () => wake(sdk),
    state: () => turn(sdk, () => debugState(sdk)),
    identify(user: unknown, attributes?: unknown): Promise<void> {
      const id = typeof user === 'number' ? String(user) : user
      if (!isUserId(id)) return isDropped(`"${`${id}`.slice(0, 64)}" is not a user id`)
      return call(sdk, () => identify(sdk, id, attributes))
    },
    setAttributes: (attributes: unknown) => call(sdk, () => setAttributes(sdk, attributes)),
    reset: () => call(sdk, () => reset(sdk)),
    attributePurchase(given: unknown, isAsked: boolean): Promise<void> {
      const purchase = readPurchase(given, target().d.platform)
      if (!purchase) return isDropped('a purchase without an id')
      return call(sdk, () => attributePurchase(sdk, purchase, isAsked))
    },
  }
}
