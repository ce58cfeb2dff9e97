/** The command `windfall keys`: SDK keys for client apps and the backend. */
import { defineCommand } from 'citty'
import type { Key } from '../apps/keys.ts'
import type { Organization } from '../apps/organizations.ts'
import { Refusal } from '../errors.ts'
import { columns, configArg, instantText, organizationArg, sendVerb } from './instance/instance.ts'
import { print, printError } from './instance/output.ts'

type CreatedKey = Key & { token: string }
type RotatedKey = CreatedKey & { replaces: string; old_expires_at: number }
type KeyList = { organizations: Organization[]; keys: Key[] }

const HOUR_MS = 3_600_000
const idArg = {
  id: { type: 'positional', required: true, description: 'Id of the key, from `keys list`' },
} as const
const SHOWN_ONCE = 'A secret key is shown only once. It belongs in your backend, never in an app.'

const create = defineCommand({
  meta: { name: 'create', description: 'Create a key' },
  args: {
    secret: {
      type: 'boolean',
      default: false,
      description: 'Create a secret key for your backend: its calls count as proved',
    },
    label: { type: 'string', default: 'made by hand', valueHint: 'TEXT', description: 'A name for the key' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { secret, label } = args
    const kind = secret ? 'secret' : 'publishable'
    const request = { organization: args.organization ?? null, kind, label }
    const key = await sendVerb<CreatedKey>(args.config, 'keys.create', request)
    print(`${key.id}  ${key.token}`)
    if (secret) printError(SHOWN_ONCE)
  },
})

const list = defineCommand({
  meta: { name: 'list', description: 'List all keys; shows publishable keys in full' },
  args: { ...organizationArg, ...configArg },
  async run({ args }) {
    const request = { organization: args.organization ?? null }
    const { organizations, keys } = await sendVerb<KeyList>(args.config, 'keys.list', request)
    const slugById = new Map(organizations.map(({ id, slug }) => [id, slug]))
    const header = ['id', 'organization', 'key', 'label', 'made', 'state']
    const rows = keys.map((key) => {
      const tokenText = key.token ?? `sk_live_…${key.hint}`
      return [
        key.id,
        slugById.get(key.organization_id) ?? '-',
        tokenText,
        key.label,
        instantText(key.created_at),
        stateText(key),
      ]
    })
    print(columns([header, ...rows]))
  },
})

function stateText(key: Key): string {
  if (key.revoked_at !== null) return `revoked ${instantText(key.revoked_at)}`
  return key.expires_at === null ? 'in use' : `until ${instantText(key.expires_at)}`
}

const rotate = defineCommand({
  meta: { name: 'rotate', description: 'Create a successor; the old key stays valid for a while' },
  args: {
    ...idArg,
    overlap: {
      type: 'string',
      default: '24',
      valueHint: 'HOURS',
      description: 'How many hours the old key stays valid',
    },
    ...configArg,
  },
  async run({ args }) {
    const hours = Number(args.overlap)
    if (!(hours >= 0))
      throw new Refusal(400, 'invalid_request', `--overlap must be a number of hours, not ${args.overlap}`)
    const key = await sendVerb<RotatedKey>(args.config, 'keys.rotate', {
      id: args.id,
      overlap_ms: hours * HOUR_MS,
    })
    print(`${key.id}  ${key.token}`)
    if (key.kind === 'secret') printError(SHOWN_ONCE)
    printError(`${key.replaces} stays valid until ${instantText(key.old_expires_at)}.`)
  },
})

const revoke = defineCommand({
  meta: { name: 'revoke', description: 'Revoke a key immediately' },
  args: { ...idArg, ...configArg },
  async run({ args }) {
    const key = await sendVerb<Key>(args.config, 'keys.revoke', { id: args.id })
    print(`${key.id} is revoked.`)
  },
})

export const keysCommand = defineCommand({
  meta: { name: 'keys', description: 'Create, list, rotate and revoke SDK keys' },
  subCommands: { create, list, rotate, revoke },
})
