/** App Store Connect's lists of versions and of subscription prices. */
import * as v from 'valibot'
import type { Subject } from './connect_faults.ts'
import { type Page, pageOf } from './paging.ts'

/**
 * A version of an app. `state` is Apple's appVersionState. `created_at` is when the record was made, in milliseconds,
 * not when the version was released: Apple does not say that.
 */
export type AppleVersion = {
  id: string
  version: string
  platform: string
  state: string
  created_at: number | null
}

/**
 * A price of a subscription in one territory (ISO 3166-1 alpha-3). `starts_on` is null for the first price. `amount` is
 * a decimal number in `currency`.
 */
export type ApplePrice = { territory: string; starts_on: string | null; amount: string; currency: string }

const shortText = v.pipe(v.string(), v.minLength(1), v.maxLength(200))
const optional = <T>(schema: v.GenericSchema<unknown, T>) => v.optional(v.nullable(schema), null)

/** https://developer.apple.com/documentation/appstoreconnectapi/appstoreversion */
const ListedVersion = v.pipe(
  v.object({
    id: shortText,
    attributes: v.object({
      versionString: shortText,
      platform: shortText,
      appVersionState: v.optional(shortText, ''),
      createdDate: optional(v.string()),
    }),
  }),
  v.transform(({ id, attributes }): AppleVersion => {
    const created_at = Date.parse(attributes.createdDate ?? '')
    return {
      id,
      version: attributes.versionString,
      platform: attributes.platform,
      state: attributes.appVersionState,
      created_at: Number.isNaN(created_at) ? null : created_at,
    }
  }),
)

const reference = v.object({ data: v.object({ id: shortText }) })
const ListedPrice = v.object({
  attributes: v.object({ startDate: optional(v.pipe(v.string(), v.isoDate())) }),
  relationships: v.object({ territory: reference, subscriptionPricePoint: reference }),
})
const Included = v.object({
  type: v.string(),
  id: shortText,
  attributes: v.optional(v.object({ customerPrice: optional(shortText), currency: optional(shortText) }), {}),
})

/**
 * A page of the prices of a subscription, with their price points and territories in `included`. A price without them
 * is left out. https://developer.apple.com/documentation/appstoreconnectapi/subscriptionprice
 */
const PricePage = v.pipe(
  v.object({
    data: v.array(ListedPrice),
    included: v.optional(v.array(Included), []),
    links: optional(v.object({ next: optional(v.string()) })),
  }),
  v.transform(({ data, included, links }) => {
    const byId = new Map(included.map((one) => [`${one.type} ${one.id}`, one.attributes]))
    const items = data.flatMap(({ attributes, relationships }): ApplePrice[] => {
      const territory = relationships.territory.data.id
      const point = byId.get(`subscriptionPricePoints ${relationships.subscriptionPricePoint.data.id}`)
      const currency = byId.get(`territories ${territory}`)?.currency
      const amount = point?.customerPrice
      return amount && currency ? [{ territory, starts_on: attributes.startDate, amount, currency }] : []
    })
    return { items, next: links?.next ?? null }
  }),
)

type ReadPages = <T>(path: string, page: Page<T>, subject: Subject) => Promise<T[]>

/** The requests for versions and prices. `readPages` reads all pages of a list. They throw AppleFault. */
export const openReleases = (readPages: ReadPages) => ({
  /** Every version of an app, on every platform. Many keys lack this permission: `forbidden`. */
  versions(apple_id: number): Promise<AppleVersion[]> {
    const fields = 'versionString,platform,createdDate,appVersionState'
    const path = `/v1/apps/${apple_id}/appStoreVersions?limit=200&fields[appStoreVersions]=${fields}`
    return readPages(path, pageOf(ListedVersion), 'versions')
  },

  /**
   * Every price of a subscription, past and scheduled ones included. `apple_id` is Apple's number of the subscription.
   * Many keys lack this permission: `forbidden`.
   */
  prices(apple_id: string): Promise<ApplePrice[]> {
    const path = `/v1/subscriptions/${encodeURIComponent(apple_id)}/prices`
    return readPages(`${path}?limit=200&include=subscriptionPricePoint,territory`, PricePage, 'prices')
  },
})
