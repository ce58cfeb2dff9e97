/** The currencies of the App Store, and pegged currencies. */

/** The currency that all rates are relative to. */
export const BASE = 'USD'

/** The currencies of the App Store: those that Apple allows as “reportingCurrency” of its external purchase reports. */
export const APPLE_CURRENCIES: readonly string[] = (
  'AED AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR JPY KRW KZT MXN MYR NGN NOK NZD ' +
  'PEN PHP PKR PLN QAR RON RUB SAR SEK SGD THB TRY TWD TZS USD VND ZAR'
).split(' ')

let currencies: ReadonlySet<string> | null = null

/** Whether a code, in capital letters, is a currency. */
export function isCurrency(code: string): boolean {
  // Read late, because the first use of Intl takes 5 ms, and a start needs none.
  currencies ??= new Set(Intl.supportedValuesOf('currency'))
  return currencies.has(code)
}

/**
 * Official pegs: one unit of `anchor` costs `rate` units of the currency. BGN has the rate at which the euro replaced
 * it.
 */
export const PEGS: Readonly<Record<string, { anchor: 'USD' | 'EUR'; rate: string }>> = {
  AED: { anchor: 'USD', rate: '3.6725' },
  SAR: { anchor: 'USD', rate: '3.75' },
  QAR: { anchor: 'USD', rate: '3.64' },
  BGN: { anchor: 'EUR', rate: '1.95583' },
}
