import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../folders.ts'
import { windfall } from '../command.ts'

const env = { WINDFALL_RATES_FETCH: 'false' }

function folderWith(csv: string): { cwd: string; env: Record<string, string> } {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  writeFileSync(join(path, 'rates.csv'), csv)
  windfall(['apps', 'add', 'com.example.app'], { cwd: path, env })
  return { cwd: path, env }
}

test('imports rates from a file once, shows and lists them', () => {
  const at = folderWith(
    'date,currency,rate\n2026-03-02,USD,1.25\n2026-03-02,JPY,187.5\n2026-03-03,USD,1.25\n',
  )
  const first = windfall(['rates', 'import', 'rates.csv', '--base', 'eur'], at)
  expect(first).toEqual({ status: 0, stderr: '', stdout: 'Added 3 rates on 2 days.\n' })
  const again = windfall(['rates', 'import', 'rates.csv', '--base', 'EUR'], at)
  expect(again.stdout).toBe('Added 0 rates on 2 days.\n3 were already present.\n')
  const shown = windfall(['rates', 'show', 'eur', '--days', '99999'], at)
  expect(shown.stdout).toBe(
    'day         per dollar  source\n2026-03-03  0.8         import\n2026-03-02  0.8         import\n',
  )
  const listed = windfall(['rates'], at).stdout.split('\n')
  expect(listed[0]).toMatch(/^currency {2}per dollar {2}from +to +source +days without$/)
  expect(listed.find((line) => line.startsWith('JPY'))).toMatch(
    /^JPY +150 +2026-03-02 +2026-03-02 +import +-$/,
  )
})

test('refuses a file with errors and lists each error with its line', () => {
  const at = folderWith('date,currency,rate\n2026-03-02,EUR,0.92\n2026-03-32,EUR,0.92\n2026-03-03,EUR,-1\n')
  expect(windfall(['rates', 'import', 'rates.csv'], at)).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'nothing was imported:\n  line 3: "2026-03-32" is not a date; use the format 2026-01-31\n' +
      '  line 4: "-1" is not a rate; use a number above zero, such as 0.8612\n',
  })
  expect(windfall(['rates', 'import', 'other.csv'], at)).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/other\.csv does not exist\n$/),
  })
})

test('reports a rate that differs from the stored one and keeps the stored one until it is removed', () => {
  const at = folderWith('date,currency,rate\n2026-03-02,EUR,0.86\n')
  expect(windfall(['rates', 'import', 'rates.csv'], at)).toMatchObject({
    status: 0,
    stdout: 'Added 1 rate on 1 day.\n',
  })
  writeFileSync(join(at.cwd, 'rates.csv'), 'date,currency,rate\n2026-03-02,EUR,0.87\n')
  expect(windfall(['rates', 'import', 'rates.csv'], at)).toEqual({
    status: 1,
    stdout: 'Added 0 rates on 1 day.\n',
    stderr:
      'EUR on 2026-03-02: 0.87 for one USD differs from the stored rate (0.86); not changed (npm run -s windfall -- rates remove EUR 2026-03-02 removes it)\n',
  })
  expect(windfall(['rates', 'remove', 'eur', '2026-03-02'], at)).toEqual({
    status: 0,
    stdout: 'Removed the rate of EUR on 2026-03-02 (0.86). Amounts converted at it are recomputed.\n',
    stderr: '',
  })
  expect(windfall(['rates', 'import', 'rates.csv'], at).status).toBe(0)
  expect(windfall(['rates', 'show', 'ZZZ'], at)).toEqual({
    status: 1,
    stdout: '',
    stderr: 'ZZZ is not a currency\n',
  })
  expect(windfall(['rates', 'remove', 'EUR', 'march'], at)).toMatchObject({ status: 2, stdout: '' })
  expect(windfall(['rates', 'import', '--help'], at).stdout).toContain('0.86 for EUR means 1 USD = 0.86 EUR')
  const { stdout } = windfall(['rates'], at)
  expect(stdout.split('\n')).toHaveLength(4)
  expect(stdout).toContain('Without a rate on any day (42 of 43): AED AUD ')
})

test('lists jobs by default, and runs a job by name', () => {
  const at = folderWith('')
  expect(windfall(['jobs', 'run', 'housekeeping'], at).stdout).toBe(
    'housekeeping: deleted 0 expired pending notifications\n',
  )
  const { stdout } = windfall(['jobs'], at)
  expect(stdout).toMatch(/^job +schedule +last run +took +next +outcome\n/)
  expect(stdout).toMatch(
    /\nhousekeeping +17 \* \* \* \* +\S+ \S+Z +\d+ ms +\S.* +deleted 0 expired pending notifications\n/,
  )
})
