/** The commands of the property test, and how they run against the SDK and the model. */
import fc from 'fast-check'
import { type Client, openClient } from '../../sdk/js/src/client.ts'
import type { Answer, Request } from '../../sdk/js/src/environment.ts'
import { type Call, follows, openModel } from './model.ts'
import { answered, openModelServer } from './model_server.ts'
import { type Faults, NO_FAULTS, openWorld } from './world.ts'

const HOUR = 3_600_000

type Network =
  | 'open'
  | 'offline'
  | 'answer lost'
  | 'answer late'
  | 'captive'
  | 'limited'
  | 'broken'
  | 'forbidden'
type StorageMode = 'good' | 'full' | 'writes fail late' | 'removes fail' | 'removes fail late' | 'reads fail'

export type Command =
  | { do: 'call'; call: Call; reads?: 'fail' }
  | { do: 'network'; mode: Network }
  | { do: 'storage'; mode: StorageMode }
  | { do: 'pass'; ms: number }
  | { do: 'clock'; ms: number }
  | { do: 'kill' }
  | { do: 'flush' }
  /** Kills the process this many half operations later, most often in the middle of a call. */
  | { do: 'doom'; steps: number }

const LANDING = { l: 'https://windfall.example.com', b: 'com.example.lantern', d: { platform: 'ios' } }
const GOOD_PROOF = 'eyJhIjoxfQ.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.good'
const BAD_PROOF = 'eyJhIjoxfQ.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.bad'

const user = fc.constantFrom('ann', 'bob')
/** Each call gets a value of its own when it runs. */
const value = fc.constant(0)
const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ call: fc.constant('identify' as const), user, value }, { requiredKeys: ['call', 'user'] }),
  fc.record({ call: fc.constant('setAttributes' as const), name: fc.constantFrom('a', 'b'), value }),
  fc.record({ call: fc.constant('reset' as const) }),
  fc.record(
    {
      call: fc.constant('attributePurchase' as const),
      purchase: fc.constantFrom('1', '2', '3'),
      isAsked: fc.boolean(),
      jws: fc.constantFrom(GOOD_PROOF, BAD_PROOF),
    },
    { requiredKeys: ['call', 'purchase', 'isAsked'] },
  ),
)

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      { do: fc.constant('call' as const), call, reads: fc.constant('fail' as const) },
      { requiredKeys: ['do', 'call'] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('network' as const),
      mode: fc.constantFrom<Network>(
        'open',
        'open',
        'offline',
        'answer lost',
        'answer late',
        'captive',
        'limited',
        'broken',
        'forbidden',
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('storage' as const),
      mode: fc.constantFrom<StorageMode>(
        'good',
        'full',
        'writes fail late',
        'removes fail',
        'removes fail late',
        'reads fail',
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(500, 5000, 60_000, HOUR, 26 * HOUR),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      ms: fc.constantFrom(-400 * 24 * HOUR, -HOUR, HOUR, 5 * 24 * HOUR),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('flush' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('doom' as const), steps: fc.integer({ min: 1, max: 60 }) }),
  },
)

export const commands = fc.array(command, { minLength: 1, maxLength: 26, size: 'max' })

/** A network that behaves as told, in front of `accept`. */
function openNetwork(accept: (request: Request) => Answer) {
  let mode: Network = 'open'
  const waiting: (() => void)[] = []
  const lost = (): never => {
    throw new Error('no connection')
  }
  async function answer(request: Request): Promise<Answer> {
    const forbidden = { code: 'app_not_in_organization', status: 403 }
    if (mode === 'offline') return lost()
    if (mode === 'captive') return answered(200, '<html>Welcome to the hotel</html>')
    if (mode === 'limited') return answered(429, { code: 'rate_limited' }, '7')
    if (mode === 'broken') return answered(503, { code: 'store_unavailable' })
    if (mode === 'forbidden') return answered(403, forbidden)
    const given = accept(request)
    if (mode === 'answer lost') return lost()
    if (mode === 'answer late') await new Promise<void>((resolve) => waiting.push(resolve))
    return given
  }
  return {
    answer,
    /** Answers that were late arrive. */
    set(next: Network): void {
      mode = next
      for (const go of waiting.splice(0)) go()
    },
  }
}

const FAULTS: Record<StorageMode, Faults> = {
  good: NO_FAULTS,
  full: { storage: (step) => (step === 'set' ? 'before' : 'no') },
  'writes fail late': { storage: (step) => (step === 'set' ? 'after' : 'no') },
  'removes fail': { storage: (step) => (step === 'remove' ? 'before' : 'no') },
  'removes fail late': { storage: (step) => (step === 'remove' ? 'after' : 'no') },
  'reads fail': { storage: (step) => (step === 'get' || step === 'keys' ? 'before' : 'no') },
}

const purchaseOf = ({ purchase, jws }: { purchase: string; jws?: string }) => ({
  originalTransactionId: purchase,
  productId: 'pro',
  ...(jws && { jws }),
})

const made = (client: Client, one: Call): Promise<void> => {
  if (one.call === 'identify')
    return client.identify(one.user, one.value === undefined ? undefined : { a: one.value })
  if (one.call === 'setAttributes') return client.setAttributes({ [one.name]: one.value })
  if (one.call === 'reset') return client.reset()
  return client.attributePurchase(purchaseOf(one), one.isAsked)
}

/** One run: an install, its network and the server behind it. */
export async function openRun() {
  const server = openModelServer()
  /** The values that each attribute had at the server, one after another. */
  const history = new Map<string, unknown[]>()
  /** At the end the proofs that were refused are accepted: their tries must name the right user. */
  let areProofsGood = false
  const network = openNetwork((request) => {
    const body = JSON.parse(request.body)
    if (body.jws === BAD_PROOF && !areProofsGood) return answered(400, { code: 'invalid_signed_transaction' })
    const answer = server.accept(request)
    for (const [name, one] of Object.entries(body.attributes ?? {})) {
      const key = `${body.appUserId} ${name}`
      const before = history.get(key) ?? []
      if (before.at(-1) !== one) history.set(key, [...before, one])
    }
    return answer
  })
  let random = 1
  const world = openWorld(network.answer, {
    random: () => {
      random = (random * 48_271) % 2_147_483_647
      return random / 2_147_483_647
    },
  })
  let process = world.boot()
  const start = () =>
    openClient(
      process.environment,
      () => LANDING,
      () => {},
    )
  let client = start()
  client.wake()
  await world.settle()
  const model = openModel(await client.state())

  /** Lets the SDK do what it can, and answers whether `one` ended. */
  async function done(one: Promise<unknown>): Promise<boolean> {
    let isDone = false
    one.then(() => {
      isDone = true
    })
    await world.settle()
    return isDone
  }

  let kills = 0

  async function restart(): Promise<void> {
    kills += 1
    const isPure = !isFailing && !process.isFailing()
    for (process.kill(); process.isDead(); ) {
      world.setFaults(NO_FAULTS)
      network.set('offline')
      process = world.boot()
      client = start()
      client.wake()
      await world.settle()
    }
    isFailing = false
    model.restart(await client.state(), isPure)
    world.setFaults(FAULTS[storage])
    network.set(mode)
    client.wake()
    await world.settle()
  }

  let mode: Network = 'open'
  let storage: StorageMode = 'good'
  /** Whether the storage refused a write that has not been written since. */
  let isFailing = false

  async function makeCall(one: Call, reads: boolean): Promise<void> {
    if (reads) world.setFaults(FAULTS['reads fail'])
    const ended = made(client, one)
    let isDone = await done(ended)
    world.setFaults(FAULTS[storage])
    if (!isDone && !process.isDead() && storage !== 'reads fail') {
      client.wake()
      isDone = await done(ended)
    }
    if (!isDone) {
      model.apply(one, '', 'cut')
      return restart()
    }
    note(one)
  }

  /** Applies a call that ended to the model. The storage is read directly: a question would move the kill. */
  function note(one: Call): void {
    isFailing = process.isFailing()
    const { i } = JSON.parse(process.written('windfall.s') ?? '{}') as { i: string }
    model.apply(one, i, isFailing ? 'risky' : 'stored')
  }

  let count = 0
  const numbered = (one: Call): Call => {
    count += 1
    return 'value' in one ? { ...one, value: count } : one
  }

  function setNetwork(next: Network): void {
    mode = next
    network.set(next)
  }

  function setStorage(next: StorageMode): void {
    storage = next
    world.setFaults(FAULTS[next])
  }

  async function run(one: Command): Promise<unknown> {
    switch (one.do) {
      case 'call':
        return makeCall(numbered(one.call), one.reads === 'fail')
      case 'network':
        return setNetwork(one.mode)
      case 'storage':
        return setStorage(one.mode)
      case 'pass':
        return world.advance(one.ms)
      case 'clock':
        return world.turnClock(one.ms)
      case 'kill':
        return restart()
      case 'flush':
        return done(client.wake())
      case 'doom':
        return process.doom(one.steps)
    }
  }

  async function execute(one: Command): Promise<void> {
    await run(one)
    await world.settle()
    if (process.isDead()) await restart()
  }

  /** Heals everything, waits two days, and compares the server with the model. */
  async function finish(): Promise<void> {
    process.doom(Number.POSITIVE_INFINITY)
    setStorage('good')
    setNetwork('open')
    areProofsGood = true
    await world.advance(50 * HOUR)
    client.wake()
    await world.advance(50 * HOUR)
    const { queue } = await client.state()
    if (queue.length > 0) throw new Error(`${queue.length} items are left`)
    const fault = faultOf(model, server, history)
    if (fault !== null) throw new Error(fault)
  }

  return { execute, finish, server, kills: () => kills }
}

/** Compares what the server has with what the calls meant; null if it is the same. */
function faultOf(
  model: ReturnType<typeof openModel>,
  server: ReturnType<typeof openModelServer>,
  history: ReadonlyMap<string, unknown[]>,
): string | null {
  const missing = [...model.users].find((one) => !server.users.has(one))
  if (missing !== undefined) return `user ${missing} is missing`
  const link = [...model.purchases].find(([id, all]) => !follows(server.links.get(id) ?? [], all))
  if (link !== undefined)
    return `purchase ${link[0]}: ${JSON.stringify([server.links.get(link[0]), link[1]])}`
  const value = [...model.values].find(([key, all]) => !isHistory(history.get(key) ?? [], all))
  if (value !== undefined)
    return `attribute ${value[0]}: ${JSON.stringify([history.get(value[0]), value[1]])}`
  const foreign = [...history.keys()].find((key) => !model.values.has(key))
  return foreign === undefined ? null : `attribute ${foreign} is foreign`
}

/** Whether the values that an attribute had are in the order of the calls, and end at the last sure one or later. */
function isHistory(had: readonly unknown[], values: readonly { value: number; sure: boolean }[]): boolean {
  const places = values.map(({ value }) => value)
  let at = -1
  for (const one of had.slice(0, -1)) {
    at = places.findIndex((value, place) => place > at && one === value)
    if (at < 0) return false
  }
  const last = had.length === 0 ? -1 : places.lastIndexOf(had.at(-1) as number)
  return (last > at || had.length === 0) && last >= values.map(({ sure }) => sure).lastIndexOf(true)
}
