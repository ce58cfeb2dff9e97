/** The load: a process that keeps connections busy, one request at a time on each, and measures each. */
import { connect, type Socket } from 'node:net'
import { answerRequests } from '../child.ts'
import { type Load, openRequests } from './requests.ts'

/** Times of answers in milliseconds. `busy` is how much of the time this process itself was at work. */
export type Measured = {
  requests: number
  per_second: number
  p50: number
  p99: number
  worst: number
  busy: number
}

type Run = { next: () => string | null; counts_from: number; until: number; took: number[] }

const BETWEEN_HEAD_AND_BODY = Buffer.from('\r\n\r\n')

/** Length of an answer whose head is in `bytes`, null while it is not. Throws on anything but 200. */
function lengthOf(bytes: Buffer): number | null {
  const end = bytes.indexOf(BETWEEN_HEAD_AND_BODY)
  if (end < 0) return null
  const head = bytes.toString('latin1', 0, end)
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(`not 200: ${bytes.toString()}`)
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
  if (length === undefined) throw new Error(`an answer of no length: ${head}`)
  return end + 4 + Number(length)
}

function keepBusy(socket: Socket, run: Run): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 0
    let pending: Buffer | null = null

    function send(): void {
      sent = performance.now()
      const request = sent < run.until ? run.next() : null
      if (request !== null) return void socket.write(request, 'latin1')
      socket.end()
      resolve()
    }

    function take(chunk: Buffer): void {
      const bytes = pending === null ? chunk : Buffer.concat([pending, chunk])
      const length = lengthOf(bytes)
      pending = bytes
      if (length === null || bytes.length < length) return
      pending = null
      const now = performance.now()
      if (sent >= run.counts_from) run.took.push(now - sent)
      send()
    }

    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    socket.on('data', (chunk: Buffer) => {
      try {
        take(chunk)
      } catch (error) {
        reject(error)
      }
    })
    send()
  })
}

function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => resolve(socket))
  })
}

async function measure(load: Load): Promise<Measured> {
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => open(load.url)))
  const began = performance.now()
  const counts_from = began + load.warm_seconds * 1000
  const run: Run = {
    next: openRequests(load),
    counts_from,
    until: counts_from + load.seconds * 1000,
    took: [],
  }
  const cpu = process.cpuUsage()
  await Promise.all(sockets.map((socket) => keepBusy(socket, run)))
  const ended = performance.now()
  const { user, system } = process.cpuUsage(cpu)
  const took = Float64Array.from(run.took).sort()
  const at = (part: number): number =>
    took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? Number.NaN
  return {
    requests: took.length,
    per_second: took.length / ((ended - counts_from) / 1000),
    p50: at(0.5),
    p99: at(0.99),
    worst: at(1),
    busy: (user + system) / 1000 / (ended - began),
  }
}

answerRequests<Load>(measure, async () => {})
