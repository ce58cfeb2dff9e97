import { expect, onTestFinished, test } from 'vitest'
import { progressText } from '../../../src/cli/data/import.ts'
import { openControl } from '../../../src/control/socket.ts'
import { verbsOf } from '../../../src/control/verbs.ts'
import { emptyImportCounts, type ImportProgress } from '../../../src/ledger/reports/import_stats.ts'
import { openApple } from '../../ledger/reports/apple.ts'
import { DAY, sale } from '../../ledger/reports/samples.ts'
import { folderOf, run } from '../../processes.ts'

/** A Windfall that listens for commands, and an Apple that it asks. */
async function openServing(hosts = {}) {
  const apple = await openApple()
  const app = await apple.openWindfall(hosts)
  const control = await openControl(app.config.store.path, verbsOf(app.windfall), app.windfall.log)
  onTestFinished(control.close)
  return { apple, app, runImport: (args: string[]) => run(['import', ...args], { cwd: app.folder }) }
}

test('imports through the server, shows the progress and a summary', async () => {
  const { apple, app, runImport } = await openServing()
  apple.setReply('sales', DAY, [sale(), sale()])
  apple.setReply('sales', '2026-04-30', 'not_yet')
  const { status, stdout, stderr } = await runImport(['--days', '3'])
  expect([status, stdout, stderr.replace(/^\d+ of .*\n/gm, '')]).toEqual([
    0,
    'daily reports: 1 read, 10 without sales, 1 not available yet; 2 rows.\n',
    '',
  ])
  expect(app.imports.lastRun()).toMatchObject({ read: 1, empty: 10, not_yet: 1 })
  expect(await runImport(['--days', '13'])).toMatchObject({
    status: 0,
    stdout: 'daily reports: 40 without sales; 0 rows.\n',
  })
  expect(await runImport(['--days', '13'])).toMatchObject({
    status: 0,
    stdout:
      'nothing was due: 1 report of 2026-04-30 is not available yet; next attempt at 2026-05-02 19:30Z.\n',
  })
})

test('stops at the first host that cannot be resolved, without failed days', async () => {
  const { app, runImport } = await openServing({ connect: 'http://appstoreconnect.invalid' })
  const { status, stdout, stderr } = await runImport(['--days', '1'])
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(
    /Stopped: appstoreconnect\.invalid could not be reached \(E\w+\).*; resumes at 20\d\d-\d\d-\d\d \d\d:\d\dZ\n$/,
  )
  expect(stderr).not.toMatch(/left|failed/)
  expect(app.imports.lastRun()).toMatchObject({ failed: 0 })
  expect(app.imports.counts(app.organization.id)).toEqual([])
})

test('without a vendor number, nothing is imported', async () => {
  const { app, runImport } = await openServing()
  const accounts = app.windfall.accounts.list().map((account) => ({ ...account, vendor_numbers: [] }))
  app.windfall.accounts.declare(accounts)
  expect(await runImport([])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'Not imported: there is no vendor number (npm run -s windfall -- connect).\n',
  })
  const outcome = async () => (await app.windfall.jobs.runNow('import')).outcome
  expect(await outcome()).toBe('not asked: there is no vendor number (windfall connect)')
  app.windfall.accounts.declare([])
  expect(await outcome()).toBe('not asked: no App Store Connect key (windfall connect)')
})

test('reports failed days and a stopped run, and exits with an error', async () => {
  const { apple, runImport } = await openServing()
  apple.setReply('sales', DAY, [sale({ Units: 'x' })])
  expect(await runImport(['--days', '1'])).toMatchObject({
    status: 1,
    stdout: 'daily reports: 3 without sales, 1 failed; 0 rows.\n',
    stderr: expect.stringContaining('Windfall retries failed days automatically.'),
  })
  for (const kind of ['sales', 'subscription', 'subscription_event'] as const)
    apple.setReply(kind, '2026-04-30', 'wrong')
  const stopped = await runImport(['--days', '2'])
  expect(stopped.status).toBe(1)
  expect(stopped.stderr).toContain('Stopped: vendor number 85421907: ')
})

test('refuses missing keys and wrong options with what to do', async () => {
  const cwd = folderOf()
  await run(['apps', 'add', 'com.example.app'], { cwd })
  expect(await run(['import'], { cwd })).toMatchObject({
    status: 1,
    stdout: '',
    stderr: 'no Apple API keys are configured; run npm run -s windfall -- connect\n',
  })
  for (const days of ['0', '401', 'x', '1.5']) {
    expect(await run(['import', '--days', days], { cwd })).toMatchObject({
      status: 2,
      stderr: `--days must be a number from 1 to 400, not ${days}\n`,
    })
  }
  expect((await run(['import', '--day', '3'], { cwd })).status).toBe(2)
})

const far: ImportProgress = {
  started_at: 0,
  done: 0,
  of: 1_460,
  is_first: true,
  per_second: null,
  seconds_left: null,
  reading: null,
  waiting_until: null,
  tally: emptyImportCounts(),
}
const reading = { organization_id: 'o', vendor_number: 'v', kind: 'subscription_event', day: DAY } as const

test.each<[string, Partial<ImportProgress>, string]>([
  ['at its beginning', {}, '0 of 1460 daily reports'],
  ['when there is but one', { of: 1 }, '0 of 1 daily report'],
  [
    'under way',
    { done: 365, per_second: 12.34, seconds_left: 89, reading },
    `365 of 1460 daily reports, 12.3 a second, 89 s left, subscription event of ${DAY}`,
  ],
  [
    'slow',
    { done: 9, per_second: 0.1, seconds_left: 14_500 },
    '9 of 1460 daily reports, 0.1 a second, 4.0 h left',
  ],
  [
    'waiting',
    { done: 9, per_second: 2, seconds_left: 600, reading, waiting_until: Date.UTC(2026, 4, 2, 20, 15) },
    '9 of 1460 daily reports, 2.0 a second, 10 min left, waiting for Apple’s hourly budget until 2026-05-02 20:15Z',
  ],
  [
    'with failures',
    { done: 1, tally: { ...emptyImportCounts(), failed: 2 } },
    '1 of 1460 daily reports, 2 failed',
  ],
  [
    'at its end',
    { done: 1_460, per_second: 10, seconds_left: 0 },
    '1460 of 1460 daily reports, 10.0 a second',
  ],
])('%s it is told in words', (_, more, words) => {
  expect(progressText({ ...far, ...more })).toBe(words)
})
