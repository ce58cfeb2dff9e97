/** Notifications of the simulated App Store, only those with three signed payloads. */
import { authorityFrom, type Chain } from '../../../src/demo/signing/authority.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import type { EnvironmentName, UnsignedNotification } from '../../../src/demo/world/unsigned.ts'

const TWO_YEARS_MS = 2 * 365 * 86_400_000

/** A notification, the signed payloads in it, and its app. */
export type SignedNotification = {
  signedPayload: string
  transaction: string
  renewal: string
  app: { bundle_id: string; apple_id: number; environment: EnvironmentName }
}

type OuterPayload = { data?: { signedTransactionInfo?: string; signedRenewalInfo?: string } }

function unpack(
  signedPayload: string,
  { data }: UnsignedNotification,
  apple_id: number,
): SignedNotification | null {
  const [, payload = ''] = signedPayload.split('.')
  const outer: OuterPayload = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const { signedTransactionInfo: transaction, signedRenewalInfo: renewal } = outer.data ?? {}
  if (data === undefined || transaction === undefined || renewal === undefined) return null
  return {
    signedPayload,
    transaction,
    renewal,
    app: { bundle_id: data.bundleId, apple_id, environment: data.environment },
  }
}

/** Signs the notifications of a simulated company with `subscribers` over two years under `chain`, oldest first. */
export function openNotifications(chain: Chain, subscribers: number, now: number) {
  const authority = authorityFrom(chain)
  const simulation = openSimulation({ seed: 1, from: now - TWO_YEARS_MS, until: now, subscribers, authority })
  const apps = simulation.apps.map(({ bundle_id, apple_id }) => ({ bundle_id, apple_id }))

  function* generate(): Generator<SignedNotification> {
    for (const step of simulation.steps()) {
      if (step.kind !== 'notification') continue
      const apple_id = apps.find(({ bundle_id }) => bundle_id === step.bundle_id)?.apple_id ?? 0
      const notification = unpack(step.body.signedPayload, step.payload, apple_id)
      if (notification !== null) yield notification
    }
  }
  const remaining = generate()

  /** Returns the next `count` notifications. @throws Error if fewer remain. */
  function take(count: number): SignedNotification[] {
    return Array.from({ length: count }, () => {
      const { done, value } = remaining.next()
      if (done) throw new Error('the simulated history has too few notifications for this benchmark')
      return value
    })
  }

  return { apps, take }
}
