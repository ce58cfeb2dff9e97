/** A Windfall with the business of business.ts, at the end of its history. */
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { openApp } from '../../../src/app.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openLog } from '../../../src/log.ts'
import { schema } from '../../../src/store/schema/schema.ts'
import type { Bench } from '../bench.ts'
import { environmentOf } from '../database.ts'
import { BUSINESS_UNTIL } from './business.ts'
import { writeBusiness } from './business_file.ts'

export type BusinessApp = Awaited<ReturnType<typeof openBusiness>>

/** Opens it in this process, with a token that reads everything. `get` asks its API, and gives how long that took in ms. */
export async function openBusiness(file: string, folder: string, roots?: readonly string[]) {
  const began = performance.now()
  const clock = () => Math.floor(BUSINESS_UNTIL + performance.now() - began)
  const { config } = loadConfig({ env: { ...environmentOf(file), WINDFALL_LOG_LEVEL: 'error' }, cwd: folder })
  const log = openLog({ format: 'json', level: 'error' })
  const monotonic = () => performance.now()
  const windfall = await openApp({ config, clock, monotonic, log, ...(roots && { roots }) })
  const { token } = await windfall.store.commit(() =>
    windfall.tokens.create('bench', { organization_id: null, apps: null }),
  )
  const headers = { authorization: `Bearer ${token}` }

  async function get<Answer>(path: string): Promise<{ ms: number; answer: Answer }> {
    const startedAt = performance.now()
    const response = await windfall.http.app.request(`/api/v1/${path}`, { headers })
    const text = await response.text()
    const ms = performance.now() - startedAt
    if (response.status !== 200) throw new Error(`${path}: ${text}`)
    return { ms, answer: JSON.parse(text) }
  }

  return { windfall, get, close: windfall.close }
}

/** Seconds that it took to count everything for the first time; null where that was done before. */
export type Counted = { file: string; transactions: number; seconds: number | null }

/**
 * The file of a business of so many transactions with all that metrics come to. It is kept where the environment's
 * WINDFALL_BENCH_FILES says, and made where that has none.
 */
export async function businessFile(workshop: Bench): Promise<Counted> {
  const { business_transactions: transactions } = workshop.sizes
  const folder = process.env.WINDFALL_BENCH_FILES ?? workshop.newFolder()
  mkdirSync(folder, { recursive: true })
  const shape = createHash('sha256').update(schema).digest('hex')
  const file = join(folder, `business-${transactions}-${shape.slice(0, 12)}.db`)
  if (existsSync(file)) return { file, transactions, seconds: null }
  const unfinished = `${file}.unfinished`
  const subscriptions = await writeBusiness(unfinished, folder, transactions)
  workshop.print(`metrics: ${transactions} transactions of ${subscriptions} subscriptions are written`)
  const seconds = await countAll(workshop, unfinished, folder)
  renameSync(unfinished, file)
  return { file, transactions, seconds }
}

async function countAll(workshop: Bench, file: string, folder: string): Promise<number> {
  const { windfall, close } = await openBusiness(file, folder)
  const began = performance.now()
  const progressTimer = setInterval(() => {
    const done = windfall.metrics.progress()?.done
    if (done !== undefined) workshop.print(`metrics: ${done} subscriptions are counted`)
  }, 30_000)
  await windfall.metrics.rebuild()
  await windfall.metrics.whenCurrent()
  clearInterval(progressTimer)
  const seconds = (performance.now() - began) / 1000
  await close()
  return seconds
}

/** A copy of it that may be written to. */
export function copyOf(workshop: Bench, { file }: Counted): string {
  const copy = workshop.newFile()
  copyFileSync(file, copy)
  return copy
}
