/** The storefronts of the simulated company and their price tiers. */

export type Currency = 'USD' | 'EUR' | 'GBP' | 'JPY' | 'AUD' | 'BRL' | 'CAD' | 'SEK' | 'MXN'

/**
 * `code` is ISO 3166 alpha-3, `country` alpha-2, and `id` the App Store's own number. `tax` is the tax that prices
 * include, in thousandths of the price without tax. `weight` is the percentage of customers.
 */
export type Storefront = {
  code: string
  country: string
  id: string
  currency: Currency
  locale: string
  tax: number
  weight: number
}

export const STOREFRONTS: readonly Storefront[] = [
  { code: 'USA', country: 'US', id: '143441', currency: 'USD', locale: 'en_US', tax: 0, weight: 36 },
  { code: 'DEU', country: 'DE', id: '143443', currency: 'EUR', locale: 'de_DE', tax: 190, weight: 11 },
  { code: 'GBR', country: 'GB', id: '143444', currency: 'GBP', locale: 'en_GB', tax: 200, weight: 10 },
  { code: 'JPN', country: 'JP', id: '143462', currency: 'JPY', locale: 'ja_JP', tax: 100, weight: 9 },
  { code: 'FRA', country: 'FR', id: '143442', currency: 'EUR', locale: 'fr_FR', tax: 200, weight: 7 },
  { code: 'AUS', country: 'AU', id: '143460', currency: 'AUD', locale: 'en_AU', tax: 100, weight: 6 },
  { code: 'CAN', country: 'CA', id: '143455', currency: 'CAD', locale: 'en_CA', tax: 0, weight: 6 },
  { code: 'BRA', country: 'BR', id: '143503', currency: 'BRL', locale: 'pt_BR', tax: 0, weight: 5 },
  { code: 'ESP', country: 'ES', id: '143454', currency: 'EUR', locale: 'es_ES', tax: 210, weight: 4 },
  { code: 'SWE', country: 'SE', id: '143456', currency: 'SEK', locale: 'sv_SE', tax: 250, weight: 3 },
  { code: 'MEX', country: 'MX', id: '143468', currency: 'MXN', locale: 'es_MX', tax: 160, weight: 3 },
]

/** A tier is named after its price in dollars. Amounts are thousandths, also for currencies without decimals. */
export const TIERS = {
  '1.99': pricesOf(1990, 1990, 1990, 300_000, 2990, 9900, 2490, 25_000, 39_000),
  '3.99': pricesOf(3990, 4490, 3990, 600_000, 5990, 19_900, 4990, 49_000, 79_000),
  '4.99': pricesOf(4990, 4990, 4990, 750_000, 7990, 24_900, 6990, 59_000, 99_000),
  '7.99': pricesOf(7990, 8490, 7990, 1_200_000, 12_990, 39_900, 10_990, 95_000, 149_000),
  '9.99': pricesOf(9990, 9990, 9990, 1_500_000, 14_990, 49_900, 12_990, 119_000, 199_000),
  '12.99': pricesOf(12_990, 12_990, 12_990, 1_900_000, 19_990, 64_900, 17_990, 149_000, 249_000),
  '19.99': pricesOf(19_990, 21_990, 19_990, 3_000_000, 29_990, 99_900, 27_990, 249_000, 399_000),
  '29.99': pricesOf(29_990, 29_990, 28_990, 4_500_000, 44_990, 149_900, 39_990, 349_000, 599_000),
  '39.99': pricesOf(39_990, 39_990, 38_990, 5_900_000, 59_990, 199_900, 54_990, 449_000, 799_000),
  '49.99': pricesOf(49_990, 54_990, 49_990, 7_500_000, 79_990, 249_900, 69_990, 599_000, 999_000),
  '79.99': pricesOf(79_990, 84_990, 79_990, 12_000_000, 119_990, 399_900, 109_990, 949_000, 1_499_000),
} as const

export type Tier = keyof typeof TIERS

type Amounts = readonly [number, number, number, number, number, number, number, number, number]

function pricesOf(...amounts: Amounts): Record<Currency, number> {
  const [USD, EUR, GBP, JPY, AUD, BRL, CAD, SEK, MXN] = amounts
  return { USD, EUR, GBP, JPY, AUD, BRL, CAD, SEK, MXN }
}

/** A price times a factor, rounded to a valid price: tens of yen, hundredths in other currencies. In thousandths. */
export function scaledPrice(price_milli: number, factor: number, currency: Currency): number {
  const unit_milli = currency === 'JPY' ? 10_000 : 10
  return Math.round((price_milli * factor) / unit_milli) * unit_milli
}

/** Finds a storefront by its alpha-3 or alpha-2 code. */
export function storefrontOf(code: string): Storefront {
  const storefrontMatch = STOREFRONTS.find(
    (storefront) => storefront.code === code || storefront.country === code,
  )
  if (storefrontMatch === undefined) throw new Error(`there is no storefront ${code}`)
  return storefrontMatch
}
