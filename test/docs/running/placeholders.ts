/** What the names, addresses and secrets of the documents stand for in the seeded instance. */
import { randomUUID } from 'node:crypto'
import { storeDevices } from '../../attribution/devices/stored.ts'
import type { Instance } from './instance.ts'

/** The folder of a page, in which its commands run, and the instance. */
export type Place = { folder: string; instance: Instance }

/** `pattern`: the placeholder; `value`: what the seeded instance has in its place. The first entries are filled in first. */
type Placeholder = { pattern: RegExp; value: (place: Place) => string | Promise<string> }

/** An endpoint that commands name. */
export const ENDPOINT = '127.0.0.1'

const PLACEHOLDERS: readonly Placeholder[] = [
  // Files: folders of the system, and of the reader, are below the folder of the page.
  { pattern: /(?<=^|[\s=>])\/(?=(?:etc|mnt|srv|tmp|usr|var|DIR)\b)/g, value: ({ folder }) => `${folder}/` },
  { pattern: /(?<=[\s=])\/path\/to\//g, value: ({ folder }) => `${folder}/` },

  // Addresses: the server, and a backend that accepts every webhook.
  { pattern: /http:\/\/127\.0\.0\.1:8787(?=[/'\s]|$)/g, value: ({ instance }) => instance.url },
  { pattern: /https:\/\/windfall\.example\.com/g, value: ({ instance }) => instance.url },
  {
    pattern: /https:\/\/api\.example\.com\/|http:\/\/127\.0\.0\.1:3000\//g,
    value: ({ instance }) => instance.receiver,
  },
  { pattern: /\bapi\.example\.com\b|\bNAME\b/g, value: () => ENDPOINT },
  { pattern: /(?<=--port )\d+|(?<=_PORT=)\d+/g, value: () => '0' },

  // Credentials.
  { pattern: /\bwf_…/g, value: ({ instance }) => instance.token },
  { pattern: /\bpk_live_…/g, value: ({ instance }) => instance.publishable },
  { pattern: /\bsk_live_…/g, value: ({ instance }) => instance.secret },
  { pattern: /\bwhsec_…/g, value: () => `whsec_${Buffer.alloc(32, 7).toString('base64')}` },
  { pattern: /\bage1(?:…|\w{58})/g, value: ({ instance }) => instance.age.recipient },

  // Ids: each command gets a key or a token of its own.
  { pattern: /\bkey_1f6b2c\b|(?<=keys \w+ )ID\b/g, value: async ({ instance }) => newKey(instance) },
  { pattern: /\btok_9d41aa\b|(?<=tokens \w+ )ID\b/g, value: async ({ instance }) => newToken(instance) },
  {
    pattern: /\bdev_1f6b2c\b|(?<=devices \w+ )ID\b/g,
    value: async ({ instance }) => (await storeDevices(instance.windfall, [randomUUID()]))[0] ?? '',
  },
  { pattern: /(?<=refused list --raw )\d+/g, value: async ({ instance }) => firstRefused(instance) },
  { pattern: /(?<=webhooks log --id )(?:\d+|N)\b/g, value: async ({ instance }) => newDelivery(instance) },

  // Apps, purchases, users and organizations. A command that adds or removes an app keeps its name.
  { pattern: /(?<!apps (?:add|remove) )\bcom\.example\.app\b/g, value: ({ instance }) => instance.bundle },
  { pattern: /\b2000000123456789\b/g, value: ({ instance }) => instance.original_transaction_ids[0] },
  { pattern: /\b2000000123456790\b/g, value: ({ instance }) => instance.original_transaction_ids[1] },
  // A day without a published rate.
  { pattern: /\b2026-01-30\b/g, value: () => '2019-01-31' },
  { pattern: /\bUSER\b/g, value: () => 'user-1' },
  { pattern: /\bacme\b/g, value: () => 'default' },
  { pattern: /\bHOURS\b/g, value: () => '24' },

  // `windfall` in this folder, and any command.
  { pattern: /(?<=^npm run -s windfall --)$/g, value: () => ' --version' },
  { pattern: /\bCOMMAND\b/g, value: () => 'apps add' },
  // The owner of a new folder is who runs the tests.
  { pattern: /(?<=^install -d )-o windfall -g windfall\b/g, value: () => '-o $(id -u) -g $(id -g)' },
]

/** A command with the values of the seeded instance in the places of its placeholders. */
export async function filled(text: string, place: Place): Promise<string> {
  let command = text
  for (const { pattern, value } of PLACEHOLDERS) {
    if (command.search(pattern) === -1) continue
    const replacement = await value(place)
    command = command.replaceAll(pattern, () => replacement)
  }
  return command
}

async function newKey({ send }: Instance): Promise<string> {
  const { id } = await send<{ id: string }>('keys.create', { kind: 'publishable', label: 'documents' })
  return id
}

async function newToken({ send }: Instance): Promise<string> {
  const { id } = await send<{ id: string }>('tokens.create', { label: 'documents' })
  return id
}

async function firstRefused({ send }: Instance): Promise<string> {
  const { kept } = await send<{ kept: { id: number }[] }>('refused.list', {})
  return String(kept[0]?.id)
}

async function newDelivery({ send }: Instance): Promise<string> {
  const { id } = await send<{ id: number }>('webhooks.test', { name: ENDPOINT, type: 'subscription.renewed' })
  return String(id)
}
