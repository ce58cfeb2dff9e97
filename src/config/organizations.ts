/** What may be written: organizations and the apps they sell. */
import { optionalSetting, requiredSetting, setting } from './setting.ts'
import * as is from './values.ts'

export const organization = {
  slug: requiredSetting(is.slug, {
    reason:
      'The name of the organization in addresses and commands. Another slug is another organization, except where it has the key of one that is no longer declared: then that one has the new slug.',
    write: '1 to 40 of a to z, 0 to 9 and -',
    example: '"acme"',
  }),
  name: {
    ...optionalSetting(is.shortText, {
      reason: 'The name that people read.',
      write: 'a name of up to 200 characters',
      example: '"Acme Apps"',
    }),
    otherwise: 'the slug',
  },
  sdk_auth: setting(is.oneOf(['any', 'key', 'attestation']), 'any', {
    reason:
      'What identify and attribute require of a caller: nothing, or a key. A device that Apple attests cannot be required yet.',
    write: 'any or key',
  }),
  time_zone: setting(is.timeZone, 'UTC', {
    reason: 'Where its days begin and end in charts.',
    write: 'an IANA name, as in Europe/Berlin',
  }),
  currency: setting(is.currency, 'USD', {
    reason: 'The currency its totals are shown in.',
    write: 'three capital letters of ISO 4217, as in EUR',
  }),
  publishable_key: optionalSetting(is.publishableKey, {
    reason:
      'A key that is already built into shipped apps, so that it survives a new installation. Without one, Windfall makes a key and prints it.',
    write: 'pk_live_ and 24 to 64 letters and digits',
    example: '"pk_live_…"',
  }),
  secret_key: optionalSetting(is.secretKey, {
    reason:
      'The key of your own backend, whose calls count as proved. Better in a file of its own, or made by Windfall and shown once.',
    write: 'sk_live_ and 24 to 64 letters and digits',
    example: '"sk_live_…"',
    secret: true,
  }),
  secret_key_file: optionalSetting(is.filePath, {
    reason: 'Instead of secret_key: a file that holds it, readable by nobody else (chmod 600).',
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
      reason: 'Whose app it is. Must be written when several organizations are declared.',
      write: 'the slug of a declared organization',
      example: '"acme"',
    }),
    otherwise: 'the only organization',
  },
  name: {
    ...optionalSetting(is.shortText, {
      reason: 'The name that people read.',
      write: 'a name of up to 200 characters',
      example: '"Example"',
    }),
    otherwise: 'the bundle id is shown',
  },
  apple_id: optionalSetting(is.appleId, {
    reason:
      "Apple's number of the app, in App Store Connect under App Information. Learned from notifications too.",
    write: 'the digits of the Apple ID',
    example: '1234567890',
  }),
  team_id: optionalSetting(is.teamId, {
    reason: 'The team that signs the app, under Membership in the developer account. Attestation needs it.',
    write: '10 capital letters and digits',
    example: '"A1B2C3D4E5"',
  }),
  android_package: optionalSetting(is.androidPackage, {
    reason:
      'The application id of the same app on Android, whose calls then belong to it. Needed only where it is not the bundle id.',
    write: 'the application id',
    example: '"com.example.app"',
  }),
  sku: optionalSetting(is.shortText, {
    reason: "The SKU that you gave the app, by which Apple's sales reports name it.",
    write: 'the SKU of the app',
    example: '"EXAMPLE-1"',
  }),
}
