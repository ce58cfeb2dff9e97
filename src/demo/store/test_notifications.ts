/** The simulated test notification endpoints. The notification goes over HTTP to the configured URL. */
import { randomUUID } from 'node:crypto'
import { request } from 'undici'
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import type { Sign } from '../signing/signatures.ts'
import { appFields } from '../world/announce.ts'
import type { App } from '../world/products.ts'
import type { Attempt, SentLog } from '../world/sent_log.ts'
import { signNotification, type UnsignedNotification } from '../world/unsigned.ts'
import type { StoreFaults } from './fault_injection.ts'
import type { Answer } from './listener.ts'
import { serverRefusal } from './refusals.ts'

const TIMEOUT_MS = 10_000

type SentTest = { payload: UnsignedNotification; attempts: Attempt[] }

/** Sends a POST request like Apple's. Returns Apple's `sendAttemptResult` for the response. */
async function post(url: string, body: object): Promise<string> {
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    })
    await answer.body.dump()
    return answer.statusCode >= 200 && answer.statusCode < 207 ? 'SUCCESS' : 'UNSUCCESSFUL_HTTP_RESPONSE_CODE'
  } catch (error) {
    return /timeout/i.test(String(error)) ? 'TIMED_OUT' : 'NO_RESPONSE'
  }
}

type TestNotificationsOptions = { sent: SentLog; sign: Sign; clock: Clock; faults: StoreFaults }

export function openTestNotifications({ sent, sign, clock, faults }: TestNotificationsOptions) {
  const tests = new Map<string, SentTest>()
  const pending = new Set<Promise<void>>()

  async function send(test: SentTest, url: string): Promise<void> {
    const result = faults.test_result ?? (await post(url, signNotification(test.payload, sign)))
    test.attempts.push({ at: clock(), result })
  }

  function startTest(app: App, environment: Environment, url: string): string {
    const token = `${randomUUID()}_${clock()}`
    const payload: UnsignedNotification = {
      notificationType: 'TEST',
      notificationUUID: randomUUID(),
      version: '2.0',
      signedDate: clock(),
      data: appFields(app, environment),
    }
    const test: SentTest = { payload, attempts: [] }
    tests.set(`${environment} ${token}`, test)
    sent.add({ bundle_id: app.bundle_id, environment, payload, attempts: test.attempts })
    const sending = send(test, url).finally(() => pending.delete(sending))
    pending.add(sending)
    return token
  }

  return {
    /** POST /inApps/v1/notifications/test. */
    request(app: App, environment: Environment): Answer {
      const url = faults.notification_url
      if (url === null) {
        return serverRefusal(4_040_007, 'No App Store Server Notification URL found for provided app.')
      }
      return { status: 200, json: { testNotificationToken: startTest(app, environment, url) } }
    },
    /** GET /inApps/v1/notifications/test/{token}. */
    status(environment: Environment, token: string): Answer {
      if (!/^[0-9a-f-]{36}_\d+$/.test(token)) {
        return serverRefusal(4_000_020, 'Invalid request. The test notification token is invalid.')
      }
      const test = tests.get(`${environment} ${token}`)
      if (test === undefined || test.attempts.length === 0) {
        return serverRefusal(
          4_040_008,
          'Either the test notification token is expired or the notification and status are not yet available.',
        )
      }
      const sendAttempts = test.attempts.map(({ at, result }) => ({
        attemptDate: at,
        sendAttemptResult: result,
      }))
      return { status: 200, json: { ...signNotification(test.payload, sign), sendAttempts } }
    },
    /** Waits until all test notifications have been sent. */
    settled: async (): Promise<void> => void (await Promise.all(pending)),
  }
}
