/** Channels whose servers take a webhook or a token: what they get, that no text is markup or a mention, and their errors. */
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { googleChat } from '../../../src/alerts/channels/google_chat.ts'
import { gotify } from '../../../src/alerts/channels/gotify.ts'
import { findKind } from '../../../src/alerts/channels/kinds.ts'
import { mattermost } from '../../../src/alerts/channels/mattermost.ts'
import { teams } from '../../../src/alerts/channels/teams.ts'
import { HOSTILE, MESSAGE, openProvider, words } from './provider.ts'

const LONG = 'x'.repeat(50_000)

test('Mattermost: an attachment without a mention, below its limits', async () => {
  const { base, send, answerWith } = await openProvider()
  const channel = { settings: {}, secrets: { url: `${base}/hooks/secret` } }
  const { result, path, text } = await send(mattermost, channel, { title: HOSTILE, body: HOSTILE })
  expect([result, path]).toEqual([{ kind: 'sent' }, '/hooks/secret'])
  const [attachment] = JSON.parse(text).attachments
  expect(attachment).toMatchObject({ title_link: MESSAGE.url, color: '#2ea043' })
  expect(attachment.fields).toEqual([{ title: 'Product', value: 'Chord Pro', short: true }])
  expect(text).not.toMatch(/@everyone|<!channel>|[^\\]\*/)
  const long = await send(mattermost, channel, { title: LONG, body: LONG, urgency: 'trouble' })
  expect(long.text.length).toBeLessThan(16_000)
  expect(JSON.parse(long.text).attachments[0].color).toBe('#d1242f')
  for (const [status, kind] of [
    [400, 'refused'],
    [403, 'dead'],
    [404, 'dead'],
    [429, 'retry'],
    [501, 'retry'],
  ] as const) {
    answerWith({ status, body: JSON.stringify({ id: 'web.incoming_webhook.invalid.app_error' }) })
    const refused = await send(mattermost, channel)
    expect(refused.result).toMatchObject({ kind })
    expect(words(refused.result)).not.toContain('secret')
  }
})

test('Microsoft Teams: an Adaptive Card of text without markup, and a workflow that is turned off', async () => {
  const { base, send, answerWith } = await openProvider()
  const channel = { settings: {}, secrets: { url: `${base}/workflows/1/invoke?sig=secret` } }
  answerWith({ status: 202 })
  const { result, path, text } = await send(teams, channel, { title: HOSTILE })
  expect([result, path]).toEqual([{ kind: 'sent' }, '/workflows/1/invoke?sig=secret'])
  const { type, attachments } = JSON.parse(text)
  expect([type, attachments[0].contentType]).toEqual(['message', 'application/vnd.microsoft.card.adaptive'])
  const { body, actions } = attachments[0].content
  expect(body.map((block: { type: string }) => block.type)).toEqual(Array(3).fill('RichTextBlock'))
  expect(body.slice(1).map(({ inlines }: { inlines: object[] }) => inlines)).toEqual([
    [{ type: 'TextRun', text: 'Chord Pro · Chord' }],
    [{ type: 'TextRun', text: '🇩🇪 Germany' }],
  ])
  expect(actions).toEqual([{ type: 'Action.OpenUrl', title: 'Open in Windfall', url: MESSAGE.url }])
  const long = await send(teams, channel, { title: LONG, body: '🇩🇪\n'.repeat(5_000), url: '/' })
  expect(Buffer.byteLength(long.text)).toBeLessThan(28_000)
  expect(JSON.parse(long.text).attachments[0].content.body).toHaveLength(41)
  expect(JSON.parse(long.text).attachments[0].content.actions).toEqual([])
  for (const [status, answer, kind] of [
    [400, '{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"not enabled"}}', 'dead'],
    [400, '{"error":{"code":"TriggerInputSchemaMismatch"}}', 'refused'],
    [401, '', 'dead'],
    [404, '', 'dead'],
    [429, '', 'retry'],
    [502, '', 'retry'],
  ] as const) {
    answerWith({ status, body: answer })
    const refused = await send(teams, channel)
    expect(refused.result).toMatchObject({ kind })
    expect(words(refused.result)).not.toContain('secret')
  }
})

test('Google Chat: a card with escaped HTML and a text for the phone without a mention', async () => {
  const { base, send, answerWith } = await openProvider()
  const channel = { settings: {}, secrets: { url: `${base}/v1/spaces/AAAA/messages?key=k&token=secret` } }
  const mention = '<users/all> & <b>'
  const { result, path, text } = await send(googleChat, channel, { title: mention, body: `${mention}\nnext` })
  expect([result, path]).toEqual([{ kind: 'sent' }, '/v1/spaces/AAAA/messages?key=k&token=secret'])
  const { fallbackText, cardsV2 } = JSON.parse(text)
  expect(fallbackText).not.toContain('<')
  expect(cardsV2[0].card.sections[0].widgets).toEqual([
    { textParagraph: { text: '&lt;users/all&gt; &amp; &lt;b&gt;<br>next' } },
    { buttonList: { buttons: [{ text: 'Open in Windfall', onClick: { openLink: { url: MESSAGE.url } } }] } },
  ])
  const long = await send(googleChat, channel, { title: LONG, body: '<'.repeat(50_000), url: '/' })
  expect(Buffer.byteLength(long.text)).toBeLessThan(32_000)
  const bare = await send(googleChat, channel, { body: '', url: '/' })
  expect(JSON.parse(bare.text).cardsV2[0].card).toEqual({ header: { title: MESSAGE.title } })
  for (const [status, kind] of [
    [400, 'refused'],
    [403, 'dead'],
    [404, 'dead'],
    [429, 'retry'],
    [503, 'retry'],
  ] as const) {
    answerWith({ status, body: JSON.stringify({ error: { code: status, message: 'no' } }) })
    const refused = await send(googleChat, channel)
    expect(refused.result).toMatchObject({ kind })
    expect(words(refused.result)).not.toContain('secret')
  }
})

test('Gotify: the message of its documentation, below a path, with a priority', async () => {
  const { base, send, answerWith } = await openProvider()
  const channel = { settings: { server: `${base}/gotify/` }, secrets: { token: 'A.secret-1' } }
  const { result, path, headers, text } = await send(gotify, channel)
  expect([result, path, headers['x-gotify-key']]).toEqual([{ kind: 'sent' }, '/gotify/message', 'A.secret-1'])
  expect(JSON.parse(text)).toEqual({
    title: MESSAGE.title,
    message: MESSAGE.body,
    priority: 5,
    extras: {
      'client::display': { contentType: 'text/plain' },
      'client::notification': { click: { url: MESSAGE.url } },
    },
  })
  const urgent = await send(gotify, channel, { urgency: 'trouble', body: '' })
  expect(JSON.parse(urgent.text)).toMatchObject({ priority: 8, message: MESSAGE.title })
  for (const [status, kind] of [
    [400, 'refused'],
    [401, 'dead'],
    [403, 'dead'],
    [500, 'retry'],
  ] as const) {
    answerWith({ status, body: JSON.stringify({ error: 'no', errorCode: status }) })
    const refused = await send(gotify, channel)
    expect(refused.result).toMatchObject({ kind })
    expect(words(refused.result)).not.toContain('secret')
  }
})

test.each([
  ['mattermost', {}, { url: 'ftp://chat.example.com/hooks/1' }],
  ['teams', {}, { url: 'http://example.com/workflows' }],
  ['google_chat', {}, { url: 'https://chat.example.com/v1/spaces/AAAA/messages?key=1' }],
  ['gotify', { server: 'no address' }, { token: 'A1' }],
  ['gotify', { server: 'ftp://gotify.example.com' }, { token: 'A1' }],
  ['ntfy', { server: 'ftp://ntfy.example.com', topic: 'sales' }, {}],
  ['pushover', { server: 'ftp://push.example.com' }, { token: 'a'.repeat(30), user: 'u'.repeat(30) }],
  ['telegram', { server: 'ftp://bots.example.com', chat_id: '1' }, { token: `1:${'a'.repeat(30)}` }],
  ['gotify', { server: 'https://gotify.example.com' }, { token: 'two words' }],
])('%s refuses other addresses and tokens', async (name, settings, secrets) => {
  const kind = findKind(name)
  const accepted = [kind?.settings, kind?.secrets].map((schema, index) =>
    schema === undefined ? null : v.safeParse(schema, [settings, secrets][index]).success,
  )
  expect(accepted).toContain(false)
  expect(accepted).not.toContain(null)
})
