/** Concurrent clients, like Apple and client apps, of a server that may crash. */
import { Pool } from 'undici'
import type { Authority } from '../../src/demo/signing/authority.ts'
import { openSimulation } from '../../src/demo/simulation.ts'
import { APPS } from '../../src/demo/world/catalogue.ts'
import { openRandom, type Random } from '../../src/demo/world/random.ts'
import type { Step } from '../../src/demo/world/steps.ts'

const TWO_YEARS_MS = 2 * 365 * 86_400_000
/** The path of each kind of call. */
export const PATHS = {
  notification: '/apple/notifications',
  identify: '/api/sdk/v1/identify',
  attribute: '/api/sdk/v1/attribute',
} as const

/** One call to post. Calls with the same `key` are posted in order, one at a time. */
export type Call = { number: number; step: Step; key: string | null }

const APPS_TOML = APPS.map(
  ({ bundle_id, android_package }) =>
    `[[apps]]\nbundle_id = "${bundle_id}"\n${android_package ? `android_package = "${android_package}"\n` : ''}`,
)

/** A config.toml that connects the apps of the simulated company, with a rate limit that they do not reach. */
export const CONFIG = ['[limits]', 'sdk_requests_per_minute = 100000', ...APPS_TOML].join('\n')

/** An identify call of a returning user with a changed attribute. */
function regularOf(random: Random, number: number): Step {
  const { bundle_id } = random.pick(APPS)
  const attributes = { [`fact${random.whole(1, 12)}`]: number, last: `call ${number}` }
  const body = {
    appUserId: `regular-${random.whole(1, 25)}`,
    bundleId: bundle_id,
    platform: 'ios',
    attributes,
  }
  return { kind: 'identify', at: 0, bundle_id, body, proof: null }
}

function keyOf({ kind, bundle_id, body }: Step): string | null {
  if (kind === 'notification') return null
  if (kind === 'identify') return `user ${bundle_id} ${body.appUserId}`
  return `link ${bundle_id} ${body.originalTransactionId ?? body.purchaseToken}`
}

/** The call of a step. */
export const callOf = (step: Step, number: number): Call => ({ number, step, key: keyOf(step) })

/** Generates the calls of a simulated company, mixed with calls of a few returning users. */
export function* callsOf(options: {
  seed: number
  subscribers: number
  authority: Authority
}): Generator<Call> {
  const { seed, subscribers, authority } = options
  const random = openRandom(`faults/${seed}`)
  const until = Date.now()
  const from = until - TWO_YEARS_MS
  const simulation = openSimulation({ seed, from, until, subscribers, edgeCases: true, authority })
  let number = 0
  const call = (step: Step): Call => callOf(step, number++)
  for (const step of simulation.steps()) {
    yield call(step)
    if (random.chance(0.4)) yield call(regularOf(random, number))
  }
}

/** Called before each call is sent, and after each response. */
type Listener = {
  sending: (call: Call) => void
  answered: (call: Call, status: number, body: string) => void
}

/**
 * Posts calls on `clients` connections until none are left or the server is gone. Resolves with the calls that got no
 * response, in order.
 */
export async function post(
  calls: Iterator<Call>,
  to: { url: string; clients: number },
  { sending, answered }: Listener,
): Promise<Call[]> {
  const pool = new Pool(to.url, { connections: to.clients, pipelining: 1 })
  const unanswered: Call[] = []
  const latest = new Map<string, Promise<void>>()

  async function send({ step }: Call): Promise<{ status: number; text: string }> {
    const { statusCode, body } = await pool.request({
      path: PATHS[step.kind],
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(step.body),
    })
    return { status: statusCode, text: await body.text() }
  }

  async function postOne(call: Call, before: Promise<void> | undefined): Promise<void> {
    await before
    sending(call)
    const { status, text } = await send(call)
    answered(call, status, text)
  }

  async function client(): Promise<void> {
    for (let next = calls.next(); !next.done; next = calls.next()) {
      const call = next.value
      const posted = postOne(call, call.key === null ? undefined : latest.get(call.key))
      if (call.key !== null) latest.set(call.key, posted)
      try {
        await posted
      } catch {
        unanswered.push(call)
        return
      }
    }
  }

  await Promise.all(Array.from({ length: to.clients }, client))
  await pool.destroy()
  return unanswered.sort((a, b) => a.number - b.number)
}
