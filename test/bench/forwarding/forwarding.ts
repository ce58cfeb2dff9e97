/** Forwarding: deliveries per second, with and without a dead endpoint, memory, and the effect on concurrent calls. */
import { copyFileSync } from 'node:fs'
import { systemClock } from '../../../src/clock.ts'
import { openResponder } from '../../apple/jws/responder.ts'
import { type Bench, interleave, type Server } from '../bench.ts'
import type { Child } from '../child.ts'
import { atMost, type Figure, median, speedAgainst } from '../figures.ts'
import { compareWithAlone, identifyLoad } from '../load/concurrent_work.ts'
import type { Measured } from '../load/load.ts'
import { readMemory } from '../memory.ts'
import { postAll } from '../notifications/notifications.ts'
import { openNotifications } from '../notifications/payloads.ts'
import type { Left } from '../servers/forwarding_work.ts'
import type { BareRequest } from './bare_sender.ts'
import type { Received } from './receiver.ts'

const HEALTHY = 2
/** The requests that run at the same time: four of each healthy endpoint. */
const CONCURRENCY = HEALTHY * 4
/** No server listens on this port. */
const DEAD_URL = 'http://127.0.0.1:1/hooks'

const LEAST_OF_BARE = 0.6
const LEAST_WITH_DEAD = 0.9
const MOST_MEMORY_MIB = 60

type Receiver = { url: string; expect: (requests: number) => Promise<Received> }
/** `file`: a database with the events to forward. */
type Stage = { bench: Bench; file: string; receiver: Receiver }

/** Makes a database whose last events are copies of those that notifications made. */
async function newBacklog(bench: Bench): Promise<string> {
  const { notifications, subscribers, forwarding } = bench.sizes
  const responder = await openResponder(systemClock)
  const { chain } = responder
  const { apps, take } = openNotifications(chain, subscribers, systemClock())
  const file = await bench.newDatabase(bench.sizes.hot_users)
  const server = await bench.serve({ kind: 'windfall', file, roots: [chain.root_pem], apps })
  await postAll(bench, server, take(notifications))
  await server.request({ forwarding: 'multiply', events: forwarding.events })
  await server.close()
  await responder.close()
  return file
}

async function openReceiver(child: Child): Promise<Receiver> {
  const { url } = await child.request<{ url: string }>({ open: true })
  return { url, expect: (requests) => child.request<Received>({ expect: requests }) }
}

function openServer({ bench, file }: Stage): Promise<Server> {
  const copy = bench.newFile()
  copyFileSync(file, copy)
  return bench.serve({ kind: 'windfall', file: copy })
}

const begin = ({ bench, receiver }: Stage, server: Server, withDead: boolean): Promise<object> => {
  const healthy = Array.from({ length: HEALTHY }, (_, index) => `${receiver.url}/hooks/${index}`)
  const urls = withDead ? [DEAD_URL, ...healthy] : healthy
  return server.request({ forwarding: 'begin', urls, backlog: bench.sizes.forwarding.events })
}

/** `grown`: how far the resident memory rose above that before the start, in MiB. */
type Forwarded = Received & { grown: number }

async function forwardAll(stage: Stage, withDead: boolean): Promise<Forwarded> {
  const server = await openServer(stage)
  const before = readMemory(server.pid, 'resident') ?? Number.NaN
  const arrived = stage.receiver.expect(HEALTHY * stage.bench.sizes.forwarding.events)
  await begin(stage, server, withDead)
  const received = await arrived
  const peak = readMemory(server.pid, 'peak') ?? Number.NaN
  await server.close()
  return { ...received, grown: peak - before }
}

async function sendBare({ bench, receiver }: Stage, sender: Child, bytes: number): Promise<Received> {
  const requests = HEALTHY * bench.sizes.forwarding.events
  const arrived = receiver.expect(requests)
  const request: BareRequest = { url: receiver.url, requests, concurrency: CONCURRENCY, bytes }
  await sender.request(request)
  return arrived
}

async function measureSpeed(stage: Stage): Promise<Figure[]> {
  const sender = stage.bench.start('forwarding/bare_sender.ts')
  let bytes = 0
  const measured = await interleave(stage.bench.sizes.forwarding.rounds, {
    three: async () => {
      const forwarded = await forwardAll(stage, true)
      bytes = Math.round(forwarded.bytes)
      return forwarded
    },
    healthy: () => forwardAll(stage, false),
    bare: async () => ({ ...(await sendBare(stage, sender, bytes)), grown: 0 }),
  })
  await sender.close()
  const speeds = (one: readonly Forwarded[]): number[] => one.map(({ per_second }) => per_second)
  const bare = { name: 'bare undici', values: speeds(measured.bare) }
  const withoutDead = { name: 'without the dead one', values: speeds(measured.healthy) }
  const name = 'deliveries to two endpoints beside a dead one'
  return [
    speedAgainst(name, speeds(measured.three), bare, LEAST_OF_BARE),
    speedAgainst(name, speeds(measured.three), withoutDead, LEAST_WITH_DEAD),
    atMost('bytes of a delivery', bytes, 'bytes', null),
    atMost(
      'growth of the resident memory while forwarding',
      median(measured.three.map(({ grown }) => grown)),
      'MiB',
      MOST_MEMORY_MIB,
    ),
  ]
}

/** @throws Error if forwarding ended before the load. */
async function measureCalls(stage: Stage, isForwarding: boolean): Promise<Measured> {
  const { bench } = stage
  const server = await openServer(stage)
  if (isForwarding) await begin(stage, server, false)
  const measured = await bench.measure(identifyLoad(bench, server, bench.sizes.hot_users))
  if (isForwarding) {
    const { left } = await server.request<Left>({ forwarding: 'left' })
    if (left === 0) throw new Error('forwarding ended before the load: make it larger in sizes.ts')
  }
  await server.close()
  return measured
}

export async function measureForwarding(bench: Bench): Promise<Figure[]> {
  const child = bench.start('forwarding/receiver.ts')
  const stage = { bench, file: await newBacklog(bench), receiver: await openReceiver(child) }
  const figures = await measureSpeed(stage)
  const { alone, concurrent } = await interleave(bench.sizes.forwarding.paired_rounds, {
    alone: () => measureCalls(stage, false),
    concurrent: () => measureCalls(stage, true),
  })
  await child.close()
  return [...figures, ...compareWithAlone('identify beside forwarding', alone, concurrent)]
}
