/** Notifications for the bench: those of the simulated App Store with three signed payloads. */
import { authorityFrom, type Chain } from '../../../src/demo/signing/authority.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import type { EnvironmentName, UnsignedNotification } from '../../../src/demo/world/unsigned.ts'

const TWO_YEARS_MS = 2 * 365 * 86_400_000

/** A notification, the texts within it, and the app that it is about. */
export type Mail = {
  signedPayload: string
  transaction: string
  renewal: string
  app: { bundle_id: string; apple_id: number; environment: EnvironmentName }
}

type Outer = { data?: { signedTransactionInfo?: string; signedRenewalInfo?: string } }

function mailOf(signedPayload: string, { data }: UnsignedNotification, apple_id: number): Mail | null {
  const [, payload = ''] = signedPayload.split('.')
  const outer: Outer = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const { signedTransactionInfo: transaction, signedRenewalInfo: renewal } = outer.data ?? {}
  if (data === undefined || transaction === undefined || renewal === undefined) return null
  return {
    signedPayload,
    transaction,
    renewal,
    app: { bundle_id: data.bundleId, apple_id, environment: data.environment },
  }
}

/** The post of a simulated company with so many subscribers over two years, signed under `chain`, oldest first. */
export function openMail(chain: Chain, subscribers: number, now: number) {
  const authority = authorityFrom(chain)
  const simulation = openSimulation({ seed: 1, from: now - TWO_YEARS_MS, until: now, subscribers, authority })
  const apps = simulation.apps.map(({ bundle_id, apple_id }) => ({ bundle_id, apple_id }))

  function* payloads(): Generator<Mail> {
    for (const step of simulation.steps()) {
      if (step.kind !== 'notification') continue
      const apple_id = apps.find(({ bundle_id }) => bundle_id === step.bundle_id)?.apple_id ?? 0
      const mail = mailOf(step.body.signedPayload, step.payload, apple_id)
      if (mail !== null) yield mail
    }
  }
  const coming = payloads()

  /** The next `count`, which never come again. */
  function take(count: number): Mail[] {
    return Array.from({ length: count }, () => {
      const { done, value } = coming.next()
      if (done) throw new Error('the simulated history is too short for this bench')
      return value
    })
  }

  return { apps, take }
}
