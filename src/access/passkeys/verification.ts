/** Verifies what a browser answers when a passkey is created or used (WebAuthn). Loaded on first use. */
import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import { decodeAttestationObject } from '@simplewebauthn/server/helpers'
import { ALGORITHMS } from './options.ts'
import type { Credential, StoredPasskey } from './passkey_rows.ts'

/** A new passkey as the browser answers. */
export type CreatedPasskey = Omit<RegistrationResponseJSON, 'clientExtensionResults'>
/** A use of a passkey as the browser answers. */
export type UsedPasskey = Omit<AuthenticationResponseJSON, 'clientExtensionResults'>

/** Windfall asks for no extensions, so it ignores their results. */
const NO_EXTENSIONS = { clientExtensionResults: {} }

/** What an answer must contain. `useChallenge` uses its challenge, and returns false if that is not valid. */
export type Expected = { host: string; origin: string; useChallenge: (challenge: string) => boolean }

const checksOf = ({ host, origin, useChallenge }: Expected) => ({
  expectedChallenge: useChallenge,
  expectedOrigin: origin,
  expectedRPID: host,
  requireUserVerification: true,
})

/** The new passkey of an answer. @throws Error that says what is wrong. */
export async function verifyCreated(created: CreatedPasskey, expected: Expected): Promise<Credential> {
  assertUncertified(created.response.attestationObject)
  const response = { ...created, ...NO_EXTENSIONS }
  const checks = { ...checksOf(expected), supportedAlgorithmIDs: [...ALGORITHMS] }
  const { verified, registrationInfo } = await verifyRegistrationResponse({ response, ...checks })
  if (!verified) throw new Error('the signature does not match')
  const { credential, credentialBackedUp } = registrationInfo
  return {
    credential_id: credential.id,
    public_key: credential.publicKey,
    transports: credential.transports ?? [],
    is_synced: credentialBackedUp,
    counter: credential.counter,
  }
}

/**
 * Refuses certificates of the authenticator. They were not asked for, browsers remove them, and to verify them the
 * library would request addresses that they name.
 */
function assertUncertified(attestationObject: string): void {
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')))
  const format = decoded.get('fmt')
  const isSelfSigned = format === 'packed' && decoded.get('attStmt').get('x5c') === undefined
  if (format !== 'none' && !isSelfSigned)
    throw new Error('the browser sent certificates of the authenticator')
}

/** The counter of a use of a stored passkey. @throws Error that says what is wrong. */
export async function verifyUsed(
  used: UsedPasskey,
  { credential_id, public_key, counter }: StoredPasskey,
  expected: Expected,
): Promise<number> {
  const response = { ...used, ...NO_EXTENSIONS }
  const credential = { id: credential_id, publicKey: new Uint8Array(public_key), counter }
  const checks = checksOf(expected)
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    credential,
    ...checks,
  })
  if (!verified) throw new Error('the signature does not match')
  return authenticationInfo.newCounter
}
