/** What Apple says: where it is asked. */
import type { Environment } from '../payloads.ts'

/** Origins, without a slash at the end: App Store Connect, and the App Store Server API of each environment. */
export type AppleHosts = { connect: string; server: Record<Environment, string> }

/** Apple's own (Server API: the names recommended since May 2026). */
export const APPLE_HOSTS: AppleHosts = {
  connect: 'https://api.appstoreconnect.apple.com',
  server: { production: 'https://api.storekit.apple.com', sandbox: 'https://api.storekit-sandbox.apple.com' },
}
