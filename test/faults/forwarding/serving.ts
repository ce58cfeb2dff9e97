/**
 * Forwards events to the endpoints of config.toml, for tests that kill processes. While APPENDING is yes, it appends
 * events; otherwise it exits when nothing waits.
 */
import { isMainThread } from 'node:worker_threads'
import type { Windfall } from '../../../src/app.ts'
import type { Random } from '../../../src/demo/world/random.ts'
import { openFastInstance } from '../fast_instance.ts'

const KEYS = 6

/** Appends some events, each of a random key. */
function append(
  { store, feed, organizations, clock }: Windfall,
  random: Random,
  seed: string,
): Promise<void> {
  const { id: organization_id } = organizations.resolve(null)
  const now = clock()
  const subjects = Array.from({ length: random.whole(1, 6) }, () => `key-${random.whole(1, KEYS)}`)
  return store.commit(() => {
    for (const subject of subjects)
      feed.append({
        organization_id,
        app_id: null,
        environment: 'production',
        type: 'gap.found',
        origin: 'live',
        // The body contains when the customer was read, so that a body that is made again has other bytes.
        customer_id: 'cus_0123456789abcdef',
        subject,
        cause: `${seed}/${now}/${random.whole(1, 1e12)}`,
        data: () => ({ note: 'x'.repeat(random.whole(0, 2_000)) }),
        occurred_at: now,
        signed_at: null,
      })
  })
}

async function main(): Promise<void> {
  const { windfall, random, isAppending, seed, run } = await openFastInstance()
  const { forwarding, store } = windfall
  // A cursor is not stored for each event that its endpoint does not receive, such as its own losses.
  const waiting = store.prepare<[], { count: number }>(`
    select (select count(*) from deliveries where state = 'waiting')
      + (select count(*) from endpoints where cursor < (select max(seq) from events where type = 'gap.found')) as count`)
  forwarding.start()
  await run(
    async () => {
      await forwarding.tick()
      if (isAppending) await append(windfall, random, seed)
    },
    () => waiting.get()?.count === 0,
  )
}

if (isMainThread) await main()
