/** The script for Scriptable: every family, offline, stale, removed tokens, and chosen figures. */
import { expect, test } from 'vitest'
import { scriptableScript } from '../../../src/alerts/widgets/scriptable.ts'
import { widgetJson } from '../../../src/alerts/widgets/texts.ts'
import { runScript } from './scriptable.ts'

const TOKEN = `wd_${'0123456789abcdef'.repeat(3)}`
const SCRIPT = scriptableScript('https://windfall.example.com/widget/v1.json', TOKEN)
const BODY = widgetJson(
  {
    name: 'Acme',
    currency: 'JPY',
    time_zone: 'Asia/Tokyo',
    updated_at: Date.UTC(2026, 5, 2, 3),
    is_stale: false,
    figures: [
      {
        name: 'revenue_today',
        title: 'Revenue today',
        is_money: true,
        value: 1_234_567_000,
        before: null,
        spark: [1, null, 3],
      },
      { name: 'mrr', title: 'MRR', is_money: true, value: 90_000_000, before: 100_000_000, spark: [1, 2] },
      {
        name: 'active_trials',
        title: 'Trials',
        is_money: false,
        value: null,
        before: null,
        spark: [null, null],
      },
    ],
  },
  'https://windfall.example.com',
)
const ok = { status: 200, body: BODY }

test.each([
  ['small', ['Acme', 'Revenue today', '¥1.2M', 'MRR', '-10%', '¥90K', '12:00'], 0],
  ['medium', ['Acme', 'Revenue today', '¥1,234,567', 'MRR', '-10%', '¥90,000', '12:00'], 2],
  ['large', ['Acme', 'Revenue today', '¥1,234,567', 'MRR', '-10%', '¥90,000', 'Trials', '–', '12:00'], 3],
  ['accessoryRectangular', ['Revenue today ¥1.2M', 'MRR ¥90K'], 0],
  ['accessoryCircular', ['¥1.2M'], 0],
  ['accessoryInline', ['Revenue today ¥1.2M'], 0],
])('%s', async (family, texts, images) => {
  const drawn = await runScript(SCRIPT, { family, answer: ok, files: new Map() })
  expect(drawn).toMatchObject({
    texts,
    images,
    url: 'https://windfall.example.com',
    isCompleted: true,
    isPresented: false,
  })
  expect(drawn.requests).toEqual([
    {
      url: 'https://windfall.example.com/widget/v1.json',
      headers: { Authorization: `Bearer ${TOKEN}` },
      timeoutInterval: 10,
    },
  ])
  expect(drawn.background).toBe(family === 'accessoryCircular')
})

test('offline, it shows the last figures with their time; without any, why', async () => {
  const files = new Map<string, string>()
  const none = await runScript(SCRIPT, { family: 'small', answer: null, files })
  expect(none.texts).toEqual(['Windfall', 'The Internet connection appears to be offline.'])
  await runScript(SCRIPT, { family: 'small', answer: ok, files })
  expect([...files.keys()]).toEqual(['/documents/windfall-89abcdef.json'])
  const drawn = await runScript(SCRIPT, { family: 'small', answer: null, files })
  expect(drawn.texts).toContain('¥1.2M')
  expect(drawn.texts.at(-1)).toBe('offline, 12:00')
  const failing = await runScript(SCRIPT, { family: 'small', answer: { status: 500, body: {} }, files })
  expect(failing.texts.at(-1)).toBe('offline, 12:00')
})

test('a removed token and stale figures are said; nothing wrong is stored', async () => {
  const files = new Map<string, string>()
  const removed = await runScript(SCRIPT, {
    family: 'medium',
    answer: { status: 404, body: { code: 'unknown_widget' } },
    files,
  })
  expect(removed.texts).toEqual(['Windfall', 'The token was removed.'])
  expect(files.size).toBe(0)
  const stale = await runScript(SCRIPT, {
    family: 'medium',
    answer: { status: 200, body: { ...BODY, stale: true } },
    files,
  })
  expect(stale.texts.at(-1)).toBe('catching up')
})

test('a token that is removed later deletes the figures, and the 404 of a proxy does not', async () => {
  const files = new Map<string, string>()
  await runScript(SCRIPT, { family: 'small', answer: ok, files })
  const proxy = { status: 404, body: { error: 'no upstream' } }
  const away = await runScript(SCRIPT, { family: 'small', answer: proxy, files })
  expect(away.texts.at(-1)).toBe('offline, 12:00')
  const removed = { status: 404, body: { code: 'unknown_widget' } }
  const drawn = await runScript(SCRIPT, { family: 'small', answer: removed, files })
  expect(drawn.texts).toEqual(['Windfall', 'The token was removed.'])
  expect(files.size).toBe(0)
  const offline = await runScript(SCRIPT, { family: 'small', answer: null, files })
  expect(offline.texts).toEqual(['Windfall', 'The Internet connection appears to be offline.'])
})

test('the parameter chooses figures, and the app shows a preview', async () => {
  const chosen = await runScript(SCRIPT, {
    family: 'small',
    answer: ok,
    files: new Map(),
    parameter: 'mrr, unknown',
  })
  expect(chosen.texts).toEqual(['Acme', 'MRR', '-10%', '¥90K', '12:00'])
  const inApp = await runScript(SCRIPT, { family: null, answer: ok, files: new Map() })
  expect(inApp.isPresented).toBe(true)
})
