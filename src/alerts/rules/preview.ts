/** Shows which events of the last days a rule would have told. */
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import type { Feed, FeedEvent } from '../../events/feed.ts'
import type { Rates } from '../../rates/rates.ts'
import { yieldToEventLoop } from '../../turns.ts'
import { eventText } from '../messages/event_text.ts'
import type { Occasions } from '../messages/occasion.ts'
import type { Countries } from './countries.ts'
import { keyOf, matches, toBase } from './matching.ts'
import type { Rule } from './rules.ts'
import { templateOf } from './templates.ts'

const PREVIEW_MS = 7 * 86_400_000
const PAGE = 500
/** The newest messages of a preview that are shown whole. */
const SHOWN = 10

/**
 * `count` messages in the last seven days, and the newest of them. Null for a rule that follows figures or findings.
 */
export type Preview = {
  count: number
  messages: { event_id: string; at: number; title: string; body: string }[]
} | null

type Deps = {
  clock: Clock
  feed: Feed
  organizations: Pick<Organizations, 'get'>
  rates: Pick<Rates, 'convert'>
  occasions: Occasions
  countries: Pick<Countries, 'isNews'>
}

type PreviewedRule = Pick<Rule, 'organization_id' | 'template' | 'settings'>

/** Returns the function that previews a rule. */
export function openPreview({ clock, feed, organizations, rates, occasions, countries }: Deps) {
  async function preview(rule: PreviewedRule): Promise<Preview> {
    const { basis } = templateOf(rule.template)
    const organization = organizations.get(rule.organization_id)
    if (organization === null || (basis !== 'sale' && basis !== 'event')) return null
    const found = await newestMatches(rule, organization.currency)
    const messages = []
    for (const event of found.slice(0, SHOWN)) {
      const occasion = await occasions.read(event.id)
      if (occasion === null) continue
      const { shown } = eventText(occasion, { template: rule.template, organization, rates, today: null })
      messages.push({ event_id: event.id, at: event.occurred_at, title: shown.title, body: shown.body })
    }
    return { count: found.length, messages }
  }

  /** The events that a rule would have told, newest first, one for each key. */
  async function newestMatches(rule: PreviewedRule, currency: string): Promise<FeedEvent[]> {
    const byKey = new Map<string, FeedEvent>()
    const convert = toBase(rates, currency)
    const since = clock() - PREVIEW_MS
    const { organization_id, template, settings } = rule
    const types = settings.types ?? templateOf(template).types
    for (let after = feed.head() + 1; ; ) {
      const events = feed.read({ after, limit: PAGE, newest_first: true, organization_id, types })
      for (const event of events.filter(({ recorded_at }) => recorded_at >= since))
        if (matches(rule, event, convert) && isNews(rule, event)) byKey.set(keyOf({ id: '' }, event), event)
      const last = events.at(-1)
      if (last === undefined || events.length < PAGE || last.recorded_at < since) return [...byKey.values()]
      after = last.seq
      await yieldToEventLoop()
    }
  }

  /** For the rule about countries, whether the country of a sale had none before. */
  const isNews = (rule: PreviewedRule, event: FeedEvent): boolean =>
    rule.template !== 'first_in_country' || countries.isNews(rule, event)

  return preview
}
