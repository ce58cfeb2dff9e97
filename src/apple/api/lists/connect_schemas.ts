/** Schemas of App Store Connect's lists. */
import * as v from 'valibot'

/** `apple_id` is the number that Apple's notifications call appAppleId; `sku` names the app in sales reports. */
export type AppleApp = { apple_id: number; bundle_id: string; name: string; sku: string }

/** `period`: an ISO 8601 duration (P1W P1M P2M P3M P6M P1Y). `group_level`: 1 is the highest level of service. */
export type AppleSubscription = {
  product_id: string
  apple_id: string
  name: string | null
  period: string | null
  group_id: string
  group_name: string | null
  group_level: number | null
}

const PERIODS: Readonly<Record<string, string>> = {
  ONE_WEEK: 'P1W',
  ONE_MONTH: 'P1M',
  TWO_MONTHS: 'P2M',
  THREE_MONTHS: 'P3M',
  SIX_MONTHS: 'P6M',
  ONE_YEAR: 'P1Y',
}

const shortText = v.pipe(v.string(), v.minLength(1), v.maxLength(1024))
const optional = <T>(schema: v.GenericSchema<unknown, T>) => v.optional(v.nullable(schema), null)

/** The ISO 8601 duration of Apple's `subscriptionPeriod`; null for an unknown value. */
const periodOf = (words: string | null): string | null => PERIODS[words ?? ''] ?? null

export const ListedApp = v.pipe(
  v.object({
    id: v.pipe(shortText, v.regex(/^[1-9]\d{0,14}$/, 'not a number')),
    attributes: v.object({ bundleId: shortText, name: shortText, sku: shortText }),
  }),
  v.transform(
    ({ id, attributes }): AppleApp => ({
      apple_id: Number(id),
      bundle_id: attributes.bundleId,
      name: attributes.name,
      sku: attributes.sku,
    }),
  ),
)

/** `seedId` is the prefix of the app id: the team id, except for very old apps. */
export const ListedBundleId = v.object({
  attributes: v.object({ identifier: shortText, seedId: optional(shortText) }),
})

export const ListedGroup = v.object({
  id: shortText,
  attributes: optional(v.object({ referenceName: optional(v.string()) })),
})

export const ListedSubscription = v.object({
  id: shortText,
  attributes: v.object({
    productId: shortText,
    name: optional(v.string()),
    subscriptionPeriod: optional(v.string()),
    groupLevel: optional(v.pipe(v.number(), v.safeInteger())),
  }),
})

/** A subscription in the list of its group. */
export function subscriptionOf(
  group: v.InferOutput<typeof ListedGroup>,
  { id, attributes }: v.InferOutput<typeof ListedSubscription>,
): AppleSubscription {
  return {
    product_id: attributes.productId,
    apple_id: id,
    name: attributes.name,
    period: periodOf(attributes.subscriptionPeriod),
    group_id: group.id,
    group_name: group.attributes?.referenceName ?? null,
    group_level: attributes.groupLevel,
  }
}
