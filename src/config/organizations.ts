/** Settings of organizations and of their apps. */
import { optionalSetting, requiredSetting, setting } from './setting.ts'
import * as is from './values.ts'

export const organization = {
  slug: requiredSetting(is.slug, {
    reason:
      'The name of the organization in URLs and commands. A new slug declares a new organization, unless it comes with the key of an organization that is no longer declared: then that organization is renamed.',
    write: '1 to 40 lowercase letters, digits and hyphens',
    example: '"acme"',
  }),
  name: {
    ...optionalSetting(is.shortText, {
      reason: 'The display name.',
      write: 'a name of up to 200 characters',
      example: '"Acme Apps"',
    }),
    otherwise: 'the slug',
  },
  sdk_auth: setting(is.oneOf(['any', 'key', 'attestation']), 'any', {
    reason:
      'What identify and attribute require from a caller. any accepts every call. key requires an SDK key or an attested device. attestation requires an attested device; it refuses web, Android and simulators. A secret key is always accepted.',
    write: 'any, key or attestation',
  }),
  time_zone: {
    ...optionalSetting(is.timeZone, {
      reason:
        'The time zone of the days in charts, of quiet hours and of digests. A change counts the figures of all days again.',
      write: 'an IANA time zone',
      example: '"Europe/Berlin"',
    }),
    otherwise: 'the one chosen in the dashboard, until then UTC',
  },
  currency: setting(is.currency, 'USD', {
    reason: 'The currency of totals.',
    write: 'an ISO 4217 code',
    example: '"EUR"',
  }),
  publishable_key: optionalSetting(is.publishableKey, {
    reason:
      'A publishable key that shipped apps already contain, to keep it across a new installation. By default, Windfall creates a key and prints it.',
    write: 'pk_live_ followed by 24 to 64 letters and digits',
    example: '"pk_live_…"',
  }),
  secret_key: optionalSetting(is.secretKey, {
    reason:
      'The key of your own backend, whose calls count as proved. Prefer secret_key_file, or let Windfall create a key, which it shows once.',
    write: 'sk_live_ followed by 24 to 64 letters and digits',
    example: '"sk_live_…"',
    secret: true,
  }),
  secret_key_file: optionalSetting(is.filePath, {
    reason: 'Instead of secret_key: a file that contains it, readable only by its owner (chmod 600).',
    write: 'the path of a file',
    example: '"/etc/windfall/secret_key"',
  }),
}

export const app = {
  bundle_id: requiredSetting(is.bundleId, {
    reason: "The app's bundle id, as Apple writes it in every notification.",
    write: 'letters, digits, dots and hyphens',
    example: '"com.example.app"',
  }),
  organization: {
    ...optionalSetting(is.slug, {
      reason: 'The organization that owns the app. Required when several organizations are declared.',
      write: 'the slug of a declared organization',
      example: '"acme"',
    }),
    otherwise: 'the only organization',
  },
  name: {
    ...optionalSetting(is.shortText, {
      reason: 'The display name.',
      write: 'a name of up to 200 characters',
      example: '"Example"',
    }),
    otherwise: 'the bundle id',
  },
  apple_id: optionalSetting(is.appleId, {
    reason:
      'The Apple ID of the app, in App Store Connect under App Information. Windfall also learns it from notifications.',
    write: 'the digits of the Apple ID',
    example: '1234567890',
  }),
  team_id: optionalSetting(is.teamId, {
    reason:
      'The App ID prefix, under Identifiers in the developer account: the team ID, except for some old apps. Devices need it to enrol. Windfall reads it with the App Store Connect key.',
    write: '10 uppercase letters and digits',
    example: '"A1B2C3D4E5"',
  }),
  android_package: optionalSetting(is.androidPackage, {
    reason:
      'The application id of the same app on Android, whose calls then count for this app. Required only if it differs from the bundle id.',
    write: 'the application id',
    example: '"com.example.app"',
  }),
  sku: optionalSetting(is.shortText, {
    reason: "The SKU that you gave the app. Apple's sales reports identify the app by it.",
    write: 'the SKU of the app',
    example: '"EXAMPLE-1"',
  }),
}
