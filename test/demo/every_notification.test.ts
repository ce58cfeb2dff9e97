import { Environment, SignedDataVerifier } from '@apple/app-store-server-library'
import { expect, test } from 'vitest'
import { openAuthority } from '../../src/demo/signing/authority.ts'
import { APPS } from '../../src/demo/world/catalogue.ts'
import { nonEmpty } from '../non_empty.ts'
import { EVERY_NOTIFICATION, oneOfEachNotification } from './every_notification.ts'
import { FROM, nameOf, notificationsOf, unsigned } from './run_simulation.ts'

test('each type and subtype occurs', () => {
  const { steps } = oneOfEachNotification({ seed: 1, from: FROM, authority: unsigned })
  const names = new Set(notificationsOf(steps).map((step) => nameOf(step.payload)))
  expect([...names].sort()).toEqual(
    EVERY_NOTIFICATION.map(([type, subtype]) => `${type}/${subtype ?? '-'}`).sort(),
  )
  expect(steps.length).toBeLessThan(100)
})

test('each notification is delivered once, in order', () => {
  const { steps } = oneOfEachNotification({ seed: 2, from: FROM, authority: unsigned })
  const ids = notificationsOf(steps).map((step) => step.payload.notificationUUID)
  expect(new Set(ids).size).toBe(ids.length)
  for (const [index, step] of steps.entries())
    expect(step.at).toBeGreaterThanOrEqual(steps[index - 1]?.at ?? FROM)
})

test("Apple's own library accepts each of them under the simulated root", async () => {
  const authority = await openAuthority({ now: FROM })
  const root = authority.chain[2] ?? Buffer.alloc(0)
  const { steps } = oneOfEachNotification({ seed: 3, from: FROM, authority })
  for (const step of nonEmpty(notificationsOf(steps))) {
    const app = APPS.find((candidate) => candidate.bundle_id === step.bundle_id)
    const verifier = new SignedDataVerifier(
      [root],
      false,
      Environment.PRODUCTION,
      step.bundle_id,
      app?.apple_id,
    )
    const read = await verifier.verifyAndDecodeNotification(step.body.signedPayload)
    expect(nameOf({ ...step.payload, ...(read as object) })).toBe(nameOf(step.payload))
    const { signedTransactionInfo, signedRenewalInfo } = read.data ?? {}
    if (signedTransactionInfo) await verifier.verifyAndDecodeTransaction(signedTransactionInfo)
    if (signedRenewalInfo) await verifier.verifyAndDecodeRenewalInfo(signedRenewalInfo)
    if (read.appData?.signedAppTransactionInfo)
      await verifier.verifyAndDecodeAppTransaction(read.appData.signedAppTransactionInfo)
  }
})
