/** Schemas of the two SDK calls. The field names are those of the public SDKs. */
import * as v from 'valibot'
import { jsonSchema } from '../http/documented.ts'
import type { StoreName } from './links.ts'
import { hasHidden } from './shown_text.ts'

/** Ids that apps send when they do not know the user. Compared case-insensitively. */
const PLACEHOLDER_IDS = new Set([
  'no_user',
  'null',
  '(null)',
  'none',
  'nil',
  'nan',
  'undefined',
  'unidentified',
  'unknown',
  'anonymous',
  'guest',
  '0',
  '-1',
  '[]',
  '{}',
  '[object object]',
])

/** The same list as a pattern, in upper and lower case because JSON Schema has no case-insensitive patterns. */
const PLACEHOLDER_PATTERN = `^(${[...PLACEHOLDER_IDS]
  .map((word) =>
    word.replace(/[a-z()[\]{}]/g, (one) => (/[a-z]/.test(one) ? `[${one}${one.toUpperCase()}]` : `\\${one}`)),
  )
  .join('|')})$`

const USER_ID_CHARACTERS = 256
const KEY_CHARACTERS = 64
const VALUE_CHARACTERS = 1_024
const MAX_FAULTS = 100

const characters = (text: string): number => {
  let count = 0
  for (const _ of text) count += 1
  return count
}
const isAtMost = (text: string, limit: number): boolean =>
  text.length <= limit || (text.length <= 2 * limit && characters(text) <= limit)
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000')

const text = (limit: number) =>
  v.pipe(
    v.string(),
    v.nonEmpty('must not be empty'),
    v.check((value) => isAtMost(value, limit), `must have at most ${limit} characters`),
    jsonSchema({ maxLength: limit }),
    v.check(isStorable, 'must be well-formed Unicode without null characters'),
  )

const optionalOrNull = <T>(schema: v.GenericSchema<unknown, T>) => v.optional(v.nullable(schema), null)

/** Thin clients send an empty string for an unknown value. */
const optionalText = <T>(schema: v.GenericSchema<string, T>) =>
  v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.transform((value) => (value === '' ? null : value)),
      v.nullable(schema),
    ),
    null,
  )

/** The id of a user, who may have it from a time when `NewUserId` was less strict. */
export const AppUserId = v.pipe(
  text(USER_ID_CHARACTERS),
  v.check((id) => id.trim() === id, 'must not begin or end with white space'),
  v.check(
    (id) => !PLACEHOLDER_IDS.has(id.toLowerCase()),
    'is a placeholder, not a user id; omit the call, or send an anonymous id',
  ),
  jsonSchema({ pattern: '^\\S([\\s\\S]*\\S)?$', not: { pattern: PLACEHOLDER_PATTERN } }),
  v.description(
    `Your own user id, or an anonymous id that the app keeps. These placeholders are refused, in upper or lower case: ${[...PLACEHOLDER_IDS].join(', ')}`,
  ),
)

/** Hidden characters for JSON Schema, whose patterns know no categories everywhere. */
const HIDDEN_RANGES =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb'

/**
 * The id of a user in a call that may create the user: without characters that cannot be seen, or that change how the
 * text around them is shown, because two users would look alike, or an id would show as another one in a list.
 */
export const NewUserId = v.pipe(
  AppUserId,
  v.check((id) => !hasHidden(id), 'must not contain control characters, invisible characters or line breaks'),
  jsonSchema({ pattern: `^[^\\s${HIDDEN_RANGES}]([^${HIDDEN_RANGES}]*[^\\s${HIDDEN_RANGES}])?$` }),
)

const platform = optionalText(
  v.pipe(text(64), v.toLowerCase(), v.description('ios, android, or any other word')),
)
const bundleId = v.pipe(
  text(255),
  v.description('Bundle id of the app; the application id when platform is android'),
)

type Scalar = string | number | boolean | null
export type Attributes = Record<string, Scalar>

// Not a record schema: record schemas drop keys like `constructor`, and here every key is valid.
const Attributes = v.pipe(
  v.custom<Attributes>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  ),
  jsonSchema({ type: 'object', additionalProperties: { type: ['string', 'number', 'boolean', 'null'] } }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    // The number of faults is limited and all faults share one object: this runs before the caller is authenticated.
    const input: Record<string, unknown> = dataset.value
    let faults = 0
    for (const [key, value] of Object.entries(input)) {
      const message = faultOf(key, value)
      if (message === null) continue
      addIssue({ message, path: [{ type: 'object', origin: 'value', input, key, value }] })
      faults += 1
      if (faults === MAX_FAULTS) return
    }
  }),
)

function faultOf(key: string, value: unknown): string | null {
  if (key === '' || !isAtMost(key, KEY_CHARACTERS))
    return `an attribute’s name must have 1 to ${KEY_CHARACTERS} characters`
  if (!isStorable(key)) return 'an attribute’s name must be well-formed Unicode without null characters'
  if (typeof value === 'string') {
    if (!isAtMost(value, VALUE_CHARACTERS)) return `must have at most ${VALUE_CHARACTERS} characters`
    return isStorable(value) ? null : 'must be well-formed Unicode without null characters'
  }
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be a finite number'
  if (typeof value === 'boolean' || value === null) return null
  return 'must be a string, a finite number, a boolean or null'
}

/** `POST /api/sdk/v1/identify`. Unknown fields are ignored; a device field that is omitted or null does not change. */
export const IdentifyCall = v.object({
  appUserId: NewUserId,
  bundleId,
  platform,
  osVersion: optionalText(text(VALUE_CHARACTERS)),
  deviceModel: optionalText(text(VALUE_CHARACTERS)),
  locale: optionalText(text(VALUE_CHARACTERS)),
  attributes: optionalOrNull(Attributes),
})
export type IdentifyCall = v.InferOutput<typeof IdentifyCall>

export const transactionId = v.pipe(
  text(2_048),
  v.description(
    'Apple’s original transaction id; the Play purchase token when platform is android, or when there is no platform and it is not all digits',
  ),
)

/** `POST /api/sdk/v1/attribute`. An Android app may send its purchase token as `purchaseToken`. */
export const AttributeCall = v.pipe(
  v.object({
    appUserId: NewUserId,
    bundleId,
    originalTransactionId: optionalOrNull(transactionId),
    purchaseToken: optionalOrNull(transactionId),
    productId: optionalText(text(255)),
    platform,
    jws: optionalText(
      v.pipe(v.string(), v.description('The signed transaction (StoreKit’s jwsRepresentation)')),
    ),
  }),
  v.forward(
    v.partialCheck(
      [['originalTransactionId'], ['purchaseToken'], ['platform']],
      (call) =>
        call.originalTransactionId !== null || (call.platform === 'android' && call.purchaseToken !== null),
      'is required: the original transaction id, as a string',
    ),
    ['originalTransactionId'],
  ),
  v.transform(({ purchaseToken, ...call }) => {
    const originalTransactionId = call.originalTransactionId ?? purchaseToken ?? ''
    return { ...call, originalTransactionId, store: storeOf({ ...call, originalTransactionId }) }
  }),
)

type StoreHints = { platform: string | null; originalTransactionId: string; jws: string | null }

/** Older Android SDKs send no platform: an id that is not all digits cannot be Apple's. */
function storeOf({ platform, originalTransactionId, jws }: StoreHints): StoreName {
  if (platform !== null) return platform === 'android' ? 'google' : 'apple'
  return jws === null && !/^\d+$/.test(originalTransactionId) ? 'google' : 'apple'
}

export type AttributeCall = v.InferOutput<typeof AttributeCall>
