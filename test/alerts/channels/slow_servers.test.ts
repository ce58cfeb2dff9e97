/** Servers that keep a call open: it ends after a time, its connection closes, and the message is tried again. */
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Channel } from '../../../src/alerts/channels/channels.ts'
import { type AlertingApp, openAlertingApp, purchase } from '../alerting.ts'
import { openTalking } from './talking.ts'

const SECOND = 1_000

/** An SMTP server that never ends its reply to the greeting: the line after it is always to come. */
async function openDripping() {
  let drips = 0
  const { port, sockets } = await openTalking((socket) => {
    socket.write('220 mail.example ESMTP\r\n')
    socket.once('data', () => {
      const timer = setInterval(() => {
        drips += 1
        socket.write('250-x\r\n')
      }, 5)
      socket.on('close', () => clearInterval(timer))
    })
  })
  return { port, sockets, drips: () => drips }
}

const addMailbox = (app: AlertingApp, port: number): Promise<Channel> =>
  app.channel('mail', {
    kind: 'email',
    settings: { host: '127.0.0.1', port, from: 'windfall@example.com', to: 'owner@example.com' },
  })

const sendsTo = ({ windfall }: AlertingApp, { id }: Channel) =>
  windfall.store.prepare('select state, attempts, words from alert_sends where channel_id = ?').all(id)

function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

const LATE = 'The mail server did not finish within 45 seconds.'

test('a message to a mail server that answers for ever is tried again, and its connection closes', async () => {
  const app = await openAlertingApp()
  const server = await openDripping()
  const mail = await addMailbox(app, server.port)
  await app.rule('sale')
  holdTimers()
  await purchase({ app })
  await app.alerts.follow()
  app.clock.turn(2 * SECOND)
  app.alerts.wake()
  await expect.poll(server.drips).toBeGreaterThan(3)
  vi.advanceTimersByTime(45 * SECOND - 1)
  expect(sendsTo(app, mail)).toMatchObject([{ state: 'sending' }])
  vi.advanceTimersByTime(1)
  await app.alerts.settled()
  expect(sendsTo(app, mail)).toEqual([{ state: 'waiting', attempts: 1, words: LATE }])
  await expect.poll(() => server.sockets.map(({ closed }) => closed)).toEqual([true])
})

test('the test of a mail server that answers for ever ends with the reason', async () => {
  const app = await openAlertingApp()
  const server = await openDripping()
  const { id } = await addMailbox(app, server.port)
  const headers = await app.signIn()
  holdTimers()
  const answered = app.post(`/api/v1/alerts/channels/${id}/test`, {}, headers)
  await expect.poll(server.drips).toBeGreaterThan(3)
  vi.advanceTimersByTime(45 * SECOND)
  expect((await answered).body).toMatchObject({ result: 'retry', words: LATE })
  await expect.poll(() => server.sockets.map(({ closed }) => closed)).toEqual([true])
})

test('a mail server that says nothing did not answer', async () => {
  const app = await openAlertingApp()
  const server = await openTalking()
  const { id } = await addMailbox(app, server.port)
  const headers = await app.signIn()
  holdTimers()
  const answered = app.post(`/api/v1/alerts/channels/${id}/test`, {}, headers)
  await expect.poll(() => server.sockets.length).toBe(1)
  const turning = setInterval(() => vi.advanceTimersByTime(SECOND), 1)
  onTestFinished(() => clearInterval(turning))
  expect((await answered).body).toMatchObject({
    result: 'retry',
    words: `127.0.0.1:${server.port} did not answer within 15 seconds.`,
  })
})

test('a provider whose answer does not end is not waited for', async () => {
  const app = await openAlertingApp()
  await app.rule('sale')
  const server = await openTalking((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const timer = setInterval(() => socket.write('1\r\nx\r\n'), 5)
      socket.on('close', () => clearInterval(timer))
    })
  })
  const endless = await app.channel('endless', { settings: { url: `http://127.0.0.1:${server.port}/` } })
  await purchase({ app })
  await app.settle(2 * SECOND)
  expect(sendsTo(app, endless)).toMatchObject([{ state: 'sent' }])
  await expect.poll(() => server.sockets.map(({ closed }) => closed)).toEqual([true])
})
