/** What the SDK does for a host that calls it wrongly, or whose storage has what another version wrote. */
import { expect, test } from 'vitest'
import { openApi } from '../../sdk/js/src/api.ts'
import type { Options } from '../../sdk/js/src/types.ts'
import { answered } from './model_server.ts'
import { openWorld } from './world.ts'

const OPTIONS = { url: 'https://windfall.example.com', bundleId: 'com.example.lantern' }

function openHost() {
  const bodies: Record<string, unknown>[] = []
  const warnings: string[] = []
  const world = openWorld(({ body, url }) => {
    const sent = JSON.parse(body)
    bodies.push(sent)
    return answered(200, { ...sent, moved: false, verification: 'unverified', url })
  })
  const api = openApi(
    { storage: () => null, device: () => ({}), bundleId: () => undefined, watch: () => {}, libraries: [] },
    () => world.boot().environment,
    (line) => warnings.push(line),
  )
  return { ...world, api, bodies, warnings }
}

const bare = (): never => Object.create(null) as never
const broken = (): never =>
  ({
    get plan() {
      throw new Error('gone')
    },
  }) as never

test.each(['before', 'after'])('no argument makes a call throw, %s configure', async (order) => {
  const { api, bodies, settle, warnings } = openHost()
  if (order === 'after') api.configure(OPTIONS)
  for (const options of [undefined, null, 5, bare()]) api.configure(options as never)
  expect(warnings).toHaveLength(4)
  api.identify(bare())
  api.identify(Symbol('ann') as never)
  api.identify('ann', broken())
  api.setAttributes(broken())
  api.attributePurchase(broken())
  api.attributePurchase(Symbol('purchase') as never)
  if (order === 'before') api.configure(OPTIONS)
  api.identify('bob')
  await settle()
  expect(bodies.map(({ appUserId }) => appUserId).at(-1)).toBe('bob')
})

test('a call before configure has the values of its time', async () => {
  const { api, bodies, settle } = openHost()
  const attributes = { plan: 'free' }
  const purchase = { originalTransactionId: '71' }
  api.identify('ann', attributes)
  api.attributePurchase(purchase)
  attributes.plan = 'pro'
  purchase.originalTransactionId = '72'
  api.configure(OPTIONS)
  await settle()
  expect(bodies.map((body) => body.attributes ?? body.originalTransactionId)).toEqual([
    { plan: 'free' },
    '71',
  ])
})

test.each(['{"i":"$anon_1"}', '{"p":[]}', '[]', '5', 'null', '{'])(
  'with %s for a state, calls are sent',
  async (text) => {
    const { api, bodies, settle, stored } = openHost()
    stored.set('windfall.s', text)
    stored.set('windfall.q.000000000001.0000.aaaaaaaa', text)
    api.configure(OPTIONS as Options)
    api.attributePurchase({ originalTransactionId: '71' })
    api.identify('ann')
    await settle()
    expect(bodies.map(({ originalTransactionId }) => originalTransactionId)).toEqual(['71', undefined, '71'])
  },
)
