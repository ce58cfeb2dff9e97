/** Encodes the body of an event for storage: JSON, compressed with a dictionary of recurring text. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * Never change this dictionary: stored bodies can be decoded only with it. For a second
 * dictionary, each row would need a version.
 */
const DICTIONARY = Buffer.from(
  '{"platform":"ios","store":"apple","from_app_user_id":"$anon_","merged_customer_id":"cus_","problem":"",' +
    '"notification":{"type":"DID_CHANGE_RENEWAL_STATUS","subtype":"AUTO_RENEW_DISABLED"},"subtype":"VOLUNTARY"},' +
    '"type":"DID_CHANGE_RENEWAL_PREF","type":"DID_FAIL_TO_RENEW","subtype":"GRACE_PERIOD","type":"REFUND"' +
    '"type":"SUBSCRIBED","subtype":"INITIAL_BUY"},"type":"EXPIRED","subtype":"BILLING_RETRY","subtype":"RESUBSCRIBE"' +
    '"refunded_milli":,"kind":"Non-Consumable","kind":"Consumable","ownership":"FAMILY_SHARED","revoked_at":17' +
    '{"bundle_id":"com.","product_id":"","country":"GBR","country":"DEU","country":"USA","money":{"price_milli":0,' +
    '"currency":"GBP"},"currency":"EUR"},"currency":"USD"},"transaction":{"transaction_id":"2000000","kind":"' +
    'Auto-Renewable Subscription","reason":"PURCHASE","reason":"RENEWAL","ownership":"PURCHASED","purchased_at":17' +
    ',"expires_at":17,"offer_type":1,"offer_id":"","offer_discount":"FREE_TRIAL","offer_discount":"PAY_AS_YOU_GO",' +
    '"offer_period":"P1W","app_account_token":"-4"},"notification":{"type":"DID_RENEW"},"subscription":{"state":' +
    '"expired","state":"grace","state":"trial","state":"active","product_id":"","auto_renew":false,"auto_renew":true,' +
    '"started_at":17,"expires_at":17,"grace_until_at":17,"next_product_id":"","renewal_price_milli":9990,"currency":' +
    '"USD","expiration_intent":1},"user":{"app_user_id":"","proved_app_user_id":"","verification":"unverified",' +
    '"proofs":[]}}"verification":"verified","proofs":["purchase"]}}"proved_app_user_id":null,"user":null}',
)

// A body is far smaller than zlib's default window of 32 KiB, which zlib would clear for each body, and than its default
// buffer of 16 KiB, which would stay allocated as long as the result.
const DEFLATE_OPTIONS = { dictionary: DICTIONARY, windowBits: 12, memLevel: 5, chunkSize: 2_048 }

/** Encodes a body for storage. */
export const encodeBody = (body: Record<string, unknown>): Buffer =>
  deflateRawSync(JSON.stringify(body), DEFLATE_OPTIONS)

/** The JSON text of a stored body, as UTF-8. */
export const inflateBody = (bytes: Buffer): Buffer => inflateRawSync(bytes, DEFLATE_OPTIONS)

/** Decodes a stored body. */
export const decodeBody = (bytes: Buffer): Record<string, unknown> =>
  JSON.parse(inflateBody(bytes).toString())
