/** Decompresses or parses a report in a separate process, without storing it. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { preciseTime } from '../../../src/clock.ts'
import { salesTable } from '../../../src/ledger/reports/formats/sales.ts'
import { rowsOf } from '../../../src/ledger/reports/formats/tsv.ts'
import { serveRequests } from '../child.ts'

/** `file` has the gzip report of `day` as Apple sends it. */
export type ParsingRequest = { step: 'unpack' | 'parse'; file: string; day: string }
export type Parsed = { seconds: number; rows: number }

async function parse(body: Buffer, day: string): Promise<number> {
  let count = 0
  for await (const rows of rowsOf(body, salesTable(day))) count += rows.length
  return count
}

async function handle(message: ParsingRequest): Promise<Parsed> {
  const body = readFileSync(message.file)
  const began = preciseTime()
  const rows = message.step === 'parse' ? await parse(body, message.day) : gunzipSync(body).length && 0
  return { seconds: (preciseTime() - began) / 1000, rows }
}

serveRequests<ParsingRequest>(handle, async () => {})
