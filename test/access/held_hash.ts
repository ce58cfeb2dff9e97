/** Puts an event into the gap between the start of a password hash and its end. */
import crypto from 'node:crypto'

/**
 * Sends a request that hashes a password, acts while that hash is running, and returns the answer.
 *
 * @throws Error if the request is answered before it hashes anything.
 */
export async function duringHash<Answer>(
  request: () => Promise<Answer>,
  act: () => Promise<unknown>,
): Promise<Answer> {
  const begun = Promise.withResolvers<void>()
  const acted = Promise.withResolvers<void>()
  const { argon2 } = crypto
  crypto.argon2 = (...[algorithm, given, done]: Parameters<typeof argon2>) => {
    crypto.argon2 = argon2
    begun.resolve()
    void acted.promise.then(() => argon2(algorithm, given, done))
  }
  try {
    const answer = request()
    const tooEarly = answer.then(() => Promise.reject(new Error('the answer came before any hash')))
    await Promise.race([begun.promise, tooEarly])
    tooEarly.catch(() => {})
    await act()
    acted.resolve()
    return await answer
  } finally {
    crypto.argon2 = argon2
    acted.resolve()
  }
}
