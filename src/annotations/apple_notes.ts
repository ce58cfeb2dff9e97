/** Notes that follow from Apple's lists of versions and prices. Pure. */
import type { ApplePrice, AppleVersion } from '../apple/api/connect.ts'
import type { Annotation } from './annotation.ts'

/** A note from Apple. `source_key` is the same at each read, so that the note is added once. */
export type AppleNote = Pick<Annotation, 'annotated_on' | 'text'> & {
  source: 'version' | 'price'
  source_key: string
}

/** The states of a version that is or was in the App Store. */
const RELEASED: ReadonlySet<string> = new Set(['READY_FOR_DISTRIBUTION', 'REPLACED_WITH_NEW_VERSION'])
const PLATFORMS: Readonly<Record<string, string>> = {
  IOS: 'iOS',
  MAC_OS: 'macOS',
  TV_OS: 'tvOS',
  VISION_OS: 'visionOS',
}

type Reading = {
  /** The organization's current day. */
  today: string
  /** The previous read was within the last two days, so that what is new since then happened about today. */
  isRecent: boolean
  /** The organization's day of an instant. */
  dayOf: (at: number) => string
}

/**
 * A note for each released version. Apple does not say when a version was released, so a version that is new since a
 * recent read has the day of this read, and any other has the day on which its record was created.
 */
export function versionNotes(
  versions: readonly AppleVersion[],
  known: ReadonlySet<string>,
  reading: Reading,
) {
  const { today, isRecent, dayOf } = reading
  const hasPlatforms = new Set(versions.map(({ platform }) => platform)).size > 1
  return versions.flatMap(({ id, version, platform, state, created_at }): AppleNote[] => {
    const source_key = `version ${id}`
    if (!RELEASED.has(state) || known.has(source_key)) return []
    const name = hasPlatforms ? `${PLATFORMS[platform] ?? platform} ${version}` : version
    const common = { source: 'version', source_key } as const
    if (isRecent) return [{ ...common, annotated_on: today, text: `Version ${name} released` }]
    if (created_at === null) return []
    return [{ ...common, annotated_on: dayOf(created_at), text: `Version ${name} created` }]
  })
}

type PricedProduct = { product_id: string; name: string | null }
type Change = { starts_on: string; territory: string; from: string; to: string; currency: string }

/**
 * A note for each day on which prices of a product change. It shows the change in the territory with the organization's
 * currency, if there is one, and counts the others. The first price of a territory is not a change.
 */
export function priceNotes(
  product: PricedProduct,
  prices: readonly ApplePrice[],
  currency: string,
): AppleNote[] {
  const byTerritory = Map.groupBy(prices, ({ territory }) => territory)
  const changes = [...byTerritory.values()].flatMap(changesIn)
  const byDay = Map.groupBy(changes, ({ starts_on }) => starts_on)
  return [...byDay].map(([annotated_on, all]) => ({
    annotated_on,
    text: `${product.name ?? product.product_id}: ${changeText(all, currency)}`,
    source: 'price',
    source_key: `price ${product.product_id} ${annotated_on}`,
  }))
}

/** The changes of the prices of one territory. */
function changesIn(prices: readonly ApplePrice[]): Change[] {
  const sorted = prices.toSorted((a, b) => ((a.starts_on ?? '') < (b.starts_on ?? '') ? -1 : 1))
  return sorted.flatMap(({ starts_on, territory, amount, currency }, index) => {
    const before = sorted[index - 1]
    if (!before || starts_on === null || Number(before.amount) === Number(amount)) return []
    return [{ starts_on, territory, from: before.amount, to: amount, currency }]
  })
}

function changeText(changes: readonly Change[], currency: string): string {
  const sorted = changes.toSorted((a, b) => (a.territory < b.territory ? -1 : 1))
  // Several territories charge in US dollars; the price of the United States is the one that people know.
  const shown =
    sorted.find((one) => one.currency === currency && one.territory === 'USA') ??
    sorted.find((one) => one.currency === currency) ??
    sorted.find(({ territory }) => territory === 'USA') ??
    sorted[0]
  if (!shown) return ''
  const others = changes.length - 1
  const rest = others === 0 ? '' : `, and ${others} other ${others === 1 ? 'country' : 'countries'}`
  return `price ${shown.currency} ${shown.from} → ${shown.to} (${shown.territory}${rest})`
}
