/** The command `windfall devices`: attested devices and their tokens, and a day on which only they are accepted. */
import { defineCommand } from 'citty'
import type { ListedDevice } from '../attribution/devices/device_list.ts'
import { columns, configArg, instantText, organizationArg, sendVerb } from './instance/instance.ts'
import { limitArg, parseLimit } from './instance/limit.ts'
import { print } from './instance/output.ts'

type Answer = { devices: (ListedDevice & { bundle_id: string })[] }

const list = defineCommand({
  meta: { name: 'list', description: 'List attested devices, the newest first' },
  args: {
    app: { type: 'string', valueHint: 'BUNDLE_ID', description: 'Only devices of this app' },
    user: { type: 'string', valueHint: 'USER_ID', description: 'Only devices that named this user' },
    ...limitArg,
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { app = null, user = null, organization = null } = args
    const request = { organization, app, user, limit: parseLimit(args.limit) }
    const { devices } = await sendVerb<Answer>(args.config, 'devices.list', request)
    if (devices.length === 0) return print('No device has enrolled yet.')
    const header = ['id', 'app', 'environment', 'system', 'build', 'users', 'enrolled', 'last used', 'state']
    print(columns([header, ...devices.map(rowOf)]))
  },
})

const rowOf = (device: Answer['devices'][number]) => [
  device.id,
  device.bundle_id,
  device.environment,
  device.os_version,
  device.bundle_version,
  device.users,
  instantText(device.enrolled_at),
  device.used_on,
  device.revoked_at === null ? 'active' : 'revoked',
]

const revoke = defineCommand({
  meta: { name: 'revoke', description: 'End the token of a device for good' },
  args: {
    id: { type: 'positional', required: true, description: 'Id of the device, from `devices list`' },
    ...configArg,
  },
  async run({ args }) {
    await sendVerb(args.config, 'devices.revoke', { id: args.id })
    print(`The token of ${args.id} is revoked. Calls with it count as calls without a credential.`)
  },
})

type Required = { until_at: number | null; without_devices: string[] }

const requireProof = defineCommand({
  meta: { name: 'require', description: 'Refuse SDK calls without proof for 24 hours' },
  args: { end: { type: 'boolean', description: 'Accept all calls again' }, ...organizationArg, ...configArg },
  async run({ args }) {
    const request = { organization: args.organization ?? null, is_on: args.end !== true }
    const { until_at, without_devices } = await sendVerb<Required>(args.config, 'devices.require', request)
    if (until_at === null) return print('Calls without proof are accepted.')
    print(`Until ${instantText(until_at)}, only attested devices and secret keys are accepted.`)
    for (const bundle_id of without_devices)
      print(`${bundle_id} has no attested device: all its clients are refused.`)
  },
})

export const devicesCommand = defineCommand({
  meta: { name: 'devices', description: 'Attested devices and their tokens' },
  subCommands: { list, revoke, require: requireProof },
})
