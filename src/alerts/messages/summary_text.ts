/** The words of a summary: sums of what happened, and the titles of its first messages. */
import type { SummaryReason, Tally, Text, Words } from './content.ts'
import type { Message } from './messages.ts'
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

type Form = 'shown' | 'hidden'

/** A message of a summary. `isOver`: what it reports was not there any more at the last look. */
type Member = Pick<Message, 'content' | 'key'> & { isOver: boolean }

/**
 * The text of a summary. Messages without a text are counted. Of trouble whose end the summary has, too, only the end is
 * told. A single message that is not about an event keeps its own words.
 */
export function summaryText(reason: SummaryReason, all: readonly Member[]): Text {
  const keys = new Set(all.map(({ key }) => key))
  const members = all.filter(({ key }) => !key.startsWith('began/') || !keys.has(endOf(key)))
  const texts = members.flatMap(textOf)
  const wordsOf = (form: Form): Words => {
    const [only] = texts
    const isOwn = members.length === 1 && only !== undefined && only.tally === undefined
    const title = isOwn ? only[form].title : `📬 ${titleOf(texts, members.length, form)}`
    const lines = isOwn ? [only[form].body] : linesOf(texts, members.length, form)
    return { title, body: [REASONS[reason], ...lines].join('\n'), fields: [] }
  }
  return {
    shown: wordsOf('shown'),
    hidden: wordsOf('hidden'),
    path: pathOf(texts),
    urgency: urgencyOf(texts),
  }
}

const endOf = (key: string): string => key.replace(/^began\//, 'ended/')

/** The text of a member as a summary quotes it: with the name of what has trouble, and whether that seems to be over. */
function textOf({ content: { text, subject }, isOver }: Member): Text[] {
  if (text === undefined) return []
  if (subject.about !== 'finding') return [text]
  const { about } = subject.finding
  const name = about === undefined ? '' : ` (${about})`
  const quoted = (words: Words): Words => ({
    ...words,
    title: `${words.title}${name}${isOver ? ' · seems to be over' : ''}`,
  })
  return [
    {
      ...text,
      shown: quoted(text.shown),
      hidden: quoted(text.hidden),
      urgency: isOver ? 'normal' : text.urgency,
    },
  ]
}

/** The page that all messages open; that of the events if there are several. */
function pathOf([first, ...others]: readonly Text[]): string {
  const path = first?.tally === undefined ? first?.path : undefined
  return path !== undefined && others.every((other) => other.path === path) ? path : '/events'
}

const urgencyOf = (texts: readonly Text[]): Text['urgency'] =>
  (['trouble', 'warning'] as const).find((one) => texts.some(({ urgency }) => urgency === one)) ?? 'normal'

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
