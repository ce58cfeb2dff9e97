/** Password hashes that cost the tests nothing. */
import crypto from 'node:crypto'

/** The cost of `src/access/passwords.ts`. Hashes of another cost are computed as they are. */
const REAL_KIB = 65_536
const CHEAP = { memory: 64, passes: 1 }

/**
 * Computes the hashes of new passwords at the lowest cost, in the suites that run in this process: 64 MiB for each sign-in
 * take a tenth of their time. The stored text still says the real cost, which the fault suite pays.
 */
export function useCheapPasswords(): void {
  const { argon2 } = crypto
  const isCore = ['core', 'fast'].includes(process.env.WINDFALL_SUITE ?? 'core')
  if (!isCore || argon2.name === 'cheapArgon2') return
  crypto.argon2 = cheapArgon2
  function cheapArgon2(...[algorithm, given, done]: Parameters<typeof argon2>): void {
    argon2(algorithm, given.memory === REAL_KIB ? { ...given, ...CHEAP } : given, done)
  }
}
