/** E-mail against an SMTP server: STARTTLS, TLS, certificates, passwords and replies. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import * as v from 'valibot'
import { expect, onTestFinished, test } from 'vitest'
import type { ChannelMessage } from '../../../src/alerts/channels/channel.ts'
import { email } from '../../../src/alerts/channels/email.ts'
import { openDispatcher } from '../../../src/outgoing/dispatcher.ts'
import { openAlertingApp } from '../alerting.ts'

/** Only Web Push signs. */
const NO_VAPID = { signing: () => ({ refusal: '' }), note: async () => {} }
const MESSAGE: ChannelMessage = {
  id: 'alm_1',
  tag: 'rule/1',
  title: '🎉 €49.99\r\nBcc: thief@example.com',
  body: '<b>Chord</b> & more',
  url: 'https://windfall.example/customers/cus_1',
  urgency: 'trouble',
  is_payment: false,
  at: Date.UTC(2026, 5, 1, 12),
  badge: 0,
  fields: [{ label: 'Product', value: '<i>' }],
}
const SETTINGS = { from: 'windfall@example.com', to: 'owner@example.com' }

async function openServer(options: SMTPServerOptions = {}) {
  const mails: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    onData(stream, _, done) {
      let text = ''
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      stream.on('end', () => {
        mails.push(text)
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())))
  const { port } = listening.address() as AddressInfo

  function send(settings: object = {}, secrets: object = {}, allow = ['127.0.0.1']) {
    const dispatcher = openDispatcher({ allow, ca: null })
    const channel = { settings: { host: '127.0.0.1', port, ...SETTINGS, ...settings }, secrets }
    return email.send(MESSAGE, channel, {
      dispatcher,
      signal: new AbortController().signal,
      vapid: NO_VAPID,
      mute_url: null,
    })
  }

  return { port, mails, send }
}

test('a mail has a subject in one line, text and HTML, and no header from a name', async () => {
  const { mails, send } = await openServer({ disabledCommands: ['STARTTLS'] })
  expect(await send()).toEqual({ kind: 'sent' })
  const [mail = ''] = mails
  const [head = ''] = mail.split('\r\n\r\n')
  expect(head).toContain('From: Windfall <windfall@example.com>')
  expect(head).toContain('To: owner@example.com')
  expect(head).toContain(`Message-ID: <${MESSAGE.id}@example.com>`)
  expect(head).toMatch(/^Auto-Submitted: auto-generated$/im)
  expect(head).toMatch(/^Importance: high$/im)
  expect(head).not.toMatch(/^Bcc:/im)
  expect(mail).toContain('&lt;i&gt;')
})

test('an address that is not permitted as local must be encrypted', async () => {
  const { send } = await openServer({ disabledCommands: ['STARTTLS'] })
  expect(await send({}, {}, [])).toMatchObject({ kind: 'retry', words: expect.stringContaining('loopback') })
})

test('a wrong password, a refused recipient and replies of the server are told in words', async () => {
  const onAuth: SMTPServerOptions['onAuth'] = (_, __, done) => done(new Error('Invalid username or password'))
  const strict = await openServer({ onAuth, disabledCommands: ['STARTTLS'] })
  const refused = await strict.send({ user: 'owner' }, { password: 'hunter2-secret' })
  expect(refused).toMatchObject({
    kind: 'dead',
    words: expect.stringContaining('Check the user and the password'),
  })
  expect(JSON.stringify(refused)).not.toContain('hunter2')
  const busy = await openServer({
    onAuth: (_, __, done) => done(Object.assign(new Error('try again later'), { responseCode: 454 })),
    disabledCommands: ['STARTTLS'],
  })
  expect(await busy.send({ user: 'owner' }, { password: 'hunter2-secret' })).toMatchObject({ kind: 'retry' })
  for (const [responseCode, kind] of [
    [451, 'retry'],
    [550, 'dead'],
  ] as const) {
    const onRcptTo: SMTPServerOptions['onRcptTo'] = (_, __, done) =>
      done(Object.assign(new Error('not now'), { responseCode }))
    const server = await openServer({ onRcptTo, disabledCommands: ['STARTTLS'] })
    expect([responseCode, await server.send()]).toMatchObject([
      responseCode,
      { kind, words: expect.stringContaining('not now') },
    ])
  }
})

test('with TLS from the first byte, the certificate is checked', async () => {
  const { send, mails } = await openServer({ secure: true })
  expect(await send({ security: 'tls' })).toMatchObject({
    kind: 'retry',
    words: expect.stringMatching(/certificate/i),
  })
  expect(mails).toEqual([])
})

test('STARTTLS is used where it is offered', async () => {
  const { send, mails } = await openServer({
    onMailFrom: (_, session, done) => done(session.secure ? null : new Error('not encrypted')),
  })
  expect([await send(), mails.length]).toEqual([{ kind: 'sent' }, 1])
})

test('nobody listens', async () => {
  const { send } = await openServer()
  expect(await send({ port: 1 })).toMatchObject({
    kind: 'retry',
    words: expect.stringContaining('127.0.0.1:1'),
  })
})

test('a server that resets each connection is tried again, and ends nothing else', async () => {
  const server = createServer((socket) => void socket.resetAndDestroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())))
  const { send } = await openServer()
  const { port } = server.address() as AddressInfo
  for (let n = 0; n < 20; n += 1) expect(await send({ port })).toMatchObject({ kind: 'retry' })
})

test('the next address of a host is used if the first does not answer', async () => {
  const { port, mails } = await openServer({ disabledCommands: ['STARTTLS'] })
  const resolve = async () => ['127.0.0.77', '127.0.0.1'].map((address) => ({ address, family: 4 }))
  const dispatcher = openDispatcher({ allow: ['127.0.0.0/8'], ca: null, resolve })
  const channel = { settings: { host: 'mail.example', port, ...SETTINGS }, secrets: {} }
  const context = { dispatcher, signal: new AbortController().signal, vapid: NO_VAPID, mute_url: null }
  expect([await email.send(MESSAGE, channel, context), mails.length]).toEqual([{ kind: 'sent' }, 1])
})

/** Accepts all recipients but those whose name is the reply code that they get. */
const onRcptTo: SMTPServerOptions['onRcptTo'] = ({ address }, _, done) => {
  const responseCode = Number(address.split('@')[0])
  done(Number.isNaN(responseCode) ? null : Object.assign(new Error(`no ${address}`), { responseCode }))
}

test('several recipients get one mail', async () => {
  const { mails, send } = await openServer({ disabledCommands: ['STARTTLS'] })
  expect(await send({ to: 'one@example.com, two@example.com' })).toEqual({ kind: 'sent' })
  expect(mails).toMatchObject([expect.stringContaining('To: one@example.com, two@example.com')])
})

test('a recipient that the server refuses is named, and one that it refuses for now is tried again', async () => {
  const { mails, send } = await openServer({ onRcptTo, disabledCommands: ['STARTTLS'] })
  expect(await send({ to: 'one@example.com,550@example.com' })).toMatchObject({
    kind: 'sent',
    words: expect.stringMatching(/does not accept 550@example\.com: .*The other recipients have the message/),
  })
  expect(mails).toHaveLength(1)
  expect(await send({ to: 'one@example.com,451@example.com' })).toMatchObject({ kind: 'retry' })
  expect(await send({ to: '550@example.com,551@example.com' })).toMatchObject({ kind: 'dead' })
})

test('trouble of which one recipient is refused is sent to the others, with its end', async () => {
  const app = await openAlertingApp()
  const { port } = await openServer({ onRcptTo, disabledCommands: ['STARTTLS'] })
  const settings = { host: '127.0.0.1', port, ...SETTINGS, to: 'one@example.com, 550@example.com' }
  const mail = await app.channel('mail', { kind: 'email', settings })
  const broken = await app.channel('broken', { state: 'disabled' })
  await app.rule('trouble')
  for (const state of ['dead', 'disabled'] as const) {
    await app.windfall.store.commit(() => app.alerts.channels.setState(broken, state, null))
    for (let n = 0; n < 3; n += 1) {
      await app.alerts.look()
      await app.settle(60_000)
    }
  }
  expect(app.alerts.channels.get(mail.id)?.last_sent_at).not.toBeNull()
  const sends = app.windfall.store
    .prepare<[string, string], { state: string; words: string | null }>(
      `select state, words from alert_sends join alert_messages on id = message_id
       where channel_id = ? and key like '%channel:' || ? || '%'`,
    )
    .all(mail.id, broken.id)
  const sent = { state: 'sent', words: expect.stringContaining('does not accept 550@example.com') }
  expect(sends).toEqual([sent, sent])
  const tested = await app.post(`/api/v1/alerts/channels/${mail.id}/test`, {}, await app.signIn())
  expect(tested.body).toMatchObject({ result: 'sent', words: sent.words })
})

test.each([
  ['one@example.com', true],
  [' one@example.com , two@example.com ', true],
  ['one@example.com,', false],
  ['one@example.com; two@example.com', false],
  ['one@example.com\r\nBcc: thief@example.com', false],
  [Array(11).fill('one@example.com').join(','), false],
])('recipients: %j', (to, isAccepted) => {
  const settings = { host: 'smtp.example.com', from: 'windfall@example.com', to }
  expect(v.safeParse(email.settings, settings).success).toBe(isAccepted)
})
