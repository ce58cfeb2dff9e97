/** A server under constant load keeps its memory and its file descriptors. */
import { readdirSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { Pool, request } from 'undici'
import { expect, test } from 'vitest'
import { openAuthority } from '../../src/demo/signing/authority.ts'
import { readMemory } from '../bench/memory.ts'
import { folderOf, type Serving, startServing } from '../processes.ts'
import { isLong, seed } from '../random.ts'
import { bundledServing } from './bundled.ts'
import { type Call, CONFIG, callsOf, PATHS } from './load.ts'

const MINUTES = Number(process.env.WINDFALL_SOAK_MINUTES ?? 20)
/** The shares of the duration at which the heap is measured: minutes 5, 12 and 20 of 20. */
const MEASURED_AT = [0.25, 0.6, 1]
const CAPACITY_SECONDS = 10
const SHARE_OF_CAPACITY = 0.2
const CONNECTIONS = 16
const TICK_MS = 50
const MIB = 1_048_576

/** Posts calls to the server, and counts those that were not answered with 200. */
function openSender(url: string, calls: Iterator<Call>) {
  const openPool = () => new Pool(url, { connections: CONNECTIONS })
  let pool = openPool()
  const refusals = new Map<number, number>()
  let answered = 0

  /** Closes the connections, of which the server has otherwise closed some that were idle. */
  async function disconnect(): Promise<void> {
    await pool.close()
    pool = openPool()
    // The server answers this on a connection of its own, after it has seen that the others are closed.
    const { body } = await request(`${url}/healthz`, { reset: true })
    await body.dump()
  }

  async function send(): Promise<void> {
    const { value, done } = calls.next()
    if (done) throw new Error('the simulated company has no more calls; raise the number of subscribers')
    const { step } = value
    const { statusCode, body } = await pool.request({
      path: PATHS[step.kind],
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(step.body),
    })
    await body.dump()
    answered += 1
    if (statusCode !== 200) refusals.set(statusCode, (refusals.get(statusCode) ?? 0) + 1)
  }

  /** Posts as fast as the server answers, for `ms`, and returns the calls a second. */
  async function capacity(ms: number): Promise<number> {
    const until = performance.now() + ms
    const before = answered
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        while (performance.now() < until) await send()
      }),
    )
    return (answered - before) / (ms / 1000)
  }

  /** Posts `rate` calls a second until `until` (by `performance.now()`). */
  async function pace(rate: number, until: number): Promise<void> {
    const began = performance.now()
    let sent = 0
    let failure: unknown
    const running = new Set<Promise<void>>()
    for (let now = began; now < until && failure === undefined; now = performance.now()) {
      for (; sent < ((now - began) / 1000) * rate; sent += 1) {
        const call = send()
          .catch((error: unknown) => {
            failure = error
          })
          .finally(() => running.delete(call))
        running.add(call)
      }
      await setTimeout(TICK_MS)
    }
    await Promise.all(running)
    if (failure !== undefined) throw failure
  }

  return { capacity, pace, disconnect, refusals, close: () => pool.destroy() }
}

/** The heap in MiB after a collection, and the number of open descriptors. */
async function measure(running: Serving, heaps: number) {
  running.kill('SIGUSR2')
  const lines = await running.until(() => {
    const found = running.lines().filter(({ message }) => message === 'heap')
    return found.length > heaps ? found : null
  })
  const descriptors = readdirSync(`/proc/${running.pid}/fd`).length
  return { heap: Number(lines.at(-1)?.bytes) / MIB, descriptors }
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

test.runIf(isLong && process.platform === 'linux')(
  `${MINUTES} minutes at a fifth of the capacity leave heap, resident memory and descriptors as they are`,
  { timeout: (MINUTES + 3) * 60_000 },
  async () => {
    const authority = await openAuthority({ now: Date.now() })
    const running = await startServing({
      cwd: folderOf({ 'config.toml': CONFIG }),
      entry: await bundledServing('soak_serving.ts'),
      env: { ROOT_PEM: authority.root_pem },
    })
    const sender = openSender(running.url, callsOf({ seed, subscribers: 40_000, authority }))
    const rate = (await sender.capacity(CAPACITY_SECONDS * 1000)) * SHARE_OF_CAPACITY
    const resident: number[] = []
    const points: { heap: number; descriptors: number }[] = []
    const began = performance.now()
    for (const share of MEASURED_AT) {
      const until = began + share * MINUTES * 60_000
      const sampling = setInterval(() => resident.push(readMemory(running.pid, 'resident') ?? 0), 1_000)
      await sender.pace(rate, until).finally(() => clearInterval(sampling))
      await sender.disconnect()
      points.push(await measure(running, points.length))
    }
    await sender.close()
    const ratio = Math.max(...resident) / median(resident)
    process.stdout.write(
      `soak: ${Math.round(rate)} calls a second; heap ${points.map(({ heap }) => heap.toFixed(1)).join(', ')} MiB; ` +
        `resident median ${median(resident).toFixed(0)} MiB, maximum ${ratio.toFixed(2)} × it; ` +
        `descriptors ${points.map(({ descriptors }) => descriptors).join(', ')}\n`,
    )
    expect([...sender.refusals]).toEqual([])
    expect((points.at(-1)?.heap ?? 0) - (points[0]?.heap ?? 0)).toBeLessThanOrEqual(2)
    expect(ratio).toBeLessThanOrEqual(1.2)
    expect(new Set(points.map(({ descriptors }) => descriptors)).size).toBe(1)
  },
)
