/** Verifies signed payloads under the root of the test authority. */
import { openVerifier, SignatureError } from '../../src/apple/jws/signed.ts'
import { NOW } from './samples.ts'

type Rooted = { root_pem: string }

export const verifierOf = ({ root_pem }: Rooted, now = NOW) =>
  openVerifier({ roots: [root_pem], clock: () => now })

/** Returns the code of the refusal, or the payload. */
export async function verdictUnder(root: Rooted, jws: string, now = NOW): Promise<unknown> {
  try {
    return (await verifierOf(root, now).verify(jws)).payload
  } catch (error) {
    if (error instanceof SignatureError) return error.code
    throw error
  }
}
