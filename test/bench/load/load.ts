/** The load process: sends one request at a time on each connection and measures each response time. */
import { connect, type Socket } from 'node:net'
import { preciseTime } from '../../../src/clock.ts'
import { serveRequests } from '../child.ts'
import { type Load, openRequests } from './requests.ts'

/** Response times in milliseconds. `busy` is the processor time of the load process divided by the elapsed time. */
export type Measured = {
  requests: number
  per_second: number
  p50: number
  p99: number
  worst: number
  busy: number
}

type Run = { next: () => string | null; measure_from: number; until: number; times_ms: number[] }

const HEAD_END = Buffer.from('\r\n\r\n')

/** Returns the length of the response in `bytes`, or null if its head is incomplete. @throws Error unless it is 200. */
function responseLength(bytes: Buffer): number | null {
  const end = bytes.indexOf(HEAD_END)
  if (end < 0) return null
  const head = bytes.toString('latin1', 0, end)
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(`the response is not 200: ${bytes.toString()}`)
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
  if (length === undefined) throw new Error(`the response has no content-length: ${head}`)
  return end + 4 + Number(length)
}

function runConnection(socket: Socket, run: Run): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 0
    let pending: Buffer | null = null

    function send(): void {
      sent = preciseTime()
      const request = sent < run.until ? run.next() : null
      if (request !== null) return void socket.write(request, 'latin1')
      socket.end()
      resolve()
    }

    function receive(chunk: Buffer): void {
      const bytes = pending === null ? chunk : Buffer.concat([pending, chunk])
      const length = responseLength(bytes)
      pending = bytes
      if (length === null || bytes.length < length) return
      pending = null
      const now = preciseTime()
      if (sent >= run.measure_from) run.times_ms.push(now - sent)
      send()
    }

    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    socket.on('data', (chunk: Buffer) => {
      try {
        receive(chunk)
      } catch (error) {
        reject(error)
      }
    })
    send()
  })
}

function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => resolve(socket))
  })
}

async function measure(load: Load): Promise<Measured> {
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => openSocket(load.url)))
  const began = preciseTime()
  const measure_from = began + load.warm_seconds * 1000
  const run: Run = {
    next: openRequests(load),
    measure_from,
    until: measure_from + load.seconds * 1000,
    times_ms: [],
  }
  const cpu = process.cpuUsage()
  await Promise.all(sockets.map((socket) => runConnection(socket, run)))
  const ended = preciseTime()
  const { user, system } = process.cpuUsage(cpu)
  const times_ms = Float64Array.from(run.times_ms).sort()
  const quantile = (fraction: number): number =>
    times_ms[Math.min(times_ms.length - 1, Math.floor(times_ms.length * fraction))] ?? Number.NaN
  return {
    requests: times_ms.length,
    per_second: times_ms.length / ((ended - measure_from) / 1000),
    p50: quantile(0.5),
    p99: quantile(0.99),
    worst: quantile(1),
    busy: (user + system) / 1000 / (ended - began),
  }
}

serveRequests<Load>(measure, async () => {})
