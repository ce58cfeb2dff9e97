import { expect, test } from 'vitest'
import type { LookupRunOutcome, ReconcileOutcome } from '../../../src/ledger/history/job_outcomes.ts'
import {
  describeBackfill,
  describeLookups,
  describeReconciliation,
  describeRun,
} from '../../../src/ledger/history/job_outcomes.ts'

const compared = (changes: Partial<ReconcileOutcome> = {}): ReconcileOutcome => ({
  bundle_id: 'com.a',
  environment: 'production',
  state: 'done',
  problem: null,
  retry_at: null,
  ...changes,
})
const failed = (problem: string, retry_at: number | null = null) =>
  compared({ state: 'failed', problem, retry_at })

test('describes a run in one line, with its faults', () => {
  expect(describeReconciliation([])).toBe('nothing was missing')
  expect(describeReconciliation([compared({ recovered: 2 }), compared({ recovered: 3 })])).toBe(
    'recovered 5 missing notifications',
  )
  expect(describeReconciliation([compared(), failed('no')])).toBe(
    'nothing was missing; but com.a (production): no',
  )
  expect(describeBackfill([])).toBe('nothing is left to read')
  const read = { ...compared(), state: 'done', stage: 'done' } as const
  expect(describeBackfill([read, { ...read, environment: 'sandbox' }])).toBe(
    'read all of Apple’s history of com.a',
  )
  const looked: LookupRunOutcome = { ...read, requested: 3, found: 2, waiting: 1 }
  expect(describeLookups([looked, looked])).toBe('looked up 6 ids, found 4')
})

test('reports a run as skipped if Apple was not queried', async () => {
  const fine = () => Promise.resolve('nothing was missing')
  expect(await describeRun({ connected: 2, without_key: [] }, fine)).toBe('nothing was missing')
  expect(await describeRun({ connected: 2, without_key: ['com.b'] }, fine)).toBe(
    'nothing was missing; skipped com.b: no In-App Purchase key (windfall connect)',
  )
  expect(describeReconciliation([compared({ state: 'waiting' })])).toMatch(/^waiting for the backfill/)
})

test('throws when all runs failed, with the time of the next attempt', () => {
  const thrown = (all: readonly ReconcileOutcome[]) => {
    try {
      return describeReconciliation(all)
    } catch (error) {
      return error
    }
  }
  expect(thrown([failed('no', 7), failed('not now', 5)])).toMatchObject({
    message: 'com.a (production): no; com.a (production): not now',
    retry_at: 5,
  })
  expect(thrown([failed('no', 7), failed('never')])).toMatchObject({ retry_at: null })
})
