/** What may be written: the keys with which Apple is asked for an organization's numbers. */
import * as v from 'valibot'
import { optionalSetting, setting } from './setting.ts'
import * as is from './values.ts'

export const account = {
  organization: {
    ...optionalSetting(is.slug, {
      reason: 'Whose account it is. Must be written when several organizations are declared.',
      write: 'the slug of a declared organization',
      example: '"acme"',
    }),
    otherwise: 'the only organization',
  },
  issuer_id: optionalSetting(is.issuerId, {
    reason:
      'Who issued the keys, in App Store Connect under Users and Access, Integrations. An individual key has no issuer: leave it out.',
    write: 'the issuer id',
    example: '"69a6de70-03db-47e3-e053-5b8c7c11a4d1"',
  }),
  vendor_numbers: setting(v.array(is.vendorNumber), [], {
    reason:
      "Whose sales reports are fetched: the number in App Store Connect under Payments and Financial Reports, which Apple's API does not tell. Without one no report is fetched.",
    write: 'a list of vendor numbers',
    example: '["80012345"]',
  }),
  connect_key_id: optionalSetting(is.keyId, {
    reason: 'The id of the App Store Connect API key, which stands in the name of its file too.',
    write: 'the id of the key',
    example: '"2X9R4HXF34"',
  }),
  connect_key: optionalSetting(is.privateKey, {
    reason:
      'The App Store Connect API key itself, of the role Admin or Finance (Sales can read reports, too). Better in a file of its own.',
    write: 'the text of the .p8 file as Apple gave it',
    example: '"-----BEGIN PRIVATE KEY-----…"',
    secret: true,
  }),
  connect_key_file: optionalSetting(is.filePath, {
    reason: 'Instead of connect_key: the .p8 file that Apple gave, readable by nobody else (chmod 600).',
    write: 'the path of a file',
    example: '"keys/AuthKey_2X9R4HXF34.p8"',
  }),
  purchase_issuer_id: {
    ...optionalSetting(is.issuerId, {
      reason: 'Who issued the In-App Purchase key, where it is another than the Connect key has.',
      write: 'the issuer id',
      example: '"57246542-96fe-1a63-e053-0824d011072a"',
    }),
    otherwise: 'issuer_id',
  },
  purchase_key_id: optionalSetting(is.keyId, {
    reason: 'The id of the In-App Purchase key, which stands in the name of its file too.',
    write: 'the id of the key',
    example: '"ABCDE12345"',
  }),
  purchase_key: optionalSetting(is.privateKey, {
    reason:
      'The In-App Purchase key itself, which opens the history of notifications and transactions. Better in a file of its own.',
    write: 'the text of the .p8 file as Apple gave it',
    example: '"-----BEGIN PRIVATE KEY-----…"',
    secret: true,
  }),
  purchase_key_file: optionalSetting(is.filePath, {
    reason: 'Instead of purchase_key: the .p8 file that Apple gave, readable by nobody else (chmod 600).',
    write: 'the path of a file',
    example: '"keys/SubscriptionKey_ABCDE12345.p8"',
  }),
}
