/** The form of a rule: its texts, and the settings that they mean. */
import type { Rule, Template } from '../alert_queries.ts'

type RuleSettings = Rule['settings']

/** Lists are texts with commas, and amounts are units of the base currency, as a person types them. */
export type RuleDraft = {
  organization_id: string | null
  template: string
  name: string
  apps: string[] | null
  channels: string[] | null
  types: string[] | null
  countries: string
  products: string
  minimum: string
  hours: string
  per_hour: string
  environment: string
  level: string
  pierces_quiet: boolean
  quiet: 'organization' | 'none' | 'own'
  from: string
  until: string
}

/** The fields that matter for a template. */
export function fieldsOf({ basis, name }: Pick<Template, 'basis' | 'name'>) {
  const isEvents = basis === 'sale' || basis === 'event'
  return {
    types: basis === 'event',
    filters: isEvents,
    apps: basis !== 'trouble' && name !== 'milestone' && name !== 'record_day',
    hours: name === 'no_sale',
    trouble: basis === 'trouble',
    per_hour: basis !== 'trouble',
  }
}

/** The draft of a rule with these settings. */
export function draftOf(
  rule: Pick<Rule, 'template' | 'name' | 'settings' | 'channels'> & { organization_id: string | null },
): RuleDraft {
  const { settings } = rule
  const { quiet } = settings
  return {
    organization_id: rule.organization_id,
    template: rule.template,
    name: rule.name,
    apps: settings.apps,
    channels: rule.channels,
    types: settings.types,
    countries: (settings.countries ?? []).join(', '),
    products: (settings.products ?? []).join(', '),
    minimum: settings.minimum_milli === null ? '' : String(settings.minimum_milli / 1_000),
    hours: String(settings.hours),
    per_hour: settings.per_hour === null ? '' : String(settings.per_hour),
    environment: settings.environment,
    level: settings.level,
    pierces_quiet: settings.pierces_quiet,
    quiet: typeof quiet === 'string' ? quiet : 'own',
    from: typeof quiet === 'string' ? '22:00' : quiet.from,
    until: typeof quiet === 'string' ? '08:00' : quiet.until,
  }
}

/** The items of a text with commas; null if there are none. */
function listOf(text: string): string[] | null {
  const items = text.split(',').flatMap((item) => item.trim() || [])
  return items.length === 0 ? null : items
}

/** The settings that a draft means. A number that is not one is refused by the server. */
export const settingsOf = (draft: RuleDraft): RuleSettings => ({
  types: draft.types?.length ? (draft.types as RuleSettings['types']) : null,
  apps: draft.apps,
  countries: listOf(draft.countries.toUpperCase()),
  products: listOf(draft.products),
  minimum_milli: draft.minimum.trim() === '' ? null : Math.round(Number(draft.minimum) * 1_000),
  hours: Number(draft.hours),
  per_hour: draft.per_hour.trim() === '' ? null : Number(draft.per_hour),
  environment: draft.environment as RuleSettings['environment'],
  level: draft.level as RuleSettings['level'],
  pierces_quiet: draft.pierces_quiet,
  quiet: draft.quiet === 'own' ? { from: draft.from, until: draft.until } : draft.quiet,
})

/** What a rule is narrowed to, in a few words; empty if it is not. */
export function narrowedWords(
  { settings, channels }: Rule,
  channelNames: ReadonlyMap<string, string>,
): string {
  const { apps, countries, products, minimum_milli, quiet, environment } = settings
  return [
    channels && `to ${channels.map((id) => channelNames.get(id) ?? 'a removed channel').join(', ')}`,
    apps && `${apps.length} ${apps.length === 1 ? 'app' : 'apps'}`,
    countries?.join(', '),
    products?.join(', '),
    minimum_milli !== null && `from ${minimum_milli / 1_000}`,
    environment === 'sandbox' && 'sandbox',
    quiet === 'none' && 'also in quiet hours',
    typeof quiet !== 'string' && `quiet ${quiet.from}–${quiet.until}`,
  ]
    .filter(Boolean)
    .join(' · ')
}
