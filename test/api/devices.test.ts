/** `/api/v1/devices`: pages, filters, who may read, revocation, and the forecast of a policy. */
import { expect, test } from 'vitest'
import { APP, authority, openAttested } from '../attribution/devices/enrolled.ts'

const OTHER = { ...APP, bundle_id: 'com.example.other', apple_id: 2 }

type Page = { devices: { id: string; app_id: string; users: number }[]; next: string | null; code?: string }

async function openListed() {
  const opened = await openAttested({ apps: [APP, OTHER] })
  const { app, enrol, identify } = opened
  const owner = await app.signIn()
  const read = async (path: string, headers: Record<string, string> = owner): Promise<Page> =>
    (await (await app.request(`/api/v1/${path}`, { headers })).json()) as Page
  const tokens: string[] = []
  for (let n = 0; n < 5; n += 1) {
    opened.clock.turn(1_000)
    tokens.push(await enrol(authority.device(APP)))
  }
  for (const token of tokens.slice(0, 2)) await identify(token, 'ada')
  return { ...opened, owner, read, tokens }
}

test('lists devices in pages, of an app and of a user, without tokens and keys', async () => {
  const { read, rows } = await openListed()
  const first = await read('devices?limit=3')
  const second = await read(`devices?limit=3&before=${first.next}`)
  expect([first.devices.length, second.devices.length, second.next]).toEqual([3, 2, null])
  const newest = rows('select id from devices order by enrolled_at desc').map(({ id }) => id)
  expect([...first.devices, ...second.devices].map(({ id }) => id)).toEqual(newest)
  expect((await read('devices?user=ada')).devices.map(({ users }) => users)).toEqual([1, 1])
  expect((await read('devices?user=nobody-known')).devices).toEqual([])
  expect((await read(`devices?app=${OTHER.bundle_id}`)).devices).toEqual([])
  expect(await read('devices?app=com.example.none')).toMatchObject({ code: 'unknown_app' })
  expect(JSON.stringify(first)).not.toMatch(/token|key|receipt/)
})

test('a read token reads the devices of its apps; no caller without one reads any', async () => {
  const { app, read } = await openListed()
  const { apps, store, tokens } = app.windfall
  const [other] = apps.byBundle(OTHER.bundle_id)
  const scope = { organization_id: null, apps: [other?.id ?? ''] }
  const { token } = await store.commit(() => tokens.create('test', scope))
  const bearer = { authorization: `Bearer ${token}` }
  expect((await read('devices', bearer)).devices).toEqual([])
  expect(await read(`devices?app=${APP.bundle_id}`, bearer)).toMatchObject({ code: 'unknown_app' })
  expect(await read('devices', {})).toMatchObject({ code: 'token_required' })
})

test('the owner revokes a device once; the audit log has it', async () => {
  const { app, identify, owner, read, tokens } = await openListed()
  const { id = '' } = (await read('devices?user=ada')).devices[1] ?? {}
  const revoke = (name: string, headers: Record<string, string> = owner) =>
    app.request(`/api/v1/devices/${name}`, { method: 'DELETE', headers })
  expect((await revoke(id, {})).status).toBe(401)
  const revoked = (await (await revoke(id)).json()) as { revoked_at: number }
  expect(revoked.revoked_at).toBeGreaterThan(0)
  expect((await (await revoke(id)).json()) as object).toMatchObject({ revoked_at: revoked.revoked_at })
  expect((await revoke('dev_none')).status).toBe(404)
  expect((await identify(tokens[0] ?? '', 'ada')).body.verification).toBe('unverified')
  const audit = (await (await app.request('/api/v1/audit', { headers: owner })).json()) as {
    entries: { action: string; subject: string }[]
  }
  expect(audit.entries.filter(({ action }) => action === 'device.revoked')).toMatchObject([{ subject: id }])
})

test('the forecast counts what each policy would have refused', async () => {
  const { identify, read } = await openListed()
  await identify(null, 'ada')
  expect(await read('devices/forecast')).toEqual({
    calls: 3,
    refused_by: { key: 1, attestation: 1, required_assertions: 2 },
  })
  expect(await read(`devices/forecast?app=${OTHER.bundle_id}`)).toMatchObject({ calls: 0 })
})
