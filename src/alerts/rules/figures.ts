/** Evaluates the rules about figures: no sale, MRR milestones, record days and refund spikes. */
import * as v from 'valibot'
import type { Apps } from '../../apps/apps.ts'
import type { Organization, Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import type { MetricName } from '../../metrics/definitions/definitions.ts'
import { dayNumber, dayText } from '../../metrics/lineage/calendar.ts'
import type { SeriesReader, SeriesScope } from '../../metrics/series/series.ts'
import { resolveRequest, SeriesParams } from '../../metrics/series/series_request.ts'
import type { Stoppages } from '../../stoppages.ts'
import type { Store } from '../../store/store.ts'
import type { Channels } from '../channels/channels.ts'
import type { Messages } from '../messages/messages.ts'
import type { Fact, Reading } from './facts.ts'
import { channelsOf } from './following.ts'
import type { Milestones } from './milestones.ts'
import type { NoSale } from './no_sale.ts'
import type { Rule, Rules } from './rules.ts'
import { templateOf } from './templates.ts'

/** How far back days are compared. */
const RECORD_DAYS = 1_095
/** A record needs this many days of history. */
const MIN_HISTORY_DAYS = 60
const SPIKE_DAYS = 28
const MIN_REFUNDS = 5
const SPIKE_FACTOR = 3

type Deps = {
  store: Store
  clock: Clock
  stoppages: Pick<Stoppages, 'watch'>
  organizations: Pick<Organizations, 'get'>
  apps: Pick<Apps, 'list'>
  series: SeriesReader
  rules: Pick<Rules, 'list'>
  channels: Pick<Channels, 'list'>
  messages: Messages
  milestones: Milestones
  noSale: NoSale
}

const WATCHED = {
  part: 'alerts',
  name: 'rule',
  title: 'An alert rule is not evaluated',
  message: 'an alert rule could not be evaluated',
} as const

/** Opens the evaluation. */
export function openFigureRules(deps: Deps) {
  const { store, clock, rules, channels, messages, stoppages } = deps
  const watch = stoppages.watch(WATCHED)
  const factsOf = openFacts(deps)
  let running: Promise<void> | null = null

  /** Evaluates every rule once. A call during an evaluation waits for it. */
  function evaluate(): Promise<void> {
    running ??= evaluateAll().finally(() => {
      running = null
    })
    return running
  }

  async function evaluateAll(): Promise<void> {
    for (const rule of rules
      .list()
      .filter(({ is_on, template }) => is_on && templateOf(template).basis === 'figures'))
      try {
        await write(rule, await factsOf(rule))
        watch.worked(rule.name)
      } catch (error) {
        watch.failed(error, rule.name)
      }
  }

  async function write(rule: Rule, found: readonly Fact[]): Promise<void> {
    if (found.length === 0) return
    await store.commit(() => {
      for (const { key, facts, onWritten } of found) {
        onWritten?.()
        const message = messages.add({
          organization_id: rule.organization_id,
          rule_id: rule.id,
          kind: rule.template,
          key: `${rule.id}/${key}`,
          content: { subject: { about: 'figures', template: rule.template, figures: facts } },
          happened_at: clock(),
        })
        if (message === null) continue
        for (const { id } of channelsOf(channels, rule)) messages.addSend(message.id, id, clock())
      }
    })
  }

  return { evaluate, settled: async () => void (await running) }
}

/** Returns the function that finds what a rule reports now. */
function openFacts({ clock, organizations, apps, series, milestones, noSale }: Deps) {
  async function factsOf(rule: Rule): Promise<readonly Fact[]> {
    const organization = organizations.get(rule.organization_id)
    const scope = organization && scopeOf(rule, organization)
    if (!scope || scope.apps.length === 0) return []
    switch (rule.template) {
      case 'no_sale':
        return noSale.factsOf(rule, scope.apps)
      case 'milestone':
        return milestones.factsOf(rule, await read(scope, 'mrr', { days: 0 }))
      case 'record_day':
        return recordOf(await read(scope, 'revenue', { days: RECORD_DAYS }))
      default:
        return spikeOf(await read(scope, 'revenue', { days: SPIKE_DAYS, part: 'refunds' }))
    }
  }

  function scopeOf({ settings }: Rule, organization: Organization): SeriesScope {
    const own = apps
      .list()
      .filter((app) => app.organization_id === organization.id && (settings.apps?.includes(app.id) ?? true))
    return { organization, apps: own, environment: settings.environment, zone: 'own', metrics: null }
  }

  /** Reads the last days of a metric, today included. */
  async function read(
    scope: SeriesScope,
    name: MetricName,
    { days, part = null }: { days: number; part?: string | null },
  ): Promise<Reading> {
    const today = series.calendarOf(scope).dayOf(clock())
    const query = v.parse(SeriesParams, { from: dayText(today - days), to: dayText(today) })
    const { answer, formula } = await series.withSnapshot(scope, async (one) => ({
      answer: await series.answer(one, resolveRequest(name, query, today)),
      formula: one.shown.generation.formula,
    }))
    const points = answer.series.find((one) => one.part === part)?.points ?? []
    const known = points.find(({ milli, count }) => milli !== null || count !== null)
    return {
      today,
      apps: answer.apps,
      first:
        answer.first_on === null || known === undefined
          ? null
          : Math.max(dayNumber(answer.first_on), dayNumber(known.on)),
      currency: answer.currency ?? scope.organization.currency,
      isCurrent: answer.behind === null && answer.rebuilding === null,
      days: points.map(({ on, milli = 0, count = 0 }) => ({ on, milli, count })),
      // Another app, also one that was just connected, is another past.
      basis: `${answer.currency}/${answer.time_zone}/${JSON.stringify(answer.month_length)}/${formula}/${scope.environment}/${scope.apps.map(({ id }) => id).toSorted()}`,
    }
  }

  return factsOf
}

/** A day with more revenue than every day before, once a day. */
function recordOf({ today, first, currency, isCurrent, days }: Reading): Fact[] {
  const [now, ...before] = days.toReversed()
  if (!isCurrent || now?.milli == null || first === null || today - first < MIN_HISTORY_DAYS) return []
  const best = before.reduce(
    (most, { on, milli }) => (milli !== null && milli > most.milli ? { on, milli } : most),
    { on: '', milli: 0 },
  )
  if (now.milli <= best.milli) return []
  const facts = { currency, milli: now.milli, record_milli: best.milli, record_on: best.on }
  return [{ key: now.on, facts }]
}

/** Many more refunds than usual on the days that are known, once a day. */
function spikeOf({ isCurrent, days }: Reading): Fact[] {
  const [now, ...before] = days.toReversed()
  const known = before.flatMap(({ count }) => count ?? [])
  if (!isCurrent || now?.count == null || known.length === 0) return []
  const mean = known.reduce((sum, count) => sum + count, 0) / known.length
  return now.count >= MIN_REFUNDS && now.count > SPIKE_FACTOR * mean
    ? [{ key: now.on, facts: { count: now.count, mean } }]
    : []
}
