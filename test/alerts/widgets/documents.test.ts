/** What docs/widgets.md shows is what the server answers. */
import { expect, test } from 'vitest'
import { WIDGET_METRICS } from '../../../src/alerts/widgets/figures.ts'
import { widgetJson } from '../../../src/alerts/widgets/texts.ts'
import { blocksOf, textOf } from '../../docs/snippets.ts'

const PAGE = 'docs/widgets.md'
const textIn = (language: string): string =>
  blocksOf(PAGE).find((block) => block.language === language)?.text ?? ''

const answer = widgetJson(
  {
    name: 'Acme',
    currency: 'USD',
    time_zone: 'Europe/Berlin',
    updated_at: Date.UTC(2026, 5, 2, 12),
    is_stale: false,
    figures: [
      {
        name: 'mrr',
        title: 'MRR',
        is_money: true,
        value: 1_234_500,
        before: 1_196_200,
        spark: [1_196_200, 1_201_400],
      },
    ],
  },
  'https://windfall.example.com',
)

test('the JSON has the fields and texts of an answer', () => {
  expect(JSON.parse(textIn('json'))).toEqual({ ...answer, mrr_change: 0.032 })
})

test('the sensor of Home Assistant reads a figure of the JSON at its address', () => {
  const yaml = textIn('yaml')
  expect(yaml).toContain('resource: https://windfall.example.com/widget/v1.json')
  const [, field = ''] = /value_json\.(\w+)/.exec(yaml) ?? []
  expect(answer[field]).toBe(1_234.5)
})

test('the Markdown has the address of a badge, and every figure is in the table', () => {
  expect(textIn('markdown')).toMatch(/^!\[MRR\]\(https:\/\/windfall\.example\.com\/badge\/v1\/wd_….svg\)/)
  for (const { name } of WIDGET_METRICS) expect(textOf(PAGE)).toContain(`\n| \`${name}\` | `)
})
