import { expect, onTestFinished, test } from 'vitest'
import { openPublisher } from '../../src/demo/publisher.ts'
import { APPLE_CURRENCIES, BASE } from '../../src/rates/currencies.ts'
import { quotientNano } from '../../src/rates/exact.ts'
import { isLikelyInverted, isPlausible } from '../../src/rates/sizes.ts'

type Quoted = { quote: string; rate: number }

test('each of Apple’s currencies has a rate of its real size, and none looks like one upside down', async () => {
  const { origins, close } = await openPublisher()
  onTestFinished(close)
  const wanted = APPLE_CURRENCIES.filter((currency) => currency !== BASE)
  const getQuotes = async (quotes: readonly string[]) => {
    const query = `base=USD&quotes=${quotes.join()}&from=2026-05-04&to=2026-05-04`
    return (await (await fetch(`${origins.frankfurter}/v2/rates?${query}`)).json()) as Quoted[]
  }
  const quoted = await getQuotes(wanted)
  expect(quoted.map(({ quote }) => quote)).toEqual(wanted)
  const nano = ({ rate }: Quoted) => quotientNano(String(rate), '1') ?? 0
  expect(quoted.filter((one) => !isPlausible(one.quote, nano(one)))).toEqual([])
  const flipped = ({ rate }: Quoted) => quotientNano('1', String(rate)) ?? 0
  const far = quoted.filter(({ rate }) => rate > 5 || rate < 0.2)
  expect(far.length).toBeGreaterThan(25)
  expect(far.filter((one) => isPlausible(one.quote, flipped(one)))).toEqual([])
  expect(far.filter((one) => !isLikelyInverted(one.quote, flipped(one)))).toEqual([])
  const rateOf = (currency: string) => quoted.find(({ quote }) => quote === currency)?.rate ?? 0
  expect(rateOf('BGN') / rateOf('EUR')).toBeCloseTo(1.95583, 4)
  expect(await getQuotes(['XAU'])).toEqual([])
})
