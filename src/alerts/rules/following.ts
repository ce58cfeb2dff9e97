/** Follows the feed for the rules about events: each match becomes a message, in the commit that moves the cursor. */
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import type { Feed, FeedEvent } from '../../events/feed.ts'
import { EVENT_TYPES } from '../../events/vocabulary.ts'
import type { Log } from '../../log.ts'
import type { Rates } from '../../rates/rates.ts'
import type { Stoppages } from '../../stoppages.ts'
import type { Store } from '../../store/store.ts'
import { yieldToEventLoop } from '../../turns.ts'
import type { Channels } from '../channels/channels.ts'
import type { Messages } from '../messages/messages.ts'
import { JOIN_MS } from '../messages/occasion.ts'
import type { Countries } from './countries.ts'
import { keyOf, matches, type ToBase, toBase } from './matching.ts'
import type { Rule, Rules } from './rules.ts'
import { templateOf } from './templates.ts'

/** The events that are read in one turn of the event loop. */
const SLICE = 200
/** A cursor without a match is stored when it is this many events behind the position in memory. */
const STORE_EVERY = 1_000

type Deps = {
  store: Store
  clock: Clock
  log: Log
  stoppages: Pick<Stoppages, 'watch'>
  feed: Feed
  organizations: Pick<Organizations, 'get'>
  rates: Pick<Rates, 'convert'>
  rules: Rules
  channels: Channels
  messages: Messages
  countries: Countries
}

const WATCHED = {
  part: 'alerts',
  name: 'feed',
  title: 'Alerts do not read new events',
  message: 'alerts could not read the feed',
  isWhole: true,
} as const

/** Opens the following. It reads nothing before `follow`. */
export function openFollowing(deps: Deps) {
  const { store, rules, stoppages } = deps
  /** The position of each rule, at or after its stored cursor. */
  const positions = new Map<string, number>()
  const readSlice = openSlices(deps, positions)
  let running: Promise<void> | null = null
  let isAgain = false
  const watch = stoppages.watch(WATCHED)

  /** Reads the events that no rule has seen yet. Resolves when all rules have seen the newest. */
  function follow(): Promise<void> {
    isAgain = running !== null
    running ??= readAll()
      .catch((error: unknown) => watch.failed(error))
      .finally(() => {
        running = null
        if (isAgain) void follow()
      })
    return running
  }

  /** An organization whose events cannot be read does not keep the others from theirs. */
  async function readAll(): Promise<void> {
    for (const organization_id of new Set(followersIn(rules).map((rule) => rule.organization_id)))
      await readOf(organization_id).then(
        () => watch.worked(organization_id),
        (error: unknown) => watch.failed(error, organization_id),
      )
    watch.worked()
  }

  async function readOf(organization_id: string): Promise<void> {
    while (await readSlice(organization_id)) await yieldToEventLoop()
  }

  /** The seq of the last event that a rule has read, which its stored cursor can be behind. */
  const positionOf = (id: string): number => positions.get(id) ?? 0

  /** Stores the positions, so that the next start does not read the same events again. */
  const storePositions = (): Promise<void> =>
    store.commit(() => {
      for (const [id, position] of positions) rules.move(id, position)
    })

  /** Waits for the reading that runs. */
  async function settled(): Promise<void> {
    while (running !== null) await running
  }

  return { follow, positionOf, storePositions, settled }
}

/** The rules that follow the feed. */
const followersIn = (rules: Pick<Rules, 'list'>): Rule[] =>
  rules
    .list()
    .filter(({ template, is_on }) => is_on && ['sale', 'event'].includes(templateOf(template).basis))

/** Returns the function that reads the next events for all rules of an organization. */
function openSlices(deps: Deps, positions: Map<string, number>) {
  const { store, feed, rules, log } = deps
  const writing = openWriting(deps)

  const positionOf = ({ id, cursor }: Rule): number => Math.max(cursor, positions.get(id) ?? 0)

  /** Reads at most a slice. Resolves to whether there are more. */
  return async (organization_id: string): Promise<boolean> => {
    const own = followersIn(rules).filter((rule) => rule.organization_id === organization_id)
    const after = Math.min(...own.map(positionOf))
    const until = Math.min(feed.head(), after + STORE_EVERY)
    if (after >= until) return false
    const events = feed.read({ after, until, limit: SLICE, organization_id, types: EVENT_TYPES })
    const reached = events.length === SLICE ? (events.at(-1)?.seq ?? until) : until
    // Messages are sent in the order in which they are written.
    const found = own
      .flatMap((rule) => writing.matching(rule, events, positionOf(rule)))
      .toSorted((one, other) => one.event.seq - other.event.seq)
    const isFar = own.some(({ cursor }) => reached - cursor >= STORE_EVERY)
    if (found.length > 0 || isFar)
      await store.commit(() => {
        for (const { rule, event } of found) {
          const error = store.inSavepoint(() => writing.write(rule, event))
          if (error !== null)
            log.error('an alert about an event could not be stored', {
              rule: rule.name,
              event: event.id,
              error,
            })
        }
        for (const { id } of own) rules.move(id, reached)
      })
    for (const { id } of own) positions.set(id, reached)
    return true
  }
}

/** Opens what finds matching events and writes their messages. */
function openWriting({ clock, organizations, rates, channels, messages, countries }: Deps) {
  function matching(rule: Rule, events: readonly FeedEvent[], after: number) {
    const convert = converterOf(rule)
    return events
      .filter((event) => event.seq > after && matches(rule, event, convert))
      .map((event) => ({ rule, event }))
  }

  const converterOf = ({ organization_id }: Rule): ToBase =>
    toBase(rates, organizations.get(organization_id)?.currency ?? 'USD')

  /** Writes the message of an event, once, with a send for each channel of the rule. */
  function write(rule: Rule, event: FeedEvent): void {
    if (rule.template === 'first_in_country' && !countries.isFirst(rule, event)) return
    const message = messages.add({
      organization_id: rule.organization_id,
      rule_id: rule.id,
      kind: rule.template,
      key: keyOf(rule, event),
      content: {
        subject: {
          about: 'event',
          template: rule.template,
          event_id: event.id,
          is_recovered: event.origin === 'recovered',
        },
      },
      happened_at: event.occurred_at,
    })
    if (message === null) return
    const due_at = Math.max(clock(), event.recorded_at + JOIN_MS)
    for (const { id } of channelsOf(channels, rule)) messages.addSend(message.id, id, due_at)
  }

  return { matching, write }
}

/** The channels that a rule sends to, also those that do not work at the moment. */
export const channelsOf = (channels: Pick<Channels, 'list'>, { organization_id, channels: ids }: Rule) =>
  channels.list(organization_id).filter(({ id }) => ids === null || ids.includes(id))
