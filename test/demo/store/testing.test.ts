import { createServer } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { openTestStore, read, TIDES, UNTIL } from './opened.ts'

const opened = await openTestStore({ subscribers: 5 })
const { store, server } = opened

const received: string[] = []
let answers = 200
const listener = createServer((incoming, response) => {
  let text = ''
  incoming.on('data', (chunk) => {
    text += chunk
  })
  incoming.on('end', () => {
    received.push(text)
    response.writeHead(answers).end()
  })
})
await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
const address = listener.address()
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/apple/notifications`
afterAll(async () => {
  await opened.close()
  listener.close()
})

const PATH = '/inApps/v1/notifications/test'

async function tested(sandbox = false) {
  const { status, json } = await server(PATH, { body: {}, sandbox })
  expect(status).toBe(200)
  await store.settled()
  return (await server(`${PATH}/${json.testNotificationToken}`, { sandbox })).json
}

test('posts a test notification and returns its status', async () => {
  store.faults.notification_url = url
  const { signedPayload, sendAttempts } = await tested()
  expect(sendAttempts).toEqual([{ attemptDate: UNTIL, sendAttemptResult: 'SUCCESS' }])
  expect(received.map((text) => JSON.parse(text))).toEqual([{ signedPayload }])
  expect(read(signedPayload)).toMatchObject({
    notificationType: 'TEST',
    data: { bundleId: TIDES, environment: 'Production', appAppleId: 6_470_112_201 },
  })
  expect((await tested(true)).sendAttempts).toHaveLength(1)
  expect(read(JSON.parse(received[1] ?? '').signedPayload).data).toEqual({
    bundleId: TIDES,
    environment: 'Sandbox',
  })
})

test('includes it in the notification history', async () => {
  const body = { startDate: UNTIL - 1000, endDate: UNTIL + 1000, notificationType: 'TEST' }
  opened.clock.turn(1)
  const { json } = await server('/inApps/v1/notifications/history', { body })
  expect(json.notificationHistory).toHaveLength(1)
})

test('reports an address that refuses or does not exist with Apple’s results', async () => {
  answers = 503
  expect((await tested()).sendAttempts[0].sendAttemptResult).toBe('UNSUCCESSFUL_HTTP_RESPONSE_CODE')
  store.faults.notification_url = 'http://127.0.0.1:1/'
  expect((await tested()).sendAttempts[0].sendAttemptResult).toBe('NO_RESPONSE')
  store.faults.test_result = 'TLS_ISSUE'
  expect((await tested()).sendAttempts[0].sendAttemptResult).toBe('TLS_ISSUE')
  store.faults.test_result = null
})

test('refuses without an address, or with a wrong or unknown token', async () => {
  store.faults.notification_url = null
  const { status, json } = await server(PATH, { body: {} })
  expect([status, json.errorCode]).toEqual([404, 4_040_007])
  expect((await server(`${PATH}/abc`)).json.errorCode).toBe(4_000_020)
  expect((await server(`${PATH}/00000000-0000-4000-8000-000000000000_1`)).json.errorCode).toBe(4_040_008)
})
