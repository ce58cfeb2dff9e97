/** Enrolled devices for tests that only need their rows. */
import type { Windfall } from '../../../src/app.ts'

/** Stores devices of the first app, inside one unit of work, and returns their ids. */
export async function storeDevices(
  { apps, attest, store }: Windfall,
  key_ids: readonly string[],
): Promise<string[]> {
  const [app] = apps.list()
  if (!app) throw new Error('no app is connected')
  const details = { category: 4, bundle_version: '1', other: {} }
  const key = { public_key: Buffer.of(4), environment: 'production', receipt: Buffer.of(0) } as const
  const common = { app, app_identifier: `A1B2C3D4E5.${app.bundle_id}`, details, os_version: null, ...key }
  const tokens = await store.commit(() =>
    key_ids.map((key_id) => attest.devices.enrol({ ...common, key_id })),
  )
  return tokens.map((token) => attest.devices.findByToken(token)?.id ?? '')
}
