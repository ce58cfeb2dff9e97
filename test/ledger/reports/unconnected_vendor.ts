/** A vendor with the connected app Lantern, and with Kelp, which is not connected and sells too. */
import { addDays } from '../../../src/days.ts'
import { openApple } from './apple.ts'
import { DAY, download, sale } from './samples.ts'

export const BEFORE = addDays(DAY, -1)
export const KELP_APPLE_ID = 1_234_567_898

const KELP = { 'Parent Identifier': 'KELP-1', SKU: 'kelp.monthly', 'Apple Identifier': '1234567899' }
const us = (day: string) => `${day.slice(5, 7)}/${day.slice(8)}/${day.slice(0, 4)}`
const on = (day: string) => ({ 'Begin Date': us(day), 'End Date': us(day) })
const EURO = { 'Customer Currency': 'EUR', 'Currency of Proceeds': 'EUR' }

/** The reports of two days. A euro is two dollars, and a krona has no rate. */
export async function openVendor() {
  const apple = await openApple()
  const app = await apple.openWindfall()
  const { store, rates, imports, reported } = app.windfall
  await store.commit(() => rates.importRates(rates.readCsv(`date,currency,rate\n${BEFORE},EUR,0.5`, 'USD')))
  apple.setReply('sales', BEFORE, [
    sale({ ...on(BEFORE), Units: '1' }),
    sale({
      ...KELP,
      ...on(BEFORE),
      ...EURO,
      Units: '1',
      'Customer Price': '3.00',
      'Developer Proceeds': '2.10',
    }),
  ])
  apple.setReply('sales', DAY, [
    download({ SKU: 'KELP-1', Title: 'Kelp', 'Apple Identifier': String(KELP_APPLE_ID) }),
    // Two of 9.99, and one of them given back.
    sale(KELP),
    sale({ ...KELP, Units: '-1', 'Customer Price': '-9.99' }),
    sale({ ...KELP, Units: '1', 'Customer Price': '50.00', 'Customer Currency': 'SEK' }),
  ])
  await imports.run({ days: 3 })
  await reported.settled()
  return app
}
