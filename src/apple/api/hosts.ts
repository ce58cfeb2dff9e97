/** The hosts of Apple's APIs. */
import type { Environment } from '../payloads.ts'

/**
 * Origins, without a trailing slash: App Store Connect, the App Store Server API of each environment, and the public
 * lookup of apps, which has their icons. Without a lookup, apps have no icons.
 */
export type AppleHosts = { connect: string; server: Record<Environment, string>; lookup?: string }

/** Apple's hosts (for the Server API, the names that Apple recommends since May 2026). */
export const APPLE_HOSTS: AppleHosts = {
  connect: 'https://api.appstoreconnect.apple.com',
  server: { production: 'https://api.storekit.apple.com', sandbox: 'https://api.storekit-sandbox.apple.com' },
  lookup: 'https://itunes.apple.com',
}
