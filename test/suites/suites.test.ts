/** Which files run alone. */
import { expect, test } from 'vitest'
import { read, TESTS } from '../tidy/files.ts'
import { ALONE } from './suites.ts'

/** Their limit is many times what they need, and far less than the wait that they exclude. */
const WITH_WIDE_LIMITS = [
  'test/metrics/series/query_scheduling.test.ts',
  'test/metrics/upkeep/full_disk.test.ts',
  'test/offsite/refusals.test.ts',
  'test/offsite/uploads.test.ts',
]

test('a test that measures time or turns runs alone', () => {
  const isTest = (file: string): boolean =>
    /\.(test|fault)\.ts$/.test(file) && !file.startsWith('test/suites/')
  const measuring = TESTS.filter(
    (file) =>
      isTest(file) && /\blongestTurn\(|performance\.now\(\) - |performance\.now\(\) </.test(read(file)),
  )
  expect(measuring.filter((file) => !WITH_WIDE_LIMITS.includes(file))).toEqual(ALONE)
})
