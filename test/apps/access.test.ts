import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Account, openAccounts } from '../../src/apps/accounts.ts'
import { openAppleClients } from '../../src/apps/apple_clients.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openScripted } from '../apple/api/scripted.ts'
import { closedAtEnd } from '../closing.ts'
import { newKey } from '../config/keys.ts'
import { temporaryFolder } from '../folders.ts'
import { openTestApp } from '../helpers.ts'

const hosts = {
  connect: 'http://127.0.0.1:1',
  server: { production: 'http://127.0.0.1:1', sandbox: 'http://127.0.0.1:1' },
}
const keyOf = (key_id: string) => ({ key_id, issuer_id: 'i', private_key: newKey() })
const account = (organization_id: string, more: Partial<Account> = {}): Account => ({
  organization_id,
  connect: null,
  purchases: null,
  vendor_numbers: [],
  ...more,
})

function open(declared: readonly Account[]) {
  const accounts = openAccounts()
  accounts.declare(declared)
  const access = openAppleClients({
    accounts,
    clock: () => 0,
    hosts,
    current: { config: { apple: { icons: false } } },
    wait: async () => {},
  })
  return { accounts, ...access }
}

test('opens one client for each key, which shares its tokens and hourly budget', async () => {
  const [one, two] = [keyOf('ONE'), keyOf('TWO')]
  const declared = [
    account('a', { connect: one }),
    account('b', { connect: { ...one } }),
    account('c', { connect: two }),
  ]
  const { accounts, connect, close } = open(declared)
  const first = connect('a')
  expect(first).not.toBeNull()
  expect([connect('a') === first, connect('b') === first, connect('c') === first]).toEqual([
    true,
    true,
    false,
  ])
  accounts.declare([account('a', { connect: { ...one } }), account('c', { connect: keyOf('TWO') })])
  expect([connect('a') === first, connect('b')]).toEqual([true, null])
  expect(connect('c')).not.toBeNull()
  accounts.declare([account('a', { connect: two })])
  expect(connect('a')).not.toBe(first)
  accounts.declare([account('a', { connect: one })])
  expect(connect('a')).not.toBe(first)
  await close()
})

test('does not wait for Apple’s answers when it closes, and requests them again later', async () => {
  const apple = closedAtEnd(await openScripted())
  apple.script.answer = ({ path }) =>
    path === '/v1/salesReports' || path.startsWith('/inApps/') ? { hang: true } : { json: { data: [] } }
  const server = { production: apple.host, sandbox: apple.host }
  const app = await openTestApp({ hosts: { connect: apple.host, server } })
  const { accounts, imports, history, appleClients, store } = app.windfall
  const { id } = app.organization
  const keys = { connect: keyOf('ONE'), purchases: keyOf('TWO') }
  accounts.declare([account(id, { ...keys, vendor_numbers: ['80012345'] })])
  const running = [imports.run({ days: 1 }), history.backfill()] as const
  while (apple.requests.length < 2) await new Promise(setImmediate)
  const days = store.prepare<[], { n: number }>('select count(*) as n from import_days')
  const closed = app.close()
  const [imported, read] = await Promise.all(running)
  expect(imported).toMatchObject({ failed: 0, stopped: [{ reason: 'Windfall is stopping' }] })
  expect(days.get()).toEqual({ n: 0 })
  expect(read.map(({ state }) => state)).toEqual(['stopped', 'stopped'])
  await closed
  accounts.declare([account(id, { connect: keyOf('THREE') })])
  await expect(appleClients.connect(id)?.apps()).rejects.toThrow('Windfall is stopping')
})

test('opens one client for each app with the organization’s In-App Purchase key', async () => {
  const { windfall, organization, close } = await openTestApp()
  const key = keyOf('ONE')
  windfall.accounts.declare([account(organization.id, { purchases: key })])
  const [app] = windfall.apps.list()
  const other = await windfall.store.commit(() =>
    windfall.apps.add(organization.id, { bundle_id: 'com.other' }, 'test'),
  )
  if (!app) throw new Error('there is no app')
  expect(windfall.appleClients.server(app)).toBe(windfall.appleClients.server(app))
  expect(windfall.appleClients.server(other)).not.toBe(windfall.appleClients.server(app))
  expect(windfall.appleClients.connect(organization.id)).toBeNull()
  windfall.accounts.declare([])
  expect(windfall.appleClients.server(app)).toBeNull()
  await close()
})

test('takes the accounts from config.toml, and replaces them on reload', async () => {
  const folder = temporaryFolder()
  const configFile = join(folder.path, 'config.toml')
  const pem = newKey()
  const organizations = '[[organizations]]\nslug = "a"\n[[organizations]]\nslug = "b"\n'
  const written = (slug: string, id: string) =>
    `[[accounts]]\norganization = "${slug}"\nconnect_key_id = "${id}"\nconnect_key = """\n${pem}"""\n`
  writeFileSync(configFile, organizations + written('a', 'AAAAAAAAAA') + written('b', 'BBBBBBBBBB'), {
    mode: 0o600,
  })
  const { config } = loadConfig({ env: {}, cwd: folder.path })
  const app = await openTestApp({ apps: [] })
  const { accounts, organizations: known } = app.windfall
  await app.windfall.declare(config)
  const [a = '', b = ''] = ['a', 'b'].map((slug) => known.findBySlug(slug)?.id)
  expect(accounts.forOrganization(a)).toEqual({
    organization_id: a,
    connect: { key_id: 'AAAAAAAAAA', issuer_id: null, private_key: pem.trim() },
    purchases: null,
    vendor_numbers: [],
  })
  expect(accounts.forOrganization(b)?.connect?.key_id).toBe('BBBBBBBBBB')
  await app.windfall.declare({ ...config, accounts: config.accounts.slice(1) })
  expect(accounts.list().map(({ organization_id }) => organization_id)).toEqual([b])
  await app.close()
  folder.remove()
})
