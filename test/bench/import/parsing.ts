/** Reads a report without storing it, in a separate process: unpacked only, and parsed. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { salesTable } from '../../../src/ledger/reports/formats/sales.ts'
import { rowsOf } from '../../../src/ledger/reports/formats/tsv.ts'
import { answerRequests } from '../child.ts'

/** The bytes of a report of `day`, as Apple sends it, in a file. */
export type ParsingRequest = { do: 'unpack' | 'parse'; file: string; day: string }
export type Parsed = { seconds: number; rows: number }

async function parse(body: Buffer, day: string): Promise<number> {
  let count = 0
  for await (const rows of rowsOf(body, salesTable(day))) count += rows.length
  return count
}

async function answer(question: ParsingRequest): Promise<Parsed> {
  const body = readFileSync(question.file)
  const began = performance.now()
  const rows = question.do === 'parse' ? await parse(body, question.day) : gunzipSync(body).length && 0
  return { seconds: (performance.now() - began) / 1000, rows }
}

answerRequests<ParsingRequest>(answer, async () => {})
