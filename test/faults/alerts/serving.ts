/**
 * Sends alerts to the channel of config.toml, for tests that kill processes. While APPENDING is yes, it appends events;
 * otherwise it exits when nothing waits.
 */
import { isMainThread } from 'node:worker_threads'
import type { Windfall } from '../../../src/app.ts'
import type { Random } from '../../../src/demo/world/random.ts'
import { openFastInstance } from '../fast_instance.ts'

/** Appends some events that a rule tells. */
function append(
  { store, feed, organizations, clock }: Windfall,
  random: Random,
  seed: string,
): Promise<void> {
  const { id: organization_id } = organizations.resolve(null)
  const now = clock()
  return store.commit(() => {
    for (let number = random.whole(0, 2); number > 0; number -= 1)
      feed.append({
        organization_id,
        app_id: null,
        environment: 'production',
        type: 'trial.started',
        origin: 'live',
        customer_id: null,
        subject: `trial-${random.whole(1, 1e12)}`,
        cause: `${seed}/${now}/${random.whole(1, 1e12)}`,
        data: () => ({ product_id: 'com.example.pro', country: 'DEU' }),
        occurred_at: now,
        signed_at: now,
      })
  })
}

async function main(): Promise<void> {
  const { windfall, random, isAppending, seed, run } = await openFastInstance()
  const { alerts, store, organizations, feed } = windfall
  const waiting = store.prepare<[], { count: number }>(
    "select count(*) as count from alert_sends where state in ('waiting', 'held', 'sending')",
  )
  const { id } = organizations.resolve(null)
  await store.commit(() => alerts.settings.change(id, { quiet: null }))
  await alerts.start()
  await run(
    async () => {
      if (isAppending) await append(windfall, random, seed)
      alerts.wake()
    },
    () => alerts.rules.list().every(({ cursor }) => cursor >= feed.head()) && waiting.get()?.count === 0,
  )
}

if (isMainThread) await main()
