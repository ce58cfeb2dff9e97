/** What we compute: in a sentence, why a purchase or a user has the label that it has. */
import { anonymityOf } from './anonymous.ts'
import { type LinkFacts, labelOf, type Proof, type Verification } from './link.ts'

/** What came with the call: a credential, or `owner` where a person undid a move. */
export type CallCredential = 'publishable' | 'secret' | 'device' | 'none' | 'owner'

const PROVED: Readonly<Record<Proof, string>> = {
  purchase: 'Apple’s signature over this purchase came with a call that named them',
  device: 'an attested device named them',
  server: 'your backend named them with the secret key',
}
const CALLED: Readonly<Record<CallCredential, string>> = {
  none: 'claimed by a call without a key',
  publishable: 'claimed by a call with the publishable key, which every copy of the app holds',
  device: 'claimed by a device',
  secret: 'claimed by your backend',
  owner: 'put back by the owner',
}
/** What SDKs say of themselves; other words are told as they came. */
const UNATTESTED: Readonly<Record<string, string>> = {
  pending: 'its attestation was not finished',
  unsupported: 'it cannot be attested',
  simulator: 'it is a simulator',
  'enroll-failed': 'its enrolment failed',
}

const NO_SIGNATURE = 'no Apple signature came with the call'

/** By which call a user claimed a purchase that an anonymous install had proved. */
const CLAIM_SOURCE: Partial<Record<CallCredential, string>> = {
  none: 'in a call without a key',
  publishable: 'in a call with the publishable key, which every copy of the app holds',
}
const BUYER = {
  sure: 'an anonymous install that proved it',
  likely: 'what looks like an anonymous install (its id is a bare UUID), which proved it',
}

type Labelled = LinkFacts & { credential: string; unattested: string | null }

/**
 * Whether a purchase was proved by the id of an anonymous install and is claimed by a named user since, as it is when
 * a customer buys before signing in. That both ids are one person is likely, and not proved.
 */
export function isHandedOver({ app_user_id, proved_app_user_id, proofs, credential }: Labelled): boolean {
  if (proved_app_user_id === null || !proofs.includes('purchase')) return false
  const isAnonymous = anonymityOf(proved_app_user_id) !== null && anonymityOf(app_user_id) === null
  return isAnonymous && CLAIM_SOURCE[credentialIn(credential)] !== undefined
}

/** Why the purchase is term as it is. */
export function explainLinkLabel(link: Labelled): string {
  const { app_user_id, proved_app_user_id, proofs, unattested } = link
  const proved = proofs.map((proof) => PROVED[proof]).join(', and ')
  if (labelOf(link) === 'verified') return sentence(proved)
  if (proved_app_user_id === app_user_id)
    return sentence(`${proved}; no Apple signature over this purchase came with it`)
  const claimed = `${CALLED[credentialIn(link.credential)]}${ofDevice(unattested)}; ${NO_SIGNATURE}`
  if (proved_app_user_id === null) return sentence(claimed)
  if (isHandedOver(link)) {
    const buyer = BUYER[anonymityOf(proved_app_user_id) ?? 'likely']
    const credentialText = `${CLAIM_SOURCE[credentialIn(link.credential)]}${ofDevice(unattested)}`
    return sentence(
      `bought by ${buyer}, then claimed by ${app_user_id} ${credentialText}; no Apple signature came with that call. The install is ${proved_app_user_id}: ${proved}`,
    )
  }
  return sentence(`${claimed}. Proved is ${proved_app_user_id}: ${proved}`)
}

/** Why a user is term as the last identify call left them. */
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
  Object.hasOwn(UNATTESTED, unattested) ? (UNATTESTED[unattested] ?? unattested) : unattested

const credentialIn = (credential: string): CallCredential => (isCredential(credential) ? credential : 'none')

const isCredential = (word: string): word is CallCredential => Object.hasOwn(CALLED, word)

const sentence = (words: string): string => `${words[0]?.toUpperCase()}${words.slice(1)}.`
