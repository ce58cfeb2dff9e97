/** Random histories of endpoints: what happens to them, and what their receivers saw. */
import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { dataBody, outerPayload, transactionPayload } from '../apple/samples.ts'
import { copyOfDatabase, temporaryFolder } from '../folders.ts'
import { handClock } from '../helpers.ts'
import { type ForwardingApp, openForwardingApp, openHttpReceiver, type Received } from './receiving.ts'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * A request as a receiver saw it. `status`: what it answered; null if it closed the connection. Ambiguous: the answer
 * may not have reached the sender, or may not have been stored.
 */
export type Seen = {
  id: string
  body: string
  attempt: number
  status: number | null
  isOpen: boolean
  isAmbiguous: boolean
}

/** What a receiver does next: a status, or `close`. `turns`: the turns of the event loop until then. */
type Answer = { status: number | 'close'; turns: number; retryAfter: number | null }

/** What happens. `which` is the index of an endpoint. */
export type Step =
  | {
      what: 'append'
      count: number
      key: string | null
      type: 'gap.found' | 'gap.filled'
      user: string | null
    }
  | { what: 'run'; ms: number }
  | { what: 'set the clock'; ms: number }
  | { what: 'receive'; which: number }
  | { what: 'fail'; which: number }
  | { what: 'pause'; which: number }
  | { what: 'resume'; which: number }
  | { what: 'resume from now'; which: number }
  | { what: 'filter'; which: number; types: readonly 'gap.found'[] | null }
  | { what: 'restart' }
  | { what: 'crash' }
  | { what: 'erase'; user: string }

const which = fc.nat(2)
const user = fc.constantFrom('user-1', 'user-2', 'user-3')
const type = fc.constantFrom('gap.found', 'gap.found', 'gap.filled')
const key = fc.constantFrom(null, 'a', 'b', 'c')
const duration = fc.constantFrom(SECOND_MS, 10 * SECOND_MS, 400 * SECOND_MS, HOUR_MS, 7 * HOUR_MS, 2 * DAY_MS)
const jump = fc.constantFrom(-9 * DAY_MS, -30 * HOUR_MS, -HOUR_MS, HOUR_MS, 30 * HOUR_MS, 9 * DAY_MS)
const named = (...names: Extract<Step, { which: number }>['what'][]) =>
  fc.record({ what: fc.constantFrom(...names), which }) as fc.Arbitrary<Step>

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        what: fc.constant('append' as const),
        count: fc.integer({ min: 1, max: 12 }),
        key,
        type,
        user: fc.option(user),
      }) as fc.Arbitrary<Step>,
    },
    { weight: 6, arbitrary: fc.record({ what: fc.constant('run' as const), ms: duration }) },
    { weight: 2, arbitrary: fc.record({ what: fc.constant('set the clock' as const), ms: jump }) },
    { weight: 2, arbitrary: named('receive', 'fail') },
    { weight: 3, arbitrary: named('pause', 'resume', 'resume', 'resume from now') },
    {
      weight: 1,
      arbitrary: fc.record({
        what: fc.constant('filter' as const),
        which,
        types: fc.constantFrom(null, ['gap.found' as const]),
      }),
    },
    { weight: 2, arbitrary: fc.record({ what: fc.constantFrom('restart' as const, 'crash' as const) }) },
    { weight: 1, arbitrary: fc.record({ what: fc.constant('erase' as const), user }) },
  ),
  { minLength: 8, maxLength: 30 },
)

/** The answers of receivers, in the order of the requests. */
export const answers: fc.Arbitrary<Answer[]> = fc.array(
  fc.record({
    status: fc.constantFrom<Answer['status']>(
      200,
      200,
      200,
      200,
      200,
      204,
      400,
      500,
      503,
      429,
      301,
      'close',
      'close',
    ),
    turns: fc.nat(6),
    retryAfter: fc.constantFrom(null, null, null, 1, 4000),
  }),
  { minLength: 20, maxLength: 60 },
)

const GOOD: Answer = { status: 200, turns: 1, retryAfter: null }

/** A receiver with three endpoints, of which the second fails or works as told. */
async function openRandomReceiver(script: readonly Answer[]) {
  const seen = new Map<string, Seen[]>()
  const down = new Set<string>()
  const busiest = { ofEndpoint: 0 }
  const clashes: string[] = []
  const state = {
    isRepaired: false,
    keyOf: (_: string): string | null => null,
    isDoubtful: (_: string) => false,
  }
  let next = 0

  function answerTo(path: string): Answer {
    if (state.isRepaired) return GOOD
    if (down.has(path)) return { ...GOOD, status: 503 }
    next += 1
    return script[next % script.length] ?? GOOD
  }

  function note({ path, id, body, headers }: Received): Seen {
    const request = { id, body, attempt: Number(headers['windfall-attempt']), status: null }
    const one: Seen = { ...request, isOpen: true, isAmbiguous: state.isDoubtful(body) }
    const all = seen.get(path) ?? []
    // A request that was aborted can still seem to be open here.
    const open = all.filter((other) => other.isOpen && !other.isAmbiguous)
    const key = path.startsWith('/ordered') ? state.keyOf(id) : null
    if (open.some((other) => other.id === id || (key !== null && state.keyOf(other.id) === key)))
      clashes.push(id)
    busiest.ofEndpoint = Math.max(busiest.ofEndpoint, open.length + 1)
    seen.set(path, [...all, one])
    return one
  }

  async function respond(one: Seen, { status, turns, retryAfter }: Answer, response: ServerResponse) {
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    one.isOpen = false
    if (status === 'close') return void response.destroy()
    one.status = status
    response.writeHead(status, retryAfter === null ? {} : { 'retry-after': String(retryAfter) }).end()
  }

  const receiver = await openHttpReceiver((request, response) => {
    if (request.path === '/flush') return 200
    void respond(note(request), answerTo(request.path), response)
    return undefined
  })
  /** Marks the requests that run now, and those that `isAlso`. */
  const doubt = (isAlso: (path: string, one: Seen) => boolean = () => false) => {
    for (const [path, all] of seen)
      for (const one of all) if (one.isOpen || isAlso(path, one)) one.isAmbiguous = true
  }
  const { origin } = new URL(receiver.url)
  /** Resolves when the requests that were sent before have arrived: connections are accepted in their order. */
  const flush = async () => {
    await fetch(`${origin}/flush`, { headers: { connection: 'close' } })
    for (let turn = 0; turn < 9; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
  return { origin, flush, seen, down, busiest, clashes, state, doubt }
}

type Endpoints = ForwardingApp['windfall']['forwarding']['endpoints']

const PATHS = ['/ordered', '/plain', '/ordered/2'] as const

export type History = Awaited<ReturnType<typeof playHistory>>

/** Apple notifies of a subscription, so that the bodies of its events contain when they were made. */
async function subscribe(app: ForwardingApp, originalTransactionId: string): Promise<void> {
  const ids = { originalTransactionId, transactionId: `${originalTransactionId}1` }
  const signedTransactionInfo = app.authority.sign(transactionPayload(ids))
  const more = { notificationUUID: `uuid-${originalTransactionId}` }
  await app.notify(outerPayload(dataBody({ signedTransactionInfo }), more))
}

/** Plays the steps, then repairs everything and lets a week pass. */
export async function playHistory(script: readonly Step[], replies: readonly Answer[]) {
  const clock = handClock()
  let uptime = 0
  const monotonic = () => uptime
  const receiver = await openRandomReceiver(replies)
  let folder = temporaryFolder().path
  let app: ForwardingApp = await openForwardingApp({ clock, monotonic, folder })
  for (const key of ['a', 'b', 'c']) await subscribe(app, key)
  const endpoints = await Promise.all(
    PATHS.map(async (path) => {
      const { endpoint } = await app.addEndpoint(receiver.origin + path, { is_ordered: path !== '/plain' })
      return { id: endpoint.id, path, skippedUntil: 0 }
    }),
  )
  const erased = new Set<string>()
  const keys = new Map<string, string | null>()
  receiver.state.keyOf = (id) => keys.get(id) ?? null

  async function resume(one: (typeof endpoints)[number] | undefined, from: 'waiting' | 'now'): Promise<void> {
    if (one === undefined || app.endpoint(one.id).state === 'active') return
    if (from === 'now') one.skippedUntil = app.windfall.feed.head()
    await app.windfall.store.commit(() => void app.windfall.forwarding.endpoints.resume(one.id, from))
  }

  /** Whether requests that arrive now may have been aborted. */
  let isClosing = false
  receiver.state.isDoubtful = (body) => isClosing || [...erased].some((name) => body.includes(name))

  async function reopen(isCrash: boolean): Promise<void> {
    receiver.doubt()
    isClosing = true
    if (isCrash) folder = copyOfDatabase(app.folder).path
    await app.close()
    await receiver.flush()
    app = await openForwardingApp({ clock, monotonic, folder })
    isClosing = false
    receiver.doubt(isUnstored)
  }

  /** Whether the process ended before it stored the answer of a request. */
  function isUnstored(path: string, { id }: Seen): boolean {
    const endpoint = endpoints.find((one) => one.path === path)?.id ?? ''
    return app.rows(endpoint).some((row) => row.event_id === id && row.state === 'waiting')
  }

  async function run(ms: number): Promise<void> {
    await app.run(ms)
    uptime += ms
  }

  const commitFor = (step: { which: number }, work: (api: Endpoints, id: string) => unknown) => {
    const id = endpoints[step.which]?.id ?? ''
    return app.windfall.store.commit(() => void work(app.windfall.forwarding.endpoints, id))
  }
  const isSending = ({ which }: { which: number }): boolean =>
    ['active', 'failing'].includes(app.endpoint(endpoints[which]?.id ?? '').state)

  const players: { [What in Step['what']]: (step: Extract<Step, { what: What }>) => unknown } = {
    append: (step) => append(step),
    run: ({ ms }) => run(ms),
    'set the clock': ({ ms }) => clock.turn(ms),
    receive: ({ which }) => receiver.down.delete(PATHS[which] ?? ''),
    fail: ({ which }) => receiver.down.add(PATHS[which] ?? ''),
    pause: (step) => isSending(step) && commitFor(step, (api, id) => api.pause(id)),
    resume: ({ which }) => resume(endpoints[which], 'waiting'),
    'resume from now': ({ which }) => resume(endpoints[which], 'now'),
    filter: (step) => commitFor(step, (api, id) => api.change(id, { types: step.types })),
    restart: () => reopen(false),
    crash: () => reopen(true),
    erase: ({ user }) => erase(user),
  }

  async function append({ count, key, type, user }: Extract<Step, { what: 'append' }>): Promise<void> {
    const person = user !== null && { user: { app_user_id: user, proved_app_user_id: null } }
    const more = { type, subject: key, data: () => ({ ...person }) }
    for (const event of await app.append(count, more)) keys.set(event, key ?? event)
  }

  async function erase(app_user_id: string): Promise<void> {
    const { store, erasures, apps } = app.windfall
    receiver.doubt((_, { body }) => body.includes(app_user_id))
    erased.add(app_user_id)
    const user = { app_id: apps.list()[0]?.id ?? '', app_user_id, asked_by: 'test', even_unknown: true }
    await store.commit(() => erasures.erase(user))
  }

  let mostWaiting = 0
  for (const step of script) {
    await players[step.what](step as never)
    for (const { id } of endpoints)
      mostWaiting = Math.max(mostWaiting, app.rows(id).filter(({ state }) => state === 'waiting').length)
  }
  receiver.state.isRepaired = true
  for (const endpoint of endpoints) await resume(endpoint, 'waiting')
  await run(7 * DAY_MS)
  const { seen, busiest, clashes } = receiver
  return { app, endpoints, erased, seen, busiest, clashes, mostWaiting }
}
