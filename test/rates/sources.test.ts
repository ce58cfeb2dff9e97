import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEcb } from '../../src/rates/ecb.ts'
import { readFawazahmed0 } from '../../src/rates/fawazahmed0.ts'
import { readFrankfurter } from '../../src/rates/frankfurter.ts'
import { SourceFault } from '../../src/rates/judging.ts'
import { runs } from '../random.ts'

const ON = '2026-03-03'
const FRANKFURTER = `[{"date":"${ON}","base":"USD","quote":"EUR","rate":0.8612},{"date":"${ON}","base":"USD","quote":"VND","rate":26123.5}]`
const FAWAZAHMED0 = `{"date":"${ON}","usd":{"eur":0.86120001,"vnd":26123.5,"btc":1.5e-5,"gone":null}}`
const ECB = [
  'KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE',
  `EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,${ON},1.25`,
  `EXR.D.JPY.EUR.SP00.A,D,JPY,EUR,SP00,A,${ON},187.5`,
  'EXR.D.JPY.EUR.SP00.A,D,JPY,EUR,SP00,A,2026-03-04,187.5',
  'EXR.D.RUB.EUR.SP00.A,D,RUB,EUR,SP00,A,2026-03-03,NaN',
].join('\n')

test('parses each source exactly in its own format', () => {
  expect(readFrankfurter(FRANKFURTER)).toEqual([
    { currency: 'EUR', on: ON, per_usd_nano: 861_200_000 },
    { currency: 'VND', on: ON, per_usd_nano: 26_123_500_000_000 },
  ])
  expect(readFawazahmed0(FAWAZAHMED0, ON, ['EUR', 'JPY', 'BTC', 'GONE'])).toEqual([
    { currency: 'EUR', on: ON, per_usd_nano: 861_200_010 },
    { currency: 'BTC', on: ON, per_usd_nano: 15_000 },
    { currency: 'GONE', on: ON, per_usd_nano: null },
  ])
  // On the 4th the bank has no dollar rate, so the yen cannot be converted.
  expect(readEcb(ECB)).toEqual([
    { currency: 'JPY', on: ON, per_usd_nano: 150_000_000_000 },
    { currency: 'EUR', on: ON, per_usd_nano: 800_000_000 },
  ])
  expect(readFrankfurter('[]')).toEqual([])
  expect(readEcb('')).toEqual([])
})

test('returns integer rates, none, or a fault for any response', () => {
  const readers = [readFrankfurter, (text: string) => readFawazahmed0(text, ON, ['EUR', 'VND']), readEcb]
  const cut = fc.tuple(fc.constantFrom(FRANKFURTER, FAWAZAHMED0, ECB), fc.nat(300), fc.nat(20), fc.string())
  const answer = fc.oneof(
    fc.string(),
    fc.json(),
    cut.map(([text, at, drop, put]) => text.slice(0, at) + put + text.slice(at + drop)),
  )
  fc.assert(
    fc.property(fc.constantFrom(...readers), answer, (read, text) => {
      try {
        for (const { per_usd_nano } of read(text)) {
          expect(per_usd_nano === null || (Number.isSafeInteger(per_usd_nano) && per_usd_nano > 0)).toBe(true)
        }
      } catch (error) {
        expect(error).toBeInstanceOf(SourceFault)
      }
    }),
    runs(500, 50_000),
  )
})
