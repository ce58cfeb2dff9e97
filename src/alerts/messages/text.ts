/** The text of every message, from what it is about. */
import type { Organizations } from '../../apps/organizations.ts'
import type { Rates } from '../../rates/rates.ts'
import type { Figures, Subject, Text, Words } from './content.ts'
import type { DayTotals } from './day_totals.ts'
import { eventText } from './event_text.ts'
import { findingText } from './finding_text.ts'
import type { Message } from './messages.ts'
import { isPayment, type Occasion, type Occasions } from './occasion.ts'
import { summaryText } from './summary_text.ts'
import { amountText, countText, joined, plain } from './wording.ts'

type Deps = {
  occasions: Occasions
  organizations: Pick<Organizations, 'get'>
  rates: Pick<Rates, 'convert'>
  dayTotals: DayTotals
  nameOfApp: (id: string) => string
  /** Whether the last look of the trouble rules of an organization showed a finding. */
  isSeen: (organization_id: string, finding_id: string) => boolean
}

export type Texts = ReturnType<typeof openTexts>

/** Opens the texts of messages. */
export function openTexts({ occasions, organizations, rates, dayTotals, nameOfApp, isSeen }: Deps) {
  /** The text of a message; null if what it is about does not exist any more. `members` are the messages of a summary. */
  async function textOf(message: Message, members: readonly Message[]): Promise<Text | null> {
    const { subject } = message.content
    switch (subject.about) {
      case 'event':
        return eventTextOf(message, subject)
      case 'figures':
        return figuresText(subject, nameOfApp)
      case 'finding':
        return findingText(subject, message.happened_at)
      case 'device':
        return deviceText(subject.name)
      case 'summary':
        return summaryText(
          subject.reason,
          members.map((member) => ({ ...member, isOver: isOver(member) })),
        )
      case 'digest':
        // It was stored with its text.
        return message.content.text ?? null
    }
  }

  /** Whether a message is about the beginning of trouble that the last look did not show any more. */
  function isOver({ organization_id, content: { subject } }: Message): boolean {
    const isBeginning = subject.about === 'finding' && subject.state === 'began'
    return isBeginning && !isSeen(organization_id, subject.finding.id)
  }

  async function eventTextOf({ organization_id }: Message, subject: Subject & { about: 'event' }) {
    const occasion = await occasions.read(subject.event_id)
    const organization = organizations.get(organization_id)
    if (occasion === null || organization === null) return null
    const today = isSale(occasion) ? await dayTotals.dayOf(organization, occasion.event.occurred_at) : null
    return eventText(occasion, { template: subject.template, organization, rates, today })
  }

  return { textOf }
}

/** Whether an occasion is a charge that counts as revenue. */
const isSale = ({ event, type, snapshot }: Occasion): boolean =>
  event.environment === 'production' && isPayment(type) && (snapshot.money?.price_milli ?? 0) > 0

/** The text of the test of a channel. */
export const TEST_TEXT: Text = {
  shown: plain('🔔 Windfall can reach you', 'This is a test message. Alerts arrive here.'),
  hidden: plain('🔔 Windfall can reach you', 'This is a test message. Alerts arrive here.'),
  path: '/settings/alerts',
  urgency: 'normal',
}

/** Both forms of a text that has amounts. */
const both = (
  words: (amount: (milli: number | undefined) => string) => Words,
  currency: string,
  path: string,
): Text => ({
  shown: words((milli) => amountText(milli ?? 0, currency)),
  hidden: words(() => ''),
  path,
  urgency: 'normal',
})

function figuresText(
  { template, figures }: Subject & { about: 'figures' },
  nameOfApp: (id: string) => string,
): Text {
  const { currency = 'USD', milli, threshold_milli, record_milli, record_on, count = 0, mean = 0 } = figures
  switch (template) {
    case 'milestone':
      return both(
        (amount) =>
          plain(
            joined('📈 MRR milestone', amount(threshold_milli)),
            amount(milli) === '' ? 'MRR passed a milestone.' : `MRR is ${amount(milli)} now.`,
          ),
        currency,
        '/metrics/mrr',
      )
    case 'record_day':
      return both(
        (amount) =>
          plain(
            joined('🏆 Record day', amount(milli)),
            joined(
              'The best day so far',
              amount(record_milli) && `before: ${amount(record_milli)} on ${record_on}`,
            ),
          ),
        currency,
        '/',
      )
    case 'refund_spike':
      return both(
        () =>
          plain(
            `↩️ ${countText(count, 'refund', 'refunds')} today`,
            `The mean of the last 28 days is ${mean.toFixed(1)} a day.`,
          ),
        currency,
        '/metrics/refunds',
      )
    default:
      return noSaleText(figures, nameOfApp)
  }
}

function noSaleText({ hours = 0, app_id = null }: Figures, nameOfApp: (id: string) => string): Text {
  const words = plain(
    `🔕 No sale for ${countText(hours, 'hour', 'hours')}`,
    joined(
      app_id === null ? null : nameOfApp(app_id),
      'Sales are usual at this time. Check your paywall, and App Store Connect for a rejected or removed version.',
    ),
  )
  return { shown: words, hidden: words, path: '/', urgency: 'normal' }
}

function deviceText(name: string): Text {
  const words = plain(
    `📵 ${name} gets no more alerts`,
    'Its browser ended the subscription, and the device was removed. Open the dashboard on it, and tap “Send alerts to this device”.',
  )
  return { shown: words, hidden: words, path: '/settings/alerts', urgency: 'normal' }
}
