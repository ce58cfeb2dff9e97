import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../src/events/vocabulary.ts'
import { exampleOf, testEvent } from '../../../src/forwarding/bodies/test_event.ts'
import { NOW } from '../../apple/samples.ts'
import { openTestApp } from '../../helpers.ts'
import { madeExamples } from './made_examples.ts'
import { bodiesOf, parsed } from './opened.ts'

const FILE = new URL('../../../src/forwarding/bodies/examples.json', import.meta.url)

test('the documented examples are those of the simulated store (UPDATE=1 writes them)', async () => {
  const made = await madeExamples()
  if (process.env.UPDATE) writeFileSync(FILE, `${JSON.stringify(made, null, 2)}\n`)
  const documented = JSON.parse(readFileSync(FILE, 'utf8'))
  expect(Object.keys(documented)).toEqual(EVENT_TYPES)
  expect(documented).toEqual(made)
})

test('a test event is the example of its type, recognizable and never in the feed', async () => {
  const app = await openTestApp()
  for (const type of EVENT_TYPES) {
    const event = testEvent(type, { organization_id: app.organization.id, app_id: 'app_1', now: NOW })
    const [body] = parsed(await bodiesOf(app).make([event], { isTest: true }))
    const example = exampleOf(type)
    expect(body?.data.id).toMatch(/^evt_test_[0-9a-f]{16}$/)
    expect(body).toEqual({
      ...example,
      timestamp: new Date(NOW).toISOString(),
      seq: null,
      data: {
        ...example.data,
        id: event.id,
        seq: null,
        organization_id: app.organization.id,
        app_id: 'app_1',
        environment: 'sandbox',
        occurred_at: NOW,
        recorded_at: NOW,
        signed_at: example.data.signed_at === null ? null : NOW,
        ...('revenue_milli' in example.data && { revenue_milli: 0 }),
        test: true,
      },
    })
  }
  expect(app.feed(EVENT_TYPES)).toEqual([])
})
