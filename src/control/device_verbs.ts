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

  return {
    'devices.list': verb(ListArguments, list),
    'devices.revoke': verb(v.object({ id: v.pipe(v.string(), v.nonEmpty()) }), revoke),
  }
}
