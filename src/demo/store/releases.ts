/** The versions and prices that the simulated App Store Connect API lists. */
import type { App, Plan } from '../world/products.ts'
import { STOREFRONTS, TIERS } from '../world/storefronts.ts'

const DAY_MS = 86_400_000
/** Each app releases its first version on a day of its own after this one, and then one version in seven weeks. */
const FIRST_RELEASE = Date.UTC(2024, 0, 8)
const RELEASE_EVERY_DAYS = 49
const REVIEW_DAYS = 2
const MINORS = 10

/** A change of a product's prices in all territories: the price before `starts_on` is the current one × `factor`. */
export type PriceChange = { product_id: string; starts_on: string; factor: number }

type Resource = { type: string; id: string; attributes: Record<string, unknown> }

/** The versions of an app at an instant, newest first: the last is in review before it is released. */
export function versionsOf(app: App, now: number): Resource[] {
  const first = FIRST_RELEASE + (app.apple_id % RELEASE_EVERY_DAYS) * DAY_MS
  const count = Math.max(0, Math.floor((now - first) / (RELEASE_EVERY_DAYS * DAY_MS)) + 2)
  return Array.from({ length: count }, (_, number) => {
    const released_at = first + number * RELEASE_EVERY_DAYS * DAY_MS
    const isReleased = released_at <= now
    const isNewest = released_at + RELEASE_EVERY_DAYS * DAY_MS > now
    return {
      type: 'appStoreVersions',
      id: `${app.apple_id}-${number}`,
      attributes: {
        platform: 'IOS',
        versionString: `${1 + Math.floor(number / MINORS)}.${number % MINORS}`,
        appVersionState: isReleased
          ? isNewest
            ? 'READY_FOR_DISTRIBUTION'
            : 'REPLACED_WITH_NEW_VERSION'
          : 'WAITING_FOR_REVIEW',
        createdDate: new Date(released_at - REVIEW_DAYS * DAY_MS).toISOString(),
      },
    }
  }).reverse()
}

/** The prices of a plan in each territory, and the price points and territories that they refer to. */
export function pricesOf(
  plan: Plan,
  changes: readonly PriceChange[],
): { data: object[]; included: Resource[] } {
  const own = changes.filter(({ product_id }) => product_id === plan.product_id)
  const included = new Map<string, Resource>()
  const data = STOREFRONTS.flatMap(({ code, currency }) => {
    included.set(code, { type: 'territories', id: code, attributes: { currency } })
    const amounts = [
      ...own.map(({ factor }, index) => ({
        // Before the first change there is a price without a start.
        starts_on: own[index - 1]?.starts_on ?? null,
        milli: TIERS[plan.tier][currency] * factor,
      })),
      { starts_on: own.at(-1)?.starts_on ?? null, milli: TIERS[plan.tier][currency] },
    ]
    return amounts.map(({ starts_on, milli }) => {
      const point = `${plan.apple_id}.${code}.${Math.round(milli)}`
      const customerPrice = (milli / 1_000).toFixed(2)
      included.set(point, { type: 'subscriptionPricePoints', id: point, attributes: { customerPrice } })
      return {
        type: 'subscriptionPrices',
        id: `${point}.${starts_on ?? ''}`,
        attributes: { startDate: starts_on, preserved: false },
        relationships: {
          territory: { data: { type: 'territories', id: code } },
          subscriptionPricePoint: { data: { type: 'subscriptionPricePoints', id: point } },
        },
      }
    })
  })
  return { data, included: [...included.values()] }
}
