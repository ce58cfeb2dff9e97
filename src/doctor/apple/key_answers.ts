/** Judges what a person enters to connect Apple: ids and numbers by their form, and vendor numbers with Apple. */
import * as v from 'valibot'
import type { ApiKey } from '../../apple/api/keys.ts'
import { issuerId, keyId, vendorNumber } from '../../config/values.ts'
import { type AppleQueryOptions, faultOfVendor, problemOf } from './key_checks.ts'

export const KEY_ID_NEEDED = 'a key id is required; it is in the name of the file.'

export const faultOfKeyId = (id: string | null): string | null =>
  v.is(keyId, id) ? null : `${id ?? 'nothing'} is not a key id such as 2X9R4HXF34.`

/** The fault of an issuer id. A null id is valid, because an individual key has no issuer. */
export const faultOfIssuer = (id: string | null): string | null =>
  id === null || v.is(issuerId, id)
    ? null
    : `${id} is not an issuer id such as 69a6de70-03db-47e3-e053-5b8c7c11a4d1, which is shown above the list of keys.`

export const faultOfVendorNumber = (number: string): string | null =>
  v.is(vendorNumber, number)
    ? null
    : `${number} is not a vendor number such as 80012345, which contains only digits.`

/** The fault of the issuer id of an In-App Purchase key, which is always a team's. */
export const faultOfPurchaseIssuer = (id: string | null): string | null =>
  id === null
    ? 'an In-App Purchase key requires its issuer id, which is shown above the list of keys.'
    : faultOfIssuer(id)

export const SAME_KEY =
  'this is the App Store Connect API key again; the In-App Purchase key is a different key, in a file named SubscriptionKey_….p8.'

/** Whether two files contain the same key. */
export const isSameKey = (pem: string, other: string): boolean => pem.trim() === other.trim()

/** `isKeyFault`: another key may work. `isRefused`: Apple answered that it does not accept the number or the key. */
type VendorFault = { text: string; isKeyFault: boolean; isRefused: boolean }

/** The first vendor number whose reports Apple refuses to this key; null if there is none. */
export async function faultOfVendors(
  numbers: readonly string[],
  key: ApiKey,
  apple: AppleQueryOptions,
): Promise<VendorFault | null> {
  for (const number of numbers) {
    const fault = await faultOfVendor(key, apple, number)
    if (fault === null) continue
    const isKeyFault = ['unauthorized', 'forbidden', 'agreement'].includes(fault.kind)
    return { text: `${number}: ${fault.message}`, isKeyFault, isRefused: problemOf(fault).isRefused }
  }
  return null
}
