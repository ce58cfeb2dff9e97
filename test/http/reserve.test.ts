import { expect, onTestFinished, test } from 'vitest'
import { openBodyAccount } from '../../src/http/body/budget.ts'
import { BUNDLE } from '../apple/samples.ts'
import { openTestApp } from '../helpers.ts'

const MEGABYTE = 1_048_576

/** Takes all the memory for bodies that is not reserved, as slow senders from many addresses do. */
function useUpCommonRoom(): void {
  for (let n = 0; ; n += 1) {
    const account = openBodyAccount(`10.0.${n}.1`, 'common')
    onTestFinished(account.close)
    if (!account.growTo(4 * MEGABYTE)) return
  }
}

test('reserves memory for notifications, SDK calls and sign-in', async () => {
  const app = await openTestApp()
  const owner = await app.signIn()
  useUpCommonRoom()
  const sdk = { appUserId: 'user', bundleId: BUNDLE }
  const statuses = [
    await app.post('/apple/notifications', { signedPayload: 'x' }),
    await app.post('/api/sdk/v1/identify', sdk),
    await app.post('/api/sdk/v1/attribute', { ...sdk, originalTransactionId: '2000000000000001' }),
    await app.post('/api/v1/login', { password: 'a wrong password' }, { 'sec-fetch-site': 'same-origin' }),
    await app.post('/api/v1/tokens', { label: 'x' }, owner),
  ].map(({ status, body }) => `${status} ${body.code ?? ''}`.trim())
  expect(statuses.slice(1, 3)).toEqual(['200', '200'])
  expect(statuses[0]).toMatch(/^40/)
  expect(statuses[3]).toMatch(/^401/)
  expect(statuses[4]).toBe('503 busy')
})
