/** Notifications: verified and received over HTTP, compared with bare signatures and Apple's library. */
import { createPublicKey, type KeyObject, verify as verifySignature, X509Certificate } from 'node:crypto'
import { openVerifier } from '../../../src/apple/jws/signed.ts'
import { verifyNotification } from '../../../src/apple/notification.ts'
import { preciseTime, systemClock } from '../../../src/clock.ts'
import type { Chain } from '../../../src/demo/signing/authority.ts'
import { openResponder } from '../../apple/jws/responder.ts'
import { type Bench, CONNECTIONS, interleave, type Server } from '../bench.ts'
import { type Figure, speedAgainst } from '../figures.ts'
import { openAppleLibrary } from './apple_library.ts'
import { openNotifications, type SignedNotification } from './payloads.ts'

/** Notifications that are verified at the same time, as on a busy server. */
const CONCURRENCY = 64

/** Returns the notifications per second. */
async function speedOf(
  batch: readonly SignedNotification[],
  work: (batch: readonly SignedNotification[]) => Promise<void>,
): Promise<number> {
  const began = preciseTime()
  await work(batch)
  return batch.length / ((preciseTime() - began) / 1000)
}

/** Verifies only the three signatures: no certificates, no JSON, no claims. */
async function verifyBareSignatures(key: KeyObject, batch: readonly SignedNotification[]): Promise<void> {
  for (const { signedPayload, transaction, renewal } of batch) {
    for (const jws of [signedPayload, transaction, renewal]) {
      const end = jws.lastIndexOf('.')
      const signature = Buffer.from(jws.slice(end + 1), 'base64url')
      const input = Buffer.from(jws.slice(0, end), 'latin1')
      if (!verifySignature('sha256', input, { key, dsaEncoding: 'ieee-p1363' }, signature)) {
        throw new Error('a signature of the simulated App Store is invalid')
      }
    }
  }
}

/** Verifies `CONCURRENCY` notifications at the same time, as a server does. */
async function verifyConcurrently(
  verify: (jws: string) => Promise<unknown>,
  batch: readonly SignedNotification[],
): Promise<void> {
  const pending = batch.values()
  const verifyPending = async () => {
    for (const { signedPayload } of pending) await verify(signedPayload)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, verifyPending))
}

async function verifySequentially(
  verify: (notification: SignedNotification) => Promise<void>,
  batch: readonly SignedNotification[],
): Promise<void> {
  for (const notification of batch) await verify(notification)
}

/** Posts each notification once. The server responds after it has verified, applied and committed the notification. */
export async function postAll(
  { measure }: Bench,
  server: Server,
  batch: readonly SignedNotification[],
): Promise<number> {
  const bodies = batch.map(({ signedPayload }) => JSON.stringify({ signedPayload }))
  const load = { call: 'notify', url: server.url, connections: CONNECTIONS, bodies } as const
  const { per_second, requests } = await measure({
    ...load,
    warm_seconds: 0,
    seconds: Number.POSITIVE_INFINITY,
  })
  if (requests !== batch.length) throw new Error(`${requests} responses to ${batch.length} notifications`)
  return per_second
}

async function measureRounds(
  bench: Bench,
  chain: Chain,
  server: Server,
  take: (count: number) => SignedNotification[],
) {
  const { rounds, notifications, verified, verified_offline } = bench.sizes
  const root = new X509Certificate(chain.root_pem).raw
  const verifier = openVerifier({ roots: [chain.root_pem], clock: systemClock })
  const verify = (jws: string) => verifyNotification(verifier, jws)
  const key = createPublicKey(chain.leaf_key)
  const offline = openAppleLibrary(root, false)
  const online = openAppleLibrary(root, true)

  let batch = take(notifications)
  await postAll(bench, server, batch)
  await verifyConcurrently(verify, batch.slice(0, verified))
  await verifySequentially(online, batch.slice(0, verified_offline))

  return interleave(rounds, {
    ingested: () => {
      batch = take(notifications)
      return postAll(bench, server, batch)
    },
    bare: () => speedOf(batch.slice(0, verified), (some) => verifyBareSignatures(key, some)),
    verified: () => speedOf(batch.slice(0, verified), (some) => verifyConcurrently(verify, some)),
    offline: () => speedOf(batch.slice(0, verified_offline), (some) => verifySequentially(offline, some)),
    online: () => speedOf(batch.slice(0, verified), (some) => verifySequentially(online, some)),
  })
}

/** The certificates name an OCSP responder on the loopback, which Apple's library queries in its online mode. */
export async function measureNotifications(bench: Bench): Promise<Figure[]> {
  const responder = await openResponder(systemClock)
  responder.state.faults = { signer: 'delegate' }
  try {
    const { chain } = responder
    const notification = openNotifications(chain, bench.sizes.subscribers, systemClock())
    const file = await bench.newDatabase(0)
    const server = await bench.serve({
      kind: 'windfall',
      file,
      roots: [chain.root_pem],
      apps: notification.apps,
    })
    const measured = await measureRounds(bench, chain, server, notification.take)
    await server.close()
    const offline = { name: 'Apple’s library verifying, offline', values: measured.offline }
    const online = { name: 'Apple’s library verifying, online, cached', values: measured.online }
    const bare = { name: 'three bare verifies', values: measured.bare }
    return [
      speedAgainst('notification over HTTP, verified, stored, applied', measured.ingested, offline, 10),
      speedAgainst('notification over HTTP, verified, stored, applied', measured.ingested, online, 1.5),
      speedAgainst('notification verified', measured.verified, bare, 1.1),
      speedAgainst('notification verified', measured.verified, offline, null),
    ]
  } finally {
    await responder.close()
  }
}
