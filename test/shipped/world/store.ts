/**
 * A process: the simulated App Store with a company that lives on, and a publisher of exchange rates. Some notifications
 * never arrive.
 */
import { openPublisher } from '../../../src/demo/publisher.ts'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { openAppStore } from '../../../src/demo/store/store.ts'
import { callOf } from '../../faults/load.ts'
import { answer, givenArguments } from './answering.ts'
import { openPosting } from './posting.ts'

const LOST_FRACTION = 0.05
const TICK_MS = 250

/** `at`: when the company begins to live on, in ms. `isClockGiven`: the program sends the time; this machine’s clock is not read. */
type Arguments = { seed: number; at: number; isClockGiven: boolean; history_ms: number; subscribers: number }

const { seed, at: until, isClockGiven, history_ms, subscribers } = givenArguments<Arguments>()
let now = until
const clock = (): number => (isClockGiven ? now : Date.now())
const authority = await openAuthority({ now: until })
const simulation = openSimulation({ seed, from: until - history_ms, until, subscribers, authority })
// As if Windfall were not installed yet.
simulation.skip(until)
simulation.lose({ from: until, fraction: LOST_FRACTION })
const store = await openAppStore({ simulation, authority, clock })
const publisher = await openPublisher()
let posting: ReturnType<typeof openPosting> | null = null
let timer: NodeJS.Timeout | undefined
let number = 0

function deliver(purchases_per_minute: number): void {
  for (const step of simulation.advance(clock(), { purchases_per_minute })) {
    number += 1
    // What is not answered is posted again, so nothing is awaited here.
    void posting?.post(callOf(step, number))
  }
}

export type StoreQuestions = typeof questions
const questions = {
  apple: () => ({ root: authority.root_pem, hosts: store.hosts, rates: publisher.origins }),
  keys: () => ({
    connect: store.connect_key,
    purchase: store.purchase_key,
    vendor_number: store.vendor_number,
  }),
  /** Begins to post to a server. `purchases_per_minute`: null to post only when the time is set. */
  begin({ url, purchases_per_minute }: { url: string; purchases_per_minute: number | null }): void {
    posting = openPosting(url)
    if (purchases_per_minute === null) return
    timer = setInterval(() => deliver(purchases_per_minute), TICK_MS)
  },
  /** Sets the time, posts what happens until then, and resolves when all of it is answered. */
  async passUntil({ at: next, purchases_per_minute }: { at: number; purchases_per_minute: number }) {
    now = next
    deliver(purchases_per_minute)
    await posting?.settled()
  },
  /** Ends the purchases. Resolves when everything is answered. */
  async end(): Promise<void> {
    clearInterval(timer)
    await posting?.settled()
  },
  seen: () => posting?.seen(),
  /** The notifications that were lost and signed before an instant. */
  lostBefore: (instant: number): string[] =>
    simulation
      .lost()
      .flatMap(({ payload }) => (payload.signedDate < instant ? [payload.notificationUUID] : [])),
}
answer(questions)
