/** The words of a summary: sums of what happened, and the titles of its first messages. */
import type { Content, SummaryReason, Tally, Text, Words } from './content.ts'
import { amountText, countText, joined } from './wording.ts'

const REASONS: Readonly<Record<SummaryReason, string>> = {
  quiet: 'During your quiet hours',
  muted: 'While alerts were muted',
  hourly: 'Since the last message',
  late: 'While messages could not be sent',
  recovered: 'Recovered from Apple’s history',
}
/** A summary of more messages than this has sums in place of their titles, and at most this many titles of the others. */
const QUOTED = 8

/** The text of a summary. Messages without a text are counted. */
export function summaryText(reason: SummaryReason, members: readonly Content[]): Text {
  const texts = members.flatMap(({ text }) => text ?? [])
  const wordsOf = (form: 'shown' | 'hidden'): Words => ({
    title: `📬 ${titleOf(texts, members.length, form)}`,
    body: [REASONS[reason], ...linesOf(texts, members.length, form)].join('\n'),
    fields: [],
  })
  return {
    shown: wordsOf('shown'),
    hidden: wordsOf('hidden'),
    path: '/events',
    urgency: texts.some(({ urgency }) => urgency === 'trouble') ? 'trouble' : 'normal',
  }
}

type Form = 'shown' | 'hidden'

/** How many sales with their sum, refunds and trials there were, and how many other messages. */
function titleOf(texts: readonly Text[], count: number, form: Form): string {
  const tallies = texts.flatMap(({ tally }) => tally ?? [])
  const [sales, refunds, trials] = (['sale', 'refund', 'trial'] as const).map((kind) =>
    tallies.filter((tally) => tally.kind === kind),
  ) as [Tally[], Tally[], Tally[]]
  const others = count - sales.length - refunds.length - trials.length
  const isAlone = others === count
  return joined(
    sales.length > 0 && joined(countText(sales.length, 'sale', 'sales'), form === 'shown' && sumText(sales)),
    refunds.length > 0 && countText(refunds.length, 'refund', 'refunds'),
    trials.length > 0 && countText(trials.length, 'trial', 'trials'),
    others > 0 &&
      countText(others, isAlone ? 'message' : 'other message', isAlone ? 'messages' : 'other messages'),
  )
}

/** Few messages are quoted. Of many, what a tally adds up is summed, and the first of the others are quoted. */
function linesOf(texts: readonly Text[], count: number, form: Form): string[] {
  const isLong = count > QUOTED
  const quoted = texts.filter(({ tally }) => !isLong || tally === undefined).slice(0, QUOTED)
  const summed = isLong ? texts.flatMap(({ tally }) => tally ?? []) : []
  const more = count - summed.length - quoted.length
  return [
    ...sumLines(summed, form),
    ...quoted.map((text) => text[form].title),
    ...(more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : []),
  ]
}

/** The sum of each kind, the number of customers who paid, and the product that sold best. */
function sumLines(tallies: readonly Tally[], form: Form): string[] {
  const groups = [...Map.groupBy(tallies, ({ name }) => name)].toSorted(
    ([, one], [, other]) => other.length - one.length,
  )
  const sales = tallies.filter(({ kind }) => kind === 'sale')
  const customers = new Set(sales.flatMap(({ customer_id }) => customer_id ?? []))
  const unconverted = tallies.filter(({ milli }) => milli === null).length
  return [
    ...groups.map(([name, group]) =>
      joined(`${name} × ${group.length.toLocaleString('en-US')}`, form === 'shown' && sumText(group)),
    ),
    customers.size > 0 && countText(customers.size, 'customer', 'customers'),
    sales.length > 0 && bestText(sales, form),
    unconverted > 0 &&
      form === 'shown' &&
      `${countText(unconverted, 'amount has', 'amounts have')} no exchange rate yet and ${unconverted === 1 ? 'is' : 'are'} not in the sums`,
  ].filter((line) => line !== false)
}

/** The product with the most money, or with the most sales where amounts are hidden. */
function bestText(sales: readonly Tally[], form: Form): string | false {
  const worthOf = (group: readonly Tally[]): number => (form === 'shown' ? sumOf(group) : group.length)
  const [best] = [...Map.groupBy(sales, ({ product }) => product)]
    .filter(([product]) => product !== '')
    .toSorted(([, one], [, other]) => worthOf(other) - worthOf(one))
  if (best === undefined) return false
  const [product, group] = best
  return `Best product: ${joined(product, countText(group.length, 'sale', 'sales'), form === 'shown' && sumText(group))}`
}

const sumOf = (tallies: readonly Tally[]): number => tallies.reduce((sum, { milli }) => sum + (milli ?? 0), 0)

/** The sum of the amounts of the newest currency; empty if there are none. A change of the currency is rare. */
function sumText(tallies: readonly Tally[]): string {
  const currency = tallies.at(-1)?.currency ?? ''
  const sum = sumOf(tallies.filter((tally) => tally.currency === currency))
  return sum === 0 ? '' : amountText(sum, currency)
}
