/** A Windfall on the data of business.ts, with its clock at the end of the history. */
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { openApp } from '../../../src/app.ts'
import { preciseTime, systemClocks } from '../../../src/clock.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openLog } from '../../../src/log.ts'
import { schema } from '../../../src/store/schema/schema.ts'
import type { Bench } from '../bench.ts'
import { clockFrom } from '../clock_from.ts'
import { environmentOf } from '../database.ts'
import { BUSINESS_UNTIL } from './business.ts'
import { writeBusiness } from './business_file.ts'

export type BusinessApp = Awaited<ReturnType<typeof openBusiness>>

/** Opens `file` in this process. `get` requests a path of the API with a token for everything; `ms` is its duration. */
export async function openBusiness(file: string, folder: string, roots?: readonly string[]) {
  const clock = clockFrom(BUSINESS_UNTIL)
  const { config } = loadConfig({ env: { ...environmentOf(file), WINDFALL_LOG_LEVEL: 'error' }, cwd: folder })
  const log = openLog({ format: 'json', level: 'error' })
  const { monotonic } = systemClocks
  const windfall = await openApp({ config, clock, monotonic, log, ...(roots && { roots }) })
  const { token } = await windfall.store.commit(() =>
    windfall.tokens.create('bench', { organization_id: null, apps: null }),
  )
  const headers = { authorization: `Bearer ${token}` }

  async function get<Answer>(path: string): Promise<{ ms: number; answer: Answer }> {
    const startedAt = preciseTime()
    const response = await windfall.http.app.request(`/api/v1/${path}`, { headers })
    const text = await response.text()
    const ms = preciseTime() - startedAt
    if (response.status !== 200) throw new Error(`${path}: ${text}`)
    return { ms, answer: JSON.parse(text) }
  }

  return { windfall, get, close: windfall.close }
}

/** `seconds`: the duration of the first computation of all metrics; null if the file existed before. */
export type BusinessFile = { file: string; transactions: number; seconds: number | null }

/**
 * Returns the database of a business with its computed metrics. Creates the database if it does not exist. It is kept
 * in the folder WINDFALL_BENCH_FILES, or in a temporary folder without that variable.
 */
export async function ensureBusinessFile(bench: Bench): Promise<BusinessFile> {
  const { business_transactions: transactions } = bench.sizes
  const folder = process.env.WINDFALL_BENCH_FILES ?? bench.newFolder()
  mkdirSync(folder, { recursive: true })
  const schema_hash = createHash('sha256').update(schema).digest('hex')
  const file = join(folder, `business-${transactions}-${schema_hash.slice(0, 12)}.db`)
  if (existsSync(file)) return { file, transactions, seconds: null }
  const unfinished = `${file}.unfinished`
  const subscriptions = await writeBusiness(unfinished, folder, transactions)
  bench.print(`metrics: wrote ${transactions} transactions of ${subscriptions} subscriptions`)
  const seconds = await computeMetrics(bench, unfinished, folder)
  renameSync(unfinished, file)
  return { file, transactions, seconds }
}

async function computeMetrics(bench: Bench, file: string, folder: string): Promise<number> {
  const { windfall, close } = await openBusiness(file, folder)
  const began = preciseTime()
  const progressTimer = setInterval(() => {
    const done = windfall.metrics.progress()?.done
    if (done !== undefined) bench.print(`metrics: computed ${done} subscriptions`)
  }, 30_000)
  await windfall.metrics.rebuild()
  await windfall.metrics.whenCurrent()
  clearInterval(progressTimer)
  const seconds = (preciseTime() - began) / 1000
  await close()
  return seconds
}

/** Returns the path of a writable copy. */
export function copyBusiness(bench: Bench, { file }: BusinessFile): string {
  const copy = bench.newFile()
  copyFileSync(file, copy)
  return copy
}
