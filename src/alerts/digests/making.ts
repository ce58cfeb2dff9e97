/** Makes the digests that are due, each once for its channel, kind and local date. */
import type { Organization, Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { dayText, openCalendar } from '../../metrics/lineage/calendar.ts'
import type { Stoppages } from '../../stoppages.ts'
import type { Store } from '../../store/store.ts'
import type { Channel, Channels } from '../channels/channels.ts'
import type { Memory } from '../memory.ts'
import type { Text } from '../messages/content.ts'
import type { Messages } from '../messages/messages.ts'
import { minutesOf } from '../sending/quiet_hours.ts'
import type { AlertSettingsStore } from '../settings.ts'
import { DIGEST_KINDS, type DigestFigures, type DigestKind } from './figures.ts'
import { type DueDigest, dueDigests } from './periods.ts'
import type { DigestReader } from './reading.ts'
import { type Digests, digestId } from './stored.ts'
import { digestText } from './text.ts'

/** A digest that is due later than this is skipped. */
const LATE_MS = 6 * 3_600_000
/** How long a digest waits for figures that are being computed. */
const WAIT_MS = 30 * 60_000
/** The prefix of what is remembered of the digests of a channel: since when it gets them at a wall time. */
const PREFIX = 'digest'

type Deps = {
  store: Store
  clock: Clock
  stoppages: Pick<Stoppages, 'watch'>
  organizations: Pick<Organizations, 'list'>
  channels: Pick<Channels, 'list'>
  settings: AlertSettingsStore
  memory: Memory
  messages: Pick<Messages, 'add' | 'addSend'>
  digests: Digests
  reader: DigestReader
}

/** A digest that a channel gets now. `is_skipped`: the start was too late. */
type Wanted = DueDigest & { channel: Channel; is_skipped: boolean }
type Group = Readonly<{
  organization: Organization
  kind: DigestKind
  digested_on: string
  wanted: readonly Wanted[]
}>

const WATCHED = {
  part: 'alerts',
  name: 'digest',
  title: 'A digest is not made',
  message: 'a digest could not be made',
} as const

/** Opens the making. */
export function openDigestMaking(deps: Deps) {
  const { organizations, stoppages } = deps
  const watch = stoppages.watch(WATCHED)
  const waiting = openWaiting(deps.clock)
  const wantedBy = openWanted(deps, waiting.isWaiting)
  const write = openWriting(deps)
  let running: Promise<void> | null = null

  /** Makes what is due. Called each minute; a call during another waits for it. */
  function make(): Promise<void> {
    running ??= makeAll().finally(() => {
      running = null
    })
    return running
  }

  async function makeAll(): Promise<void> {
    for (const organization of organizations.list())
      try {
        for (const group of groupsOf(organization, await wantedBy(organization))) await makeGroup(group)
        watch.worked(organization.slug)
      } catch (error) {
        watch.failed(error, organization.slug)
      }
  }

  async function makeGroup(group: Group): Promise<void> {
    const { organization, kind, wanted } = group
    const [first] = wanted
    if (first === undefined) return
    if (first.is_skipped) return write(group, null)
    const figures = await deps.reader.read(organization, kind, first.day)
    if (figures === null || (figures.is_behind && waiting.waits(keyOf(organization, first)))) return
    await write(group, figures)
    waiting.end(keyOf(organization, first))
  }

  return { make, settled: async () => void (await running) }
}

const keyOf = ({ id }: Organization, { kind, day }: DueDigest): string => `${id}/${kind}/${day}`

/** The digests with the same figures, which are read once for all channels. */
function groupsOf(organization: Organization, wanted: readonly Wanted[]): Group[] {
  const groups = Map.groupBy(wanted, ({ kind, day, is_skipped }) => `${kind}/${day}/${is_skipped}`)
  return [...groups.values()].flatMap((own) => {
    const [first] = own
    return first ? [{ organization, kind: first.kind, digested_on: dayText(first.day), wanted: own }] : []
  })
}

/** Remembers since when digests wait for figures. A start begins the wait again. */
function openWaiting(clock: Clock) {
  const since = new Map<string, number>()

  /** Whether a digest still waits. The first call begins the wait. */
  function waits(key: string): boolean {
    const begun = Math.min(since.get(key) ?? clock(), clock())
    since.set(key, begun)
    return clock() - begun < WAIT_MS
  }

  return {
    waits,
    isWaiting: (key: string): boolean => since.has(key),
    end: (key: string) => void since.delete(key),
  }
}

/** Returns the function that finds the digests that an organization’s channels get now. */
function openWanted(deps: Deps, isWaiting: (key: string) => boolean) {
  const { clock, channels, settings, digests } = deps
  const sinceOf = openSince(deps)

  return async (organization: Organization): Promise<Wanted[]> => {
    const wall = settings.get(organization.id).digests_at
    const calendar = openCalendar(organization.time_zone)
    const getting = channels
      .list(organization.id)
      .filter(({ state }) => state === 'active')
      .flatMap((channel) =>
        DIGEST_KINDS.filter((kind) => channel.digests.includes(kind)).map((kind) => ({ channel, kind })),
      )
    const since = await sinceOf(organization.id, wall, getting)
    return getting.flatMap(({ channel, kind }) =>
      dueDigests(kind, minutesOf(wall) ?? 0, calendar, clock())
        .filter(({ due_at }) => due_at >= (since.get(`${channel.id}/${kind}`) ?? due_at))
        .filter(({ day }) => !digests.has({ channel_id: channel.id, kind, digested_on: dayText(day) }))
        .map((due) => {
          const isLate = clock() - due.due_at > LATE_MS && !isWaiting(keyOf(organization, due))
          return { ...due, channel, is_skipped: isLate }
        }),
    )
  }
}

/**
 * Returns the function that finds since when channels get digests at a wall time, by channel and kind. A channel gets no
 * digest that was due before it wanted it, or before the wall time was changed.
 */
function openSince({ store, clock, memory }: Deps) {
  return async (
    organization_id: string,
    wall: string,
    getting: readonly { channel: Channel; kind: DigestKind }[],
  ): Promise<ReadonlyMap<string, number>> => {
    const owner = { organization_id, rule_id: '' }
    const names = getting.map(({ channel, kind }) => `${channel.id}/${kind}`)
    const known = new Map(
      memory.all(owner, PREFIX).map(({ key, ...one }) => [key.slice(PREFIX.length + 1), one]),
    )
    // After the clock was set back, what is remembered can be in the future: it begins now.
    const isKnown = (one: { value: string; at: number } | undefined): boolean =>
      one?.value === wall && one.at <= clock()
    const begun = names.filter((name) => !isKnown(known.get(name)))
    const ended = [...known.keys()].filter((name) => !names.includes(name))
    if (begun.length + ended.length > 0)
      await store.commit(() => {
        for (const name of begun) memory.set(owner, `${PREFIX}/${name}`, wall, clock())
        for (const name of ended) memory.forget(owner, `${PREFIX}/${name}`)
      })
    return new Map(names.map((name) => [name, begun.includes(name) ? clock() : (known.get(name)?.at ?? 0)]))
  }
}

/** Returns the function that stores digests with their figures, and a message for each; without figures they are skipped. */
function openWriting({ store, clock, messages, digests }: Deps) {
  return ({ organization, kind, digested_on, wanted }: Group, figures: DigestFigures | null): Promise<void> =>
    store.commit(() => {
      for (const { channel } of wanted) {
        const key = { channel_id: channel.id, kind, digested_on }
        if (digests.has(key)) continue
        const message =
          figures && addMessage(organization.id, digestId(key), digestText(kind, figures, digestId(key)))
        if (message) messages.addSend(message.id, channel.id, clock())
        digests.add({ ...key, message_id: message?.id ?? null, figures, made_at: clock() })
      }
    })

  function addMessage(organization_id: string, id: string, text: Text) {
    return messages.add({
      organization_id,
      rule_id: null,
      kind: 'digest',
      key: `digest/${id}`,
      content: { subject: { about: 'digest', digest_id: id }, text },
      happened_at: clock(),
    })
  }
}
