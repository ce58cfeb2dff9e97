import { expect, test } from 'vitest'
import { browserName } from '../../../src/web/ui/settings/access/browsers.ts'
import { CALLS, LANGUAGES, snippet } from '../../../src/web/ui/settings/access/snippets.ts'
import { sectionsWith, sectionTitle } from '../../../src/web/ui/settings/finding.ts'
import { isWaiting } from '../../../src/web/ui/settings/job_state.ts'
import { groupMissingDays } from '../../../src/web/ui/settings/missing_day_groups.ts'
import { bytes, duration, grouped, money, sentence, shortMoney } from '../../../src/web/ui/words.ts'

const FILLED = { base_url: 'https://wf.example.com', key: 'pk_live_1', bundle_id: 'com.example.tides' }

test('writes snippets with the endpoint and, if given, the key', () => {
  for (const language of LANGUAGES)
    for (const call of CALLS) {
      const text = snippet(language, call, FILLED)
      expect(text).toContain(`https://wf.example.com/api/sdk/v1/${call}`)
      expect(text).toContain('Bearer pk_live_1')
      expect(snippet(language, call, { ...FILLED, key: null })).not.toContain('Authorization')
    }
})

test('sends bodies from curl and JavaScript that the endpoint accepts', () => {
  const [, body = ''] = /-d '(.*)'$/.exec(snippet('curl', 'attribute', FILLED)) ?? []
  expect(JSON.parse(body)).toMatchObject({
    appUserId: 'user_42',
    bundleId: 'com.example.tides',
    originalTransactionId: '2000000123456789',
  })
  const [, script = ''] =
    /JSON\.stringify\(([\s\S]*)\),\n}\)$/.exec(snippet('JavaScript', 'identify', FILLED)) ?? []
  expect(JSON.parse(script)).toMatchObject({ bundleId: 'com.example.tides', attributes: { plan: 'pro' } })
})

test('groups missing days by reason, newest first', () => {
  const hole = (day_on: string, reason: string, due_at: number | null) => ({
    vendor_number: '1',
    report: 'sales' as const,
    day_on,
    state: 'failed' as const,
    reason,
    tries: 1,
    asked_at: 0,
    due_at,
  })
  const groups = groupMissingDays([
    hole('2026-01-01', 'Apple is away', 9),
    hole('2026-01-03', 'Apple is away', 5),
    hole('2026-01-02', 'not a report', null),
  ])
  expect(groups).toEqual([
    {
      report: 'sales',
      state: 'failed',
      reason: 'Apple is away',
      days: ['2026-01-03', '2026-01-01'],
      due_at: 5,
    },
    { report: 'sales', state: 'failed', reason: 'not a report', days: ['2026-01-02'], due_at: null },
  ])
})

test('finds settings by name and description, and those that are set', () => {
  const setting = (path: string, source: 'default' | 'file') => ({
    path,
    key: path,
    value: 1,
    is_secret: false,
    is_set: true,
    source,
    place: null,
    default: null,
    variable: 'X',
    reason: `About ${path}`,
    needs_restart: false,
  })
  const sections = [
    {
      name: 'server',
      reason: '',
      settings: [setting('server.port', 'file'), setting('server.host', 'default')],
    },
    { name: 'log', reason: '', settings: [setting('log.level', 'default')] },
  ]
  const paths = (word: string, isOwn: boolean) =>
    sectionsWith(sections, word, isOwn).flatMap(({ settings }) => settings.map(({ path }) => path))
  expect(paths('', false)).toEqual(['server.port', 'server.host', 'log.level'])
  expect(paths(' LEVEL ', false)).toEqual(['log.level'])
  expect(paths('about server', true)).toEqual(['server.port'])
  expect(paths('nothing', false)).toEqual([])
})

test('titles a section in words', () => {
  expect(['', 'server', 'alert_channels'].map(sectionTitle)).toEqual(['General', 'Server', 'Alert channels'])
})

test('names a browser correctly although it claims to be others', () => {
  const phone =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1'
  expect(browserName(phone)).toBe('Safari on iPhone')
  const edge =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0'
  expect(browserName(edge)).toBe('Edge on Windows')
  expect(browserName('curl/8.9.1')).toBe('curl')
  expect(browserName('')).toBe('Unknown client')
})

test('formats sizes and durations in a suitable unit', () => {
  expect(bytes(12_345_678)).toBe('12.3 MB')
  expect(bytes(0)).toBe('0 bytes')
  expect(duration(250)).toBe('250 ms')
  expect(duration(5_800)).toBe('5.8 sec')
  expect(duration(7_200_000)).toBe('2 hr')
})

test('capitalizes texts but not names', () => {
  expect(sentence('incorrect password')).toBe('Incorrect password')
  expect(sentence('com.example.tides, production: all is here')).toBe(
    'com.example.tides, production: all is here',
  )
  expect(sentence('done. And more')).toBe('Done. And more')
  expect(sentence('')).toBe('')
})

test('formats large numbers in server texts and changes nothing else', () => {
  expect(grouped('daily reports: 1460 done; 1234567 rows')).toBe('daily reports: 1,460 done; 1,234,567 rows')
  expect(grouped('12345 kept, 200 left (2000).')).toBe('12,345 kept, 200 left (2,000).')
  for (const same of [
    'up to 2026-05-02',
    '999 rows',
    'com.app.2048',
    'cus_12345',
    '1234.5678 ms',
    '1234:56',
    '1,234',
  ])
    expect(grouped(same)).toBe(same)
})

test('an amount of zero has no sign, also if it is rounded or negated', () => {
  expect([0, -0, -4].map((milli) => money(milli, 'USD'))).toEqual(['$0.00', '$0.00', '$0.00'])
  expect([money(-4, null), shortMoney(-0, 'USD')]).toEqual(['0', '$0'])
  expect(money(-5, 'USD')).toBe('-$0.01')
})

test('a job whose outcome is that it waits has not succeeded', () => {
  expect(isWaiting({ outcome: 'waiting for the backfill to read Apple’s history' })).toBe(true)
  expect([isWaiting({ outcome: '3 apps compared' }), isWaiting({ outcome: null })]).toEqual([false, false])
})
