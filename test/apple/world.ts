/** Valid signed payloads, and the trusted and untrusted authorities that mutations use. */
import { APPLE_ROOTS } from '../../src/apple/jws/roots.ts'
import { systemClock } from '../../src/clock.ts'
import {
  type Authority,
  authorityFrom,
  type Chain,
  issueChain,
  openAuthority,
} from '../../src/demo/signing/authority.ts'
import { issueCertificate } from '../../src/demo/signing/certificates.ts'
import {
  APPLE_ID,
  appTransactionPayload,
  BUNDLE,
  dataBody,
  outerPayload,
  renewalPayload,
  transactionPayload,
} from './samples.ts'
import { haveVectors, listVectors, textOf } from './vectors.ts'
import type { App, Kind, Submission } from './verdicts.ts'

export type Payload = Record<string, unknown>
/** A valid payload with its key, so that a mutation can sign it again. */
export type Made = Submission & { payload: Payload; signer: Authority }

export const DAY = 86_400_000

function signedParts(signer: Authority, environment: string, now: number) {
  const common = { environment, signedDate: now }
  return {
    signedTransactionInfo: signer.sign(transactionPayload(common)),
    signedRenewalInfo: signer.sign(renewalPayload(common)),
  }
}

/** Signs every kind of payload with every kind of body for one environment. */
function payloadsOf(signer: Authority, environment: App['environment'], now: number): [Kind, Payload][] {
  const common = { environment, signedDate: now }
  const dated = { signedDate: now }
  const place = { environment, bundleId: BUNDLE, appAppleId: APPLE_ID }
  const token = { externalPurchaseId: environment === 'Sandbox' ? 'SANDBOX_1' : '1', tokenCreationDate: now }
  const app = signer.sign(appTransactionPayload({ receiptType: environment, receiptCreationDate: now }))
  return [
    ['transaction', transactionPayload(common)],
    ['renewal', renewalPayload(common)],
    ['app transaction', appTransactionPayload({ receiptType: environment, receiptCreationDate: now })],
    ['notification', outerPayload(dataBody({ ...place, ...signedParts(signer, environment, now) }), dated)],
    ['notification', outerPayload(dataBody(place), { ...dated, notificationType: 'TEST' })],
    ['notification', outerPayload({ summary: { ...place, succeededCount: 1 } }, dated)],
    ['notification', outerPayload({ externalPurchaseToken: { ...place, ...token } }, dated)],
    ['notification', outerPayload({ appData: { ...place, signedAppTransactionInfo: app } }, dated)],
  ]
}

function genuineTexts(): Submission[] {
  if (!haveVectors) return []
  const root_pem = APPLE_ROOTS[0] ?? ''
  const names = listVectors('apple-signed/').filter((name) => name.endsWith('.jws'))
  return names.map((name) => {
    const jws = textOf(`apple-signed/${name}`)
    const { bundleId, data } = JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString())
    const app: App = {
      bundle_id: bundleId ?? data.bundleId,
      apple_id: data?.appAppleId ?? 1,
      environment: 'Sandbox',
    }
    const kind = name.startsWith('notification') ? 'notification' : 'transaction'
    return { kind, jws, root_pem, app }
  })
}

/** Chains under the trusted root that must be refused, or that Apple's library and Windfall judge differently. */
async function oddChains(trusted: Chain, now: number) {
  const leaf = issueCertificate({
    name: 'Simulated Receipt Signing',
    key: trusted.leaf_key,
    issuer: trusted.issued.intermediate,
    from: now - DAY,
    until: now + DAY,
    isAuthority: true,
    markers: ['1.2.840.113635.100.6.11.1'],
  })
  return {
    leaf_unmarked: await issueChain({ now, root_of: trusted, without: 'leaf_marker' }),
    intermediate_unmarked: await issueChain({ now, root_of: trusted, without: 'intermediate_marker' }),
    intermediate_no_authority: await issueChain({ now, root_of: trusted, without: 'ca_flag' }),
    leaf_expired: await issueChain({ now, intermediate_of: trusted, leaf_until: now - DAY }),
    intermediate_expired: await issueChain({ now, root_of: trusted, intermediate_until: now - DAY }),
    leaf_on_p384: await issueChain({ now, intermediate_of: trusted, leaf_curve: 'P-384' }),
    leaf_an_authority: { ...trusted, chain: [leaf.der, ...trusted.chain.slice(1)] },
  }
}

export type World = Awaited<ReturnType<typeof openWorld>>

/** Keys are new each time; everything else is deterministic. */
export async function openWorld() {
  const now = systemClock()
  const trusted = await openAuthority({ now })
  const made: Made[] = []
  for (const environment of ['Production', 'Sandbox'] as const) {
    const app = { bundle_id: BUNDLE, apple_id: APPLE_ID, environment }
    for (const [kind, payload] of payloadsOf(trusted, environment, now)) {
      const jws = trusted.sign(payload)
      made.push({ kind, jws, root_pem: trusted.root_pem, app, payload, signer: trusted })
    }
  }
  return {
    now,
    trusted,
    stranger: await openAuthority({ now }),
    same_intermediate: authorityFrom(await issueChain({ now, intermediate_of: trusted })),
    same_root: authorityFrom(await issueChain({ now, root_of: trusted })),
    odd: await oddChains(trusted, now),
    made,
    genuine: genuineTexts(),
  }
}
