/** Notifications: verified and received over HTTP, compared with bare signatures and Apple's library. */
import { createPublicKey, type KeyObject, verify as verifySignature, X509Certificate } from 'node:crypto'
import { openVerifier } from '../../../src/apple/jws/signed.ts'
import { verifyNotification } from '../../../src/apple/notification.ts'
import { systemClock } from '../../../src/clock.ts'
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
  notifications_sent: readonly SignedNotification[],
  work: (notifications_sent: readonly SignedNotification[]) => Promise<void>,
): Promise<number> {
  const began = performance.now()
  await work(notifications_sent)
  return notifications_sent.length / ((performance.now() - began) / 1000)
}

/** Verifies only the three signatures: no certificates, no JSON, no claims. */
async function verifyBareSignatures(
  key: KeyObject,
  notifications_sent: readonly SignedNotification[],
): Promise<void> {
  for (const { signedPayload, transaction, renewal } of notifications_sent) {
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
  notifications_sent: readonly SignedNotification[],
): Promise<void> {
  const pending = notifications_sent.values()
  const verifyPending = async () => {
    for (const { signedPayload } of pending) await verify(signedPayload)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, verifyPending))
}

async function verifySequentially(
  verify: (notification: SignedNotification) => Promise<void>,
  notifications_sent: readonly SignedNotification[],
): Promise<void> {
  for (const notification of notifications_sent) await verify(notification)
}

/** Posts each notification once. The server responds after it has verified, applied and committed the notification. */
async function postAll(
  { measure }: Bench,
  server: Server,
  notifications_sent: readonly SignedNotification[],
): Promise<number> {
  const bodies = notifications_sent.map(({ signedPayload }) => JSON.stringify({ signedPayload }))
  const load = { call: 'notify', url: server.url, connections: CONNECTIONS, bodies } as const
  const { per_second, requests } = await measure({
    ...load,
    warm_seconds: 0,
    seconds: Number.POSITIVE_INFINITY,
  })
  if (requests !== notifications_sent.length)
    throw new Error(`${requests} responses to ${notifications_sent.length} notifications`)
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

  let notifications_sent = take(notifications)
  await postAll(bench, server, notifications_sent)
  await verifyConcurrently(verify, notifications_sent.slice(0, verified))
  await verifySequentially(online, notifications_sent.slice(0, verified_offline))

  return interleave(rounds, {
    ingested: () => {
      notifications_sent = take(notifications)
      return postAll(bench, server, notifications_sent)
    },
    bare: () => speedOf(notifications_sent.slice(0, verified), (some) => verifyBareSignatures(key, some)),
    verified: () =>
      speedOf(notifications_sent.slice(0, verified), (some) => verifyConcurrently(verify, some)),
    offline: () =>
      speedOf(notifications_sent.slice(0, verified_offline), (some) => verifySequentially(offline, some)),
    online: () => speedOf(notifications_sent.slice(0, verified), (some) => verifySequentially(online, some)),
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
