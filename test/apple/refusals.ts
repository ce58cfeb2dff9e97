/** What becomes of a signed text under a root of the test's own. */
import { openVerifier, SignatureError } from '../../src/apple/jws/signed.ts'
import { NOW } from './samples.ts'

type Rooted = { root_pem: string }

export const verifierOf = ({ root_pem }: Rooted, now = NOW) =>
  openVerifier({ roots: [root_pem], clock: () => now })

/** The code that a text is refused with, or what it says. */
export async function verdictUnder(root: Rooted, jws: string, now = NOW): Promise<unknown> {
  try {
    return (await verifierOf(root, now).verify(jws)).payload
  } catch (error) {
    if (error instanceof SignatureError) return error.code
    throw error
  }
}
