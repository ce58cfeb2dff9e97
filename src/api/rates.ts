/** `/api/v1/rates`: the exchange rates that amounts are converted at. */
import * as v from 'valibot'
import type { Auth } from '../access/auth.ts'
import type { Route } from '../http/route.ts'
import { BASE } from '../rates/currencies.ts'
import type { Rates } from '../rates/rates.ts'
import { defineList } from './lists.ts'
import { READ_ROUTE } from './route_defaults.ts'

const day = v.nullable(v.string())
export const RatesAnswer = v.object({
  base: v.literal(BASE),
  currencies: v.array(
    v.object({
      currency: v.string(),
      per_usd: v.pipe(
        v.nullable(v.string()),
        v.description('The price of one US dollar on the newest day, as a decimal number'),
      ),
      oldest_on: day,
      newest_on: day,
      source: v.nullable(v.string()),
      gaps: v.pipe(
        v.array(v.object({ from_on: v.string(), until_on: v.string() })),
        v.description('Days without a rate beyond the weekends and holidays that the last rate covers'),
      ),
    }),
  ),
})

type Deps = { rates: Rates; auth: Auth }

export const rateRoutes = ({ rates, auth }: Deps): Route[] =>
  defineList(auth, {
    ...READ_ROUTE,
    path: '/api/v1/rates',
    summary: 'Lists the newest exchange rate of each currency, its source, and gaps',
    access: auth.reader,
    answer: { description: 'All currencies', schema: RatesAnswer },
    read: (): v.InferOutput<typeof RatesAnswer> => ({ base: BASE, currencies: rates.list() }),
  })
