import { expect, test } from 'vitest'
import { LONGEST_TURN_MS, longestTurn } from '../../turn_times.ts'
import { openApple } from './apple.ts'
import { DAY, sale } from './samples.ts'

const APPS = Array.from({ length: 1_000 }, (_, n) => ({ bundle_id: `com.example.app${n}`, sku: `APP-${n}` }))

test('an import for a thousand apps does not block the event loop', async () => {
  const apple = await openApple()
  apple.setReply(
    'sales',
    DAY,
    APPS.map(({ sku }, n) => sale({ SKU: `pro.${n}`, 'Parent Identifier': sku })),
  )
  const { windfall, imports, organization } = await apple.openWindfall()
  const { store, apps } = windfall
  const declare = (declarations: readonly { bundle_id: string; sku?: string }[]) =>
    store.commit(() => {
      for (const declaration of declarations) apps.add(organization.id, declaration, 'test')
    })
  await declare(APPS.map(({ bundle_id }) => ({ bundle_id })))
  const strangers = () => imports.unconnectedApps(organization.id).length

  const importing = await longestTurn(() => imports.run({ days: 1 }))
  expect(strangers()).toBe(APPS.length)
  await declare(APPS)
  const joining = await longestTurn(() => imports.run({ days: 1 }))
  expect(strangers()).toBe(0)
  const looking = await longestTurn(() => imports.run({ days: 1 }))
  expect(Math.max(importing, joining, looking)).toBeLessThan(LONGEST_TURN_MS)
})
