/** What we compute: the currencies Apple sells in, and those whose rate is a law. */

/** What every rate is against. */
export const BASE = 'USD'

/** The currencies of the App Store: those that Apple allows as `reportingCurrency` of its external purchase reports. */
export const APPLE_CURRENCIES: readonly string[] = (
  'AED AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR JPY KRW KZT MXN MYR NGN NOK NZD ' +
  'PEN PHP PKR PLN QAR RON RUB SAR SEK SGD THB TRY TWD TZS USD VND ZAR'
).split(' ')

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/** Whether there is such a currency, in capital letters. */
export const isCurrency = (code: string): boolean => CURRENCIES.has(code)

/** Central banks' own promises: one unit of `anchor` costs `rate`. The lev's is the one it joined the euro at. */
export const PEGS: Readonly<Record<string, { anchor: 'USD' | 'EUR'; rate: string }>> = {
  AED: { anchor: 'USD', rate: '3.6725' },
  SAR: { anchor: 'USD', rate: '3.75' },
  QAR: { anchor: 'USD', rate: '3.64' },
  BGN: { anchor: 'EUR', rate: '1.95583' },
}
