/** The template of the JSON channel: its placeholders, where the token goes, and what it refuses. */
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { json } from '../../../src/alerts/channels/json.ts'
import { openAlertingApp, purchase } from '../alerting.ts'
import { HOSTILE, MESSAGE, openProvider } from './provider.ts'

const sendWith = async (template: string, message: Partial<typeof MESSAGE> = {}) => {
  const { base, send } = await openProvider()
  const channel = { settings: { url: `${base}/push`, template }, secrets: { token: 'secret' } }
  const { text, headers } = await send(json, channel, message)
  return { body: JSON.parse(text), authorization: headers.authorization }
}

test('texts have their placeholders replaced, and no name can leave its text', async () => {
  const template = '{"title": "{{title}}", "data": {"url": "{{ url }}", "tags": ["sale", "{{urgency}}!"]}}'
  const title = `${HOSTILE}", "data": "{{token}} \\`
  expect(await sendWith(template, { title })).toEqual({
    body: { title, data: { url: MESSAGE.url, tags: ['sale', 'normal!'] } },
    authorization: 'Bearer secret',
  })
})

test('a text that is one placeholder has its value, and the body is the title if there is none', async () => {
  const template =
    '{"at": "{{at}}", "seconds": "at {{at}}", "payment": "{{is_payment}}", "fields": "{{fields}}", "text": "{{body}}", "n": 5}'
  expect((await sendWith(template, { body: '' })).body).toEqual({
    at: MESSAGE.at,
    seconds: `at ${MESSAGE.at}`,
    payment: false,
    fields: [{ label: 'Product', value: 'Chord Pro' }],
    text: MESSAGE.title,
    n: 5,
  })
})

test('a token in the template is not a header', async () => {
  expect(await sendWith('{"device_key": "{{token}}", "title": "{{title}}"}')).toEqual({
    body: { device_key: 'secret', title: MESSAGE.title },
    authorization: undefined,
  })
})

test.each([
  ['{"message": {{body}}}', 'must be a JSON object, with placeholders in quotes'],
  ['["{{body}}"]', 'must be a JSON object'],
  ['', 'must be a JSON object'],
  ['{"message": "{{title"}', 'has {{ without a placeholder that is closed, such as {{title}}'],
  ['{"message": "{{title} {{body}}"}', 'has {{ without a placeholder that is closed'],
  ['{"list": [{"{{title}}": "x"}]}', 'has a placeholder in the name {{title}}; only texts can have them'],
  ['{"message": "{{text}}"}', 'has no placeholder {{text}}; there are id, tag, title'],
])('%s is refused with words', (template, words) => {
  const result = v.safeParse(json.settings, { url: 'https://example.com/push', template })
  expect(result.issues?.[0]?.message).toContain(words)
})

test('an added channel with a template sends the next sale with it', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  const settings = { url: `${app.receiver.url}/own`, template: '{"message": "{{title}}"}' }
  await app.windfall.store.commit(() =>
    app.alerts.channelAdministration.add({
      organization_id: app.organization.id,
      name: 'own',
      kind: 'json',
      settings,
      secrets: {},
      hides_amounts: true,
      digests: [],
      source: 'dashboard',
    }),
  )
  await purchase({ app })
  await app.settle(2_000)
  expect(app.got('own')).toEqual([{ message: '🔁 Renewal' }])
})
