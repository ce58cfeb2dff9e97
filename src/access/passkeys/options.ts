/** What a browser needs to create or to use a passkey, as the JSON of WebAuthn. */
import { CHALLENGE_S } from './challenges.ts'

/** Ed25519, ECDSA with P-256, and RSA with SHA-256, which Windows Hello uses: ids of COSE. */
export const ALGORITHMS = [-8, -7, -257] as const

const TIMEOUT_MS = CHALLENGE_S * 1_000

type CreationInput = {
  challenge: string
  host: string
  user: Buffer
  known: readonly { id: string; transports: string[] }[]
}

/** The options of a new passkey. It is discoverable, so that the sign-in needs no user name, and verifies its user. */
export const creationOptions = ({ challenge, host, user, known }: CreationInput) => ({
  challenge,
  rp: { id: host, name: 'Windfall' },
  user: { id: user.toString('base64url'), name: 'owner', displayName: `Owner of ${host}` },
  pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
  timeout: TIMEOUT_MS,
  attestation: 'none' as const,
  excludeCredentials: known.map((one) => ({ type: 'public-key' as const, ...one })),
  authenticatorSelection: {
    residentKey: 'required' as const,
    requireResidentKey: true,
    userVerification: 'required' as const,
  },
})

/** The options of a sign-in with any passkey of the host. */
export const requestOptions = (challenge: string, host: string) => ({
  challenge,
  rpId: host,
  timeout: TIMEOUT_MS,
  userVerification: 'required' as const,
})
