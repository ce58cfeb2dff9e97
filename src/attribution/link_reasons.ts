/** Explains in a sentence why a link or a user is verified or not. */
import { anonymityOf } from './anonymous.ts'
import { type LinkFacts, labelOf, type Proof, type Verification } from './link.ts'

/** The credential of the call; `owner` if a person undid a move. */
export type CallCredential = 'publishable' | 'secret' | 'device' | 'none' | 'owner'

const PROOF_TEXTS: Readonly<Record<Proof, string>> = {
  purchase: 'Apple’s signature over this purchase came with a call that named this user',
  device: 'an attested device named this user',
  server: 'your backend named this user with the secret key',
}
const CREDENTIAL_TEXTS: Readonly<Record<CallCredential, string>> = {
  none: 'claimed by a call without a key',
  publishable: 'claimed by a call with the publishable key, which every copy of the app holds',
  device: 'claimed by a device',
  secret: 'claimed by your backend',
  owner: 'restored by the owner',
}
/** The attestation states that SDKs report. Other states are shown unchanged. */
const UNATTESTED_TEXTS: Readonly<Record<string, string>> = {
  pending: 'its attestation is not finished',
  unsupported: 'it cannot be attested',
  simulator: 'it is a simulator',
  'enroll-failed': 'its enrollment failed',
}

const NO_SIGNATURE = 'no Apple signature came with the call'

/** The calls with which an app claims a purchase that an anonymous install has proved. */
const CLAIMS: readonly CallCredential[] = ['none', 'publishable']
const BUYER_TEXTS = { sure: 'an anonymous install', likely: 'what looks like an anonymous install' }

type Labelled = LinkFacts & { credential: string; unattested: string | null }

/**
 * Whether an anonymous install proved a purchase and a named user has claimed the purchase since. This happens when a
 * customer buys before signing in. It is likely, but not proved, that both ids belong to one person.
 */
export function isClaimedFromInstall({
  app_user_id,
  proved_app_user_id,
  proofs,
  credential,
}: Labelled): boolean {
  if (proved_app_user_id === null || !proofs.includes('purchase')) return false
  const isAnonymous = anonymityOf(proved_app_user_id) !== null && anonymityOf(app_user_id) === null
  return isAnonymous && CLAIMS.includes(credentialIn(credential))
}

/** Explains the label of a link. */
export function explainLinkLabel(link: Labelled): string {
  const { app_user_id, proved_app_user_id, proofs, unattested } = link
  const proved = proofs.map((proof) => PROOF_TEXTS[proof]).join(', and ')
  if (labelOf(link) === 'verified') return sentence(proved)
  if (proved_app_user_id === app_user_id)
    return sentence(`${proved}; no Apple signature over this purchase came with it`)
  const claimed = `${CREDENTIAL_TEXTS[credentialIn(link.credential)]}${ofDevice(unattested)}; ${NO_SIGNATURE}`
  if (proved_app_user_id === null) return sentence(claimed)
  if (isClaimedFromInstall(link)) {
    const buyer = BUYER_TEXTS[anonymityOf(proved_app_user_id) ?? 'likely']
    return sentence(
      `${buyer} bought this, and ${app_user_id} claimed it later without Apple’s signature. To verify it, ask the customer to tap Restore Purchases in the current version of your app, which sends the signature`,
    )
  }
  return sentence(`${claimed}. The proved user is ${proved_app_user_id}: ${proved}`)
}

/** Explains the label that the last identify call gave a user. */
export function explainUserLabel({
  verification,
  unattested,
}: {
  verification: Verification
  unattested: string | null
}): string {
  if (verification === 'verified')
    return sentence('an attested device, or your backend with the secret key, made the last call')
  const reason = unattested === null ? '' : ` (${describeUnattested(unattested)})`
  return sentence(`the last call came without a secret key or an attested device${reason}`)
}

const ofDevice = (unattested: string | null): string =>
  unattested === null ? '' : `, from an unattested device (${describeUnattested(unattested)})`

const describeUnattested = (unattested: string): string =>
  Object.hasOwn(UNATTESTED_TEXTS, unattested) ? (UNATTESTED_TEXTS[unattested] ?? unattested) : unattested

const credentialIn = (credential: string): CallCredential => (isCredential(credential) ? credential : 'none')

const isCredential = (word: string): word is CallCredential => Object.hasOwn(CREDENTIAL_TEXTS, word)

const sentence = (words: string): string => `${words[0]?.toUpperCase()}${words.slice(1)}.`
