/** Settings of an account: the API keys that fetch an organization's data from Apple. */
import * as v from 'valibot'
import { optionalSetting, setting } from './setting.ts'
import * as is from './values.ts'

export const account = {
  organization: {
    ...optionalSetting(is.slug, {
      reason: 'The organization that owns the account. Required when several organizations are declared.',
      write: 'the slug of a declared organization',
      example: '"acme"',
    }),
    otherwise: 'the only organization',
  },
  issuer_id: optionalSetting(is.issuerId, {
    reason:
      'The issuer id of the keys, in App Store Connect under Users and Access, Integrations. Leave it out for an individual key, which has no issuer.',
    write: 'the issuer id',
    example: '"69a6de70-03db-47e3-e053-5b8c7c11a4d1"',
  }),
  vendor_numbers: setting(v.array(is.vendorNumber), [], {
    reason:
      "The vendor numbers whose sales reports are fetched, in App Store Connect under Payments and Financial Reports. Apple's API does not return them. Without one, no report is fetched.",
    write: 'a list of vendor numbers',
    example: '["80012345"]',
  }),
  connect_key_id: optionalSetting(is.keyId, {
    reason: 'The id of the App Store Connect API key. It is also in the name of the key file.',
    write: 'the key id',
    example: '"2X9R4HXF34"',
  }),
  connect_key: optionalSetting(is.privateKey, {
    reason:
      'The App Store Connect API key, with the role Admin or Finance (Sales can read reports too). Prefer connect_key_file.',
    write: 'the contents of the .p8 file',
    example: '"-----BEGIN PRIVATE KEY-----…"',
    secret: true,
  }),
  connect_key_file: optionalSetting(is.filePath, {
    reason: 'Instead of connect_key: the .p8 file from Apple, readable only by its owner (chmod 600).',
    write: 'the path of a file',
    example: '"keys/AuthKey_2X9R4HXF34.p8"',
  }),
  purchase_issuer_id: {
    ...optionalSetting(is.issuerId, {
      reason:
        'The issuer id of the In-App Purchase key, if it differs from that of the App Store Connect key.',
      write: 'the issuer id',
      example: '"57246542-96fe-1a63-e053-0824d011072a"',
    }),
    otherwise: 'issuer_id',
  },
  purchase_key_id: optionalSetting(is.keyId, {
    reason: 'The id of the In-App Purchase key. It is also in the name of the key file.',
    write: 'the key id',
    example: '"ABCDE12345"',
  }),
  purchase_key: optionalSetting(is.privateKey, {
    reason:
      'The In-App Purchase key, which gives access to the history of notifications and transactions. Prefer purchase_key_file.',
    write: 'the contents of the .p8 file',
    example: '"-----BEGIN PRIVATE KEY-----…"',
    secret: true,
  }),
  purchase_key_file: optionalSetting(is.filePath, {
    reason: 'Instead of purchase_key: the .p8 file from Apple, readable only by its owner (chmod 600).',
    write: 'the path of a file',
    example: '"keys/SubscriptionKey_ABCDE12345.p8"',
  }),
}
