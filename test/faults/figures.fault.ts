/** Kills processes while another generation is built and purchases arrive. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { callControl } from '../../src/control/socket.ts'
import { openAuthority } from '../../src/demo/signing/authority.ts'
import { APPS } from '../../src/demo/world/catalogue.ts'
import { openRandom } from '../../src/demo/world/random.ts'
import { Refusal } from '../../src/errors.ts'
import { folderOf, type Serving, startServing } from '../processes.ts'
import { isLong, seed } from '../random.ts'
import { bundledServing } from './bundled.ts'
import { type Call, CONFIG, callsOf, post } from './load.ts'

const KILLS = isLong ? 200 : 20
/** The number of kills between two comparisons. */
const COMPARED_AFTER = 4
/** The notifications before the first kill, and those before each further kill. */
const CALLS_BEFORE = isLong ? 2_500 : 900
const CALLS_BETWEEN = isLong ? 200 : 60
const LIVES_MOST_MS = 400

const DAY = 86_400_000

/** Returns the next calls of the history. `putBack` returns calls to the front. */
function openQueue(calls: Iterator<Call>) {
  let back: Call[] = []
  return {
    take: (most: number): Call[] => {
      const taken = back.splice(0, most)
      while (taken.length < most) {
        const next = calls.next()
        if (next.done) break
        taken.push(next.value)
      }
      return taken
    },
    putBack: (some: readonly Call[]): void => {
      back = [...some, ...back].sort((a, b) => a.number - b.number)
    },
  }
}

/** Errors that a command may return because of the kill, or because a rate was already revoked. */
const isCutOff = (error: unknown): boolean =>
  error instanceof Refusal && ['no_answer', 'unknown_rate'].includes(error.code)

test(`figures match the facts after ${KILLS} kills while another generation is built (seed ${seed})`, {
  timeout: isLong ? 1_800_000 : 180_000,
}, async () => {
  const random = openRandom(`figures/${seed}`)
  const authority = await openAuthority({ now: Date.now() })
  const cwd = folderOf({ 'config.toml': CONFIG })
  const program = { cwd, entry: await bundledServing('counting.ts'), env: { ROOT_PEM: authority.root_pem } }
  const queue = openQueue(callsOf({ seed, subscribers: isLong ? 2_000 : 300, authority }))
  const database = join(cwd, 'data/windfall.db')
  const refused: string[] = []

  const perform = async (verb: string, args: object = {}): Promise<unknown> =>
    (await callControl(database, verb, args))?.result
  const dayAgo = (days: number): string => new Date(Date.now() - days * DAY).toISOString().slice(0, 10)

  async function load({ url }: Serving, most: number): Promise<void> {
    const some = queue.take(most)
    const unanswered = await post(
      some[Symbol.iterator](),
      { url, clients: 8 },
      {
        sending: () => {},
        answered: ({ step }, status, body) => {
          if (status !== 200) refused.push(`${step.kind}: ${status} ${body}`)
        },
      },
    )
    queue.putBack(unanswered)
  }

  function declare(): Promise<unknown> {
    const [time_zone, currency] = [random.pick(['UTC', 'Asia/Tokyo']), random.pick(['USD', 'EUR'])]
    const organization = `[[organizations]]\nslug = "default"\ntime_zone = "${time_zone}"\ncurrency = "${currency}"\n`
    const commission = `[metrics]\ncommission_percent = ${random.whole(20, 30)}\n`
    writeFileSync(join(cwd, 'config.toml'), `${CONFIG}\n${commission}${organization}`, { mode: 0o600 })
    return perform('config.reload')
  }

  function importRates(): Promise<unknown> {
    const days = Array.from({ length: 60 }, (_, index) => dayAgo(index * 12 + random.whole(0, 11)))
    const costs = { EUR: () => random.whole(80, 95) / 100, JPY: () => random.whole(130, 150) }
    const lines = days.flatMap((on) => Object.entries(costs).map(([code, cost]) => `${on},${code},${cost()}`))
    return perform('rates.import', { csv: ['date,currency,rate', ...lines].join('\n'), base: 'USD' })
  }

  async function takeBack(): Promise<void> {
    const shown = (await perform('rates.show', { currency: 'EUR', days: 700 })) as {
      rates: { rated_on: string }[]
    }
    if (shown.rates.length > 0)
      await perform('rates.remove', { currency: 'EUR', day: random.pick(shown.rates).rated_on })
  }

  function learnPeriod(): Promise<unknown> {
    const { bundle_id, plans } = random.pick(APPS)
    const { product_id } = random.pick(plans)
    return perform('test.period', { bundle_id, product_id, period: random.pick(['P1M', 'P1Y', 'P1W']) })
  }

  const changes = [() => perform('metrics.rebuild'), declare, declare, importRates, takeBack, learnPeriod]

  /** Lets the server work with some changes, and kills it during them. */
  async function live(running: Serving): Promise<void> {
    const begun = Array.from({ length: random.whole(1, 3) }, () => random.pick(changes)())
    const loaded = load(running, CALLS_BETWEEN)
    await delay(random.between(0, LIVES_MOST_MS))
    running.kill('SIGKILL')
    const ended = await Promise.allSettled([loaded, ...begun])
    refused.push(
      ...ended.flatMap((one) =>
        one.status === 'rejected' && !isCutOff(one.reason) ? [String(one.reason)] : [],
      ),
    )
    expect((await running.ended).signal).toBe('SIGKILL')
  }

  let running = await startServing(program)
  await load(running, CALLS_BEFORE)
  await importRates()
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await live(running)
    running = await startServing(program)
    if (kill % COMPARED_AFTER === 0) expect([kill, await perform('test.compare')]).toEqual([kill, []])
  }
  running.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ status: 0, signal: null })
  expect(refused).toEqual([])
})
