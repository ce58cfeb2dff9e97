/** Control verbs of attested devices. */
import * as v from 'valibot'
import { COMMAND_LINE } from '../access/audit.ts'
import type { Windfall } from '../app.ts'
import { AppUserId } from '../attribution/requests.ts'
import { Refusal } from '../errors.ts'
import { type Verbs, verb } from './socket.ts'

const ListArguments = v.object({
  organization: v.optional(v.nullable(v.string()), null),
  app: v.optional(v.nullable(v.string()), null),
  user: v.optional(v.nullable(AppUserId), null),
  limit: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1_000)),
})
const RequireArguments = v.object({
  organization: v.optional(v.nullable(v.string()), null),
  is_on: v.boolean(),
})

/** The verbs `devices.*`. */
export function deviceVerbs({ store, apps, organizations, attest, audit }: Windfall): Verbs {
  function list({ organization, app, user, limit }: v.InferOutput<typeof ListArguments>) {
    const { id } = organizations.resolve(organization)
    const chosen = apps
      .list()
      .filter(
        ({ organization_id, bundle_id }) => organization_id === id && (app === null || bundle_id === app),
      )
    if (app !== null && chosen.length === 0)
      throw new Refusal(404, 'unknown_app', `no app with the bundle id ${app} is connected`)
    const app_ids = chosen.map((one) => one.id)
    const bundleById = new Map(chosen.map((one) => [one.id, one.bundle_id]))
    const devices = attest.list.page({ app_ids, app_user_id: user, before: null, limit })
    return {
      devices: devices.map((device) => ({ ...device, bundle_id: bundleById.get(device.app_id) ?? '' })),
    }
  }

  const revoke = ({ id }: { id: string }) =>
    store.commit(() => {
      if (attest.list.get(id) === null) throw new Refusal(404, 'unknown_device', `no device has the id ${id}`)
      attest.devices.revoke(id)
      audit.note({ ...COMMAND_LINE, action: 'device.revoked', subject: id })
      return {}
    })

  const requireProof = ({ organization, is_on }: v.InferOutput<typeof RequireArguments>) =>
    store.commit(() => {
      const { id } = organizations.resolve(organization)
      const { attestedOnly, list } = attest
      if (is_on || attestedOnly.untilOf(id) !== null)
        audit.note({ ...COMMAND_LINE, action: `attested_only.${is_on ? 'begun' : 'ended'}`, subject: id })
      if (!is_on) attestedOnly.end(id)
      const until_at = is_on ? attestedOnly.begin(id) : null
      const devices = list.countByApp()
      const own = apps.list().filter((app) => app.organization_id === id && !devices.has(app.id))
      return { organization_id: id, until_at, without_devices: own.map(({ bundle_id }) => bundle_id) }
    })

  return {
    'devices.require': verb(RequireArguments, requireProof),
    'devices.list': verb(ListArguments, list),
    'devices.revoke': verb(v.object({ id: v.pipe(v.string(), v.nonEmpty()) }), revoke),
  }
}
