/** Each channel against a server that speaks as its provider: the whole request, limits, escaping and errors. */
import { expect, test } from 'vitest'
import { discordAt } from '../../../src/alerts/channels/discord.ts'
import { ntfy } from '../../../src/alerts/channels/ntfy.ts'
import { pushover } from '../../../src/alerts/channels/pushover.ts'
import { slackAt } from '../../../src/alerts/channels/slack.ts'
import { telegram } from '../../../src/alerts/channels/telegram.ts'
import { HOSTILE, MESSAGE, openProvider, words } from './provider.ts'

const TOKEN = '123456:AAbbCCddEEffGGhhIIjjKKllMMnn'

test('ntfy: the JSON of its documentation, lengths in bytes, and its error codes', async () => {
  const { base, send, answerWith } = await openProvider()
  const channel = { settings: { server: base, topic: 'sales' }, secrets: { token: 'tk_secret' } }
  const { result, path, headers, text } = await send(ntfy, channel)
  expect([result, path, headers.authorization]).toEqual([{ kind: 'sent' }, '/', 'Bearer tk_secret'])
  expect(JSON.parse(text)).toEqual({
    topic: 'sales',
    title: MESSAGE.title,
    message: MESSAGE.body,
    priority: 3,
    click: MESSAGE.url,
  })
  const long = await send(ntfy, channel, {
    body: '👩‍👩‍👧'.repeat(400),
    title: '€'.repeat(300),
    urgency: 'trouble',
  })
  const cut = JSON.parse(long.text)
  expect(Buffer.byteLength(cut.message)).toBeLessThanOrEqual(4_000)
  expect(cut.message).toMatch(/^(👩‍👩‍👧)+…$/u)
  expect(Buffer.byteLength(cut.title)).toBeLessThanOrEqual(250)
  expect(cut.priority).toBe(4)
  const warned = await send(ntfy, channel, { urgency: 'warning' })
  expect(JSON.parse(warned.text).priority).toBe(3)
  for (const [status, code, kind, after_ms] of [
    [429, 42_901, 'retry', 60_000],
    [429, 42_908, 'retry', 3_600_000],
    [413, 41_303, 'refused', undefined],
    [401, 40_101, 'dead', undefined],
    [403, 40_301, 'dead', undefined],
    [500, 50_001, 'retry', null],
  ] as const) {
    answerWith({
      status,
      body: JSON.stringify({ code, http: status, error: 'limit reached', link: 'https://ntfy.sh/docs' }),
    })
    const refused = await send(ntfy, channel)
    expect([code, refused.result]).toMatchObject([
      code,
      { kind, ...(after_ms !== undefined && { after_ms }) },
    ])
    expect(words(refused.result)).not.toContain('tk_secret')
  }
})

test('Telegram: HTML with entities, at most 4,096 characters, and retry_after in seconds', async () => {
  const { base, send, answerWith } = await openProvider()
  const channel = { settings: { server: base, chat_id: '-100123' }, secrets: { token: TOKEN } }
  const { result, path, text } = await send(telegram, channel, { title: HOSTILE })
  expect([result, path]).toEqual([{ kind: 'sent' }, `/bot${TOKEN}/sendMessage`])
  const body = JSON.parse(text)
  expect(body).toMatchObject({
    chat_id: '-100123',
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  })
  expect(body.text).toContain('<b>&lt;!channel&gt; @everyone &lt;b&gt;&amp;amp;*_')
  const long = JSON.parse((await send(telegram, channel, { body: '<'.repeat(9_000) })).text)
  const parsed = long.text.replace(/<[^>]+>/g, '').replaceAll('&lt;', '<')
  expect([...parsed].length).toBeLessThanOrEqual(4_096)
  const error = (error_code: number, description: string, parameters?: object) => ({
    status: error_code,
    body: JSON.stringify({ ok: false, error_code, description, parameters }),
  })
  for (const [answer, expected] of [
    [error(429, 'Too Many Requests: retry after 7', { retry_after: 7 }), { kind: 'retry', after_ms: 7_000 }],
    [
      error(400, 'Bad Request: chat not found'),
      { kind: 'dead', words: expect.stringContaining('Write a message to the bot') },
    ],
    [
      error(400, 'group chat was upgraded', { migrate_to_chat_id: -100_9 }),
      { kind: 'dead', words: expect.stringContaining('-1009') },
    ],
    [error(400, "can't parse entities"), { kind: 'refused' }],
    [error(401, 'Unauthorized'), { kind: 'dead' }],
    [
      error(403, 'Forbidden: bot was blocked by the user'),
      { kind: 'dead', words: expect.stringContaining('Unblock') },
    ],
    [error(502, 'Bad Gateway'), { kind: 'retry' }],
  ] as const) {
    answerWith(answer)
    const refused = await send(telegram, channel)
    expect(refused.result).toMatchObject(expected)
    expect(words(refused.result)).not.toContain(TOKEN)
  }
})

test('Slack: blocks with a text for the lock screen, no mention, and its errors in plain text', async () => {
  const { base, send, answerWith } = await openProvider()
  const channel = { settings: {}, secrets: { url: 'https://hooks.slack.com/services/T0/B0/secret' } }
  const slack = slackAt(base)
  const { result, path, text } = await send(slack, channel, { title: HOSTILE, body: HOSTILE.repeat(200) })
  expect([result, path]).toEqual([{ kind: 'sent' }, '/services/T0/B0/secret'])
  const body = JSON.parse(text)
  // The header is plain text, in which Slack reads no mention.
  expect(JSON.stringify([body.text, ...body.blocks.slice(1)])).not.toContain('<!channel>')
  // Otherwise Slack makes a mention of @channel in a name.
  expect(text.match(/"type":"mrkdwn"/g)).toEqual(text.match(/"type":"mrkdwn"(?=,"verbatim":true)/g))
  expect(body.text.length).toBeLessThanOrEqual(3_000)
  expect(body.blocks[0].text.text.length).toBeLessThanOrEqual(150)
  expect(body.blocks[1].text.text.length).toBeLessThanOrEqual(3_000)
  expect(body.blocks.at(-1).elements[0].text).toBe(`<${MESSAGE.url}|Open in Windfall>`)
  for (const [status, answer, headers, expected] of [
    [400, 'invalid_blocks', {}, { kind: 'refused' }],
    [404, 'no_service', {}, { kind: 'dead' }],
    [410, 'channel_is_archived', {}, { kind: 'dead' }],
    [429, '', { 'retry-after': '3' }, { kind: 'retry', after_ms: 3_000 }],
    [503, 'rollup_error', {}, { kind: 'retry' }],
  ] as const) {
    answerWith({ status, body: answer, headers })
    const refused = await send(slack, channel)
    expect(refused.result).toMatchObject(expected)
    expect(words(refused.result)).not.toContain('secret')
  }
})

test('Discord: one embed, no mention, at most 6,000 characters, and waits in fractions of a second', async () => {
  const { base, send, answerWith } = await openProvider()
  const channel = { settings: {}, secrets: { url: 'https://discord.com/api/webhooks/12/secret' } }
  const discord = discordAt(base)
  const fields = Array.from({ length: 30 }, () => ({ label: HOSTILE.repeat(9), value: HOSTILE.repeat(99) }))
  const { result, path, text } = await send(discord, channel, {
    title: HOSTILE.repeat(9),
    body: HOSTILE.repeat(200),
    fields,
  })
  expect([result, path]).toEqual([{ kind: 'sent' }, '/api/webhooks/12/secret?wait=true'])
  const body = JSON.parse(text)
  const [embed] = body.embeds
  expect([body.allowed_mentions, embed.url, embed.fields.length]).toEqual([{ parse: [] }, MESSAGE.url, 10])
  expect(embed.title).toContain('\\@everyone')
  const all = [
    embed.title,
    embed.description,
    ...embed.fields.flatMap((one: { name: string; value: string }) => [one.name, one.value]),
  ]
  expect(all.join('').length).toBeLessThanOrEqual(6_000)
  expect(embed.title.length).toBeLessThanOrEqual(256)
  for (const [remaining, expected] of [
    ['1', { kind: 'sent' }],
    ['0', { kind: 'sent', wait_ms: 800 }],
  ] as const) {
    answerWith({ headers: { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset-after': '0.8' } })
    expect((await send(discord, channel)).result).toEqual(expected)
  }
  for (const [status, answer, headers, expected] of [
    [
      429,
      '{"message":"You are being rate limited.","retry_after":0.65,"global":false}',
      {},
      { kind: 'retry', after_ms: 650 },
    ],
    [429, '', { 'x-ratelimit-reset-after': '1.5' }, { kind: 'retry', after_ms: 1_500 }],
    [404, '{"message":"Unknown Webhook","code":10015}', {}, { kind: 'dead' }],
    [400, '{"message":"Invalid Form Body","code":50035}', {}, { kind: 'refused' }],
    [500, '', {}, { kind: 'retry' }],
  ] as const) {
    answerWith({ status, body: answer, headers })
    const refused = await send(discord, channel)
    expect(refused.result).toMatchObject(expected)
    expect(words(refused.result)).not.toContain('secret')
  }
})

test('Pushover: a form, its limits, and its errors', async () => {
  const { base, send, answerWith } = await openProvider()
  const [token, user] = ['a'.repeat(30), 'u'.repeat(30)]
  const channel = { settings: { server: base }, secrets: { token, user } }
  const { result, path, headers, text } = await send(pushover, channel, { body: '🎉'.repeat(2_000) })
  expect([result, path]).toEqual([{ kind: 'sent' }, '/1/messages.json'])
  expect(headers['content-type']).toBe('application/x-www-form-urlencoded')
  const form = Object.fromEntries(new URLSearchParams(text))
  expect(form).toMatchObject({ token, user, title: MESSAGE.title, url: MESSAGE.url, priority: '0' })
  expect(form).not.toHaveProperty('sound')
  const payment = await send(pushover, channel, { is_payment: true })
  expect(new URLSearchParams(payment.text).get('sound')).toBe('cashregister')
  expect([...(form.message ?? '')].length).toBeLessThanOrEqual(1_024)
  const urgent = await send(pushover, channel, { urgency: 'trouble' })
  expect(new URLSearchParams(urgent.text).get('priority')).toBe('1')
  const reset = MESSAGE.at / 1_000 + 7_200
  for (const [status, errors, more, expected] of [
    [400, ['user identifier is not a valid user'], {}, { kind: 'dead' }],
    [400, ['message cannot be blank'], {}, { kind: 'refused' }],
    [
      429,
      ['application is over its quota'],
      { 'x-limit-app-reset': String(reset), date: new Date((reset - 7_200) * 1_000).toUTCString() },
      { kind: 'retry', after_ms: 7_200_000 },
    ],
  ] as const) {
    answerWith({ status, body: JSON.stringify({ status: 0, errors, request: '1' }), headers: more })
    // The message is an hour old.
    const refused = await send(pushover, channel, { at: MESSAGE.at - 3_600_000 })
    expect(refused.result).toMatchObject(expected)
    expect(words(refused.result)).not.toMatch(new RegExp(`${token}|${user}`))
  }
})

test('an address that is not permitted, or that does not answer, is tried again and says why', async () => {
  const { send } = await openProvider()
  const away = await send(ntfy, { settings: { server: 'http://127.0.0.1:1', topic: 'x' }, secrets: {} })
  expect(away.result).toMatchObject({ kind: 'retry', words: expect.stringContaining('127.0.0.1:1') })
})
