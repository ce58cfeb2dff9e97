/** The part of the package that the tests use; it has no types of its own. */
declare module 'http_ece' {
  import type { ECDH } from 'node:crypto'

  type Options = { version: string; privateKey: ECDH; authSecret: string }
  const ece: { decrypt: (body: Buffer, options: Options) => Buffer }
  export default ece
}
