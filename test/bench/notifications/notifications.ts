/** Notifications: verified and received over HTTP, compared with bare signatures and Apple's library. */
import { createPublicKey, type KeyObject, verify as verifySignature, X509Certificate } from 'node:crypto'
import { openVerifier } from '../../../src/apple/jws/signed.ts'
import { verifyNotification } from '../../../src/apple/notification.ts'
import { systemClock } from '../../../src/clock.ts'
import type { Chain } from '../../../src/demo/signing/authority.ts'
import { openResponder } from '../../apple/jws/responder.ts'
import { type Bench, CONNECTIONS, inTurn, type Server } from '../bench.ts'
import { type Figure, faster } from '../figures.ts'
import { openApplesLibrary } from './apple_library.ts'
import { type Mail, openMail } from './payloads.ts'

/** As many as a busy server has under way. */
const TOGETHER = 64

/** How many letters `work` does in a second. */
async function speedOf(
  payloads: readonly Mail[],
  work: (payloads: readonly Mail[]) => Promise<void>,
): Promise<number> {
  const began = performance.now()
  await work(payloads)
  return payloads.length / ((performance.now() - began) / 1000)
}

/** What checking three signatures costs when nothing else is asked: no certificate, no JSON, no claim. */
async function bareSignatures(key: KeyObject, payloads: readonly Mail[]): Promise<void> {
  for (const { signedPayload, transaction, renewal } of payloads) {
    for (const jws of [signedPayload, transaction, renewal]) {
      const end = jws.lastIndexOf('.')
      const signature = Buffer.from(jws.slice(end + 1), 'base64url')
      const input = Buffer.from(jws.slice(0, end), 'latin1')
      if (!verifySignature('sha256', input, { key, dsaEncoding: 'ieee-p1363' }, signature)) {
        throw new Error('a signature of our own is wrong')
      }
    }
  }
}

/** Keeps `TOGETHER` under way, as requests do. */
async function ours(verify: (jws: string) => Promise<unknown>, payloads: readonly Mail[]): Promise<void> {
  const waiting = payloads.values()
  const lane = async () => {
    for (const { signedPayload } of waiting) await verify(signedPayload)
  }
  await Promise.all(Array.from({ length: TOGETHER }, lane))
}

async function oneAfterAnother(
  verify: (mail: Mail) => Promise<void>,
  payloads: readonly Mail[],
): Promise<void> {
  for (const mail of payloads) await verify(mail)
}

/** Posted to a server that verifies, stores and applies them, each once, and answers when they are on disk. */
async function posted({ measure }: Bench, server: Server, payloads: readonly Mail[]): Promise<number> {
  const bodies = payloads.map(({ signedPayload }) => JSON.stringify({ signedPayload }))
  const load = { call: 'notify', url: server.url, connections: CONNECTIONS, bodies } as const
  const { per_second, requests } = await measure({
    ...load,
    warm_seconds: 0,
    seconds: Number.POSITIVE_INFINITY,
  })
  if (requests !== payloads.length) throw new Error(`${requests} answers to ${payloads.length} notifications`)
  return per_second
}

async function measureRounds(workshop: Bench, chain: Chain, server: Server, take: (count: number) => Mail[]) {
  const { rounds, notifications, verified, verified_offline } = workshop.sizes
  const root = new X509Certificate(chain.root_pem).raw
  const verifier = openVerifier({ roots: [chain.root_pem], clock: systemClock })
  const verify = (jws: string) => verifyNotification(verifier, jws)
  const key = createPublicKey(chain.leaf_key)
  const offline = openApplesLibrary(root, false)
  const online = openApplesLibrary(root, true)

  let payloads = take(notifications)
  await posted(workshop, server, payloads)
  await ours(verify, payloads.slice(0, verified))
  await oneAfterAnother(online, payloads.slice(0, verified_offline))

  return inTurn(rounds, {
    ingested: () => {
      payloads = take(notifications)
      return posted(workshop, server, payloads)
    },
    bare: () => speedOf(payloads.slice(0, verified), (some) => bareSignatures(key, some)),
    verified: () => speedOf(payloads.slice(0, verified), (some) => ours(verify, some)),
    offline: () => speedOf(payloads.slice(0, verified_offline), (some) => oneAfterAnother(offline, some)),
    online: () => speedOf(payloads.slice(0, verified), (some) => oneAfterAnother(online, some)),
  })
}

/** The chain names a responder on loopback, so that Apple's library in its online mode has somebody to ask. */
export async function measureNotifications(workshop: Bench): Promise<Figure[]> {
  const responder = await openResponder(systemClock)
  responder.state.faults = { signer: 'delegate' }
  try {
    const { chain } = responder
    const mail = openMail(chain, workshop.sizes.subscribers, systemClock())
    const file = await workshop.databaseOf(0)
    const server = await workshop.serve({ kind: 'windfall', file, roots: [chain.root_pem], apps: mail.apps })
    const measured = await measureRounds(workshop, chain, server, mail.take)
    await server.close()
    const offline = { name: 'Apple’s library verifying, offline', values: measured.offline }
    const online = { name: 'Apple’s library verifying, online, cached', values: measured.online }
    const bare = { name: 'three bare verifies', values: measured.bare }
    return [
      faster('notification over HTTP, verified, stored, applied', measured.ingested, offline, 10),
      faster('notification over HTTP, verified, stored, applied', measured.ingested, online, 1.5),
      faster('notification verified', measured.verified, bare, 1.1),
      faster('notification verified', measured.verified, offline, null),
    ]
  } finally {
    await responder.close()
  }
}
