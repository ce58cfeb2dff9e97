/** What we compute: in a sentence, why a purchase or a user has the label that it has. */
import { type LinkFacts, labelOf, type Proof, type Verification } from './link.ts'

/** What came with the call: a credential, or `owner` where a person undid a move. */
export type Means = 'publishable' | 'secret' | 'device' | 'none' | 'owner'

const PROVED: Readonly<Record<Proof, string>> = {
  purchase: 'Apple’s signature over this purchase came with a call that named them',
  device: 'an attested device named them',
  server: 'your backend named them with the secret key',
}
const CALLED: Readonly<Record<Means, string>> = {
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

/** Why the purchase is labelled as it is. */
export function whyLinked(link: LinkFacts & { credential: string; unattested: string | null }): string {
  const { app_user_id, proved_app_user_id, proofs, unattested } = link
  const proved = proofs.map((proof) => PROVED[proof]).join(', and ')
  if (labelOf(link) === 'verified') return sentence(proved)
  if (proved_app_user_id === app_user_id)
    return sentence(`${proved}; no Apple signature over this purchase came with it`)
  const claimed = `${CALLED[meansIn(link.credential)]}${ofDevice(unattested)}; ${NO_SIGNATURE}`
  if (proved_app_user_id === null) return sentence(claimed)
  return sentence(`${claimed}. Proved is ${proved_app_user_id}: ${proved}`)
}

/** Why a user is labelled as the last identify call left them. */
export function whyKnown({
  verification,
  unattested,
}: {
  verification: Verification
  unattested: string | null
}): string {
  if (verification === 'verified')
    return sentence('an attested device, or your backend with the secret key, made the last call')
  const reason = unattested === null ? '' : ` (${wordsOf(unattested)})`
  return sentence(`the last call came without a secret key or an attested device${reason}`)
}

const ofDevice = (unattested: string | null): string =>
  unattested === null ? '' : `, from an unattested device (${wordsOf(unattested)})`

const wordsOf = (unattested: string): string =>
  Object.hasOwn(UNATTESTED, unattested) ? (UNATTESTED[unattested] ?? unattested) : unattested

const meansIn = (credential: string): Means => (isMeans(credential) ? credential : 'none')

const isMeans = (word: string): word is Means => Object.hasOwn(CALLED, word)

const sentence = (words: string): string => `${words[0]?.toUpperCase()}${words.slice(1)}.`
