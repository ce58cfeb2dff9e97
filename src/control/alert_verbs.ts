/** The control verbs behind `windfall alerts`: test messages, the history, and the mute. */
import * as v from 'valibot'
import { COMMAND_LINE } from '../access/audit.ts'
import type { Channel } from '../alerts/channels/channels.ts'
import { muteEnd } from '../alerts/sending/mute.ts'
import type { Windfall } from '../app.ts'
import { Refusal } from '../errors.ts'
import { openCalendar } from '../metrics/lineage/calendar.ts'
import { type Verbs, verb } from './socket.ts'

const organization = v.optional(v.nullable(v.string()), null)
/** A channel by its name or id; null for all channels. */
const Tested = v.object({ name: v.nullable(v.pipe(v.string(), v.nonEmpty())), organization })
const Muting = v.object({ words: v.pipe(v.string(), v.nonEmpty()), organization })
const LogQuery = v.object({
  organization,
  limit: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1_000)),
})

/** The verbs `alerts.*`. */
export function alertVerbs(windfall: Windfall): Verbs {
  const { alerts, store, audit, organizations, outgoing } = windfall

  const idOf = (slug: string | null): string | null => (slug === null ? null : organizations.resolve(slug).id)

  /** @throws Refusal 404 `unknown_channel` */
  function find(name: string | null, slug: string | null): readonly Channel[] {
    const found = alerts.channels
      .list(idOf(slug))
      .filter((one) => name === null || one.name === name || one.id === name)
    if (found.length > 0) return found
    const detail =
      name === null
        ? 'there is no channel; add one in the dashboard under Settings, Alerts'
        : `there is no channel ${name.slice(0, 60)}; windfall alerts test without a name tests all`
    throw new Refusal(404, 'unknown_channel', detail)
  }

  /** Sends a test message to each channel. The answer has the provider’s words. */
  async function test({ name, organization: slug }: v.InferOutput<typeof Tested>) {
    const channels = find(name, slug)
    await store.commit(() => {
      for (const { id: subject, name: detail } of channels)
        audit.note({ ...COMMAND_LINE, action: 'channel.tested', subject, detail })
    })
    const results = await Promise.all(channels.map(alerts.test))
    return {
      channels: channels.map(({ id, name: channel, kind }, index) => {
        const result = results[index]
        return {
          id,
          name: channel,
          kind,
          result: result?.kind,
          words: result && 'words' in result ? result.words : null,
        }
      }),
    }
  }

  const log = ({ organization: slug, limit }: v.InferOutput<typeof LogQuery>) => ({
    messages: alerts.history.list({ organization_id: idOf(slug), before: null, limit }),
    held: outgoing.held.state(),
  })

  return { 'alerts.test': verb(Tested, test), 'alerts.log.list': verb(LogQuery, log), ...muteVerb(windfall) }
}

function muteVerb({ alerts, store, audit, clock, organizations }: Windfall): Verbs {
  async function mute({ words, organization: slug }: v.InferOutput<typeof Muting>) {
    const { id, time_zone } = organizations.resolve(slug)
    const muted_until = muteEnd(words, openCalendar(time_zone), clock())
    await store.commit(() => {
      alerts.changeSettings(id, { muted_until })
      audit.note({ ...COMMAND_LINE, action: 'alerts.changed', detail: 'muted_until' })
    })
    return { muted_until, time_zone }
  }

  return { 'alerts.mute': verb(Muting, mute) }
}
