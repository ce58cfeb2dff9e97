/** Tells whether something is under way in a process: a request in either direction, a file, a thread, another turn. */
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { Worker } from 'node:worker_threads'

/** What is open without being under way. */
const OPEN = new Set([
  'Timeout',
  'TCPServerWrap',
  'TCPSocketWrap',
  'PipeWrap',
  'PipeServerWrap',
  'TTYWrap',
  'SignalWrap',
  'MessagePort',
  'Worker',
  'FSEventWrap',
  'StatWatcher',
  'ProcessWrap',
])
/** After this real time, what has not ended never will: nobody tells the end of a connection that broke. */
const FORGOTTEN_MS = 20_000

/** Begins to watch, and returns the function that tells whether nothing is under way. */
export function openActivity(): () => boolean {
  const realNow = process.hrtime.bigint
  const running = new Map<object, bigint>()
  const begin = (one: object): void => void running.set(one, realNow())
  const end = (one: object): void => void running.delete(one)
  const watch = (names: readonly string[], on: (message: never) => void): void => {
    for (const name of names) subscribe(name, (message) => on(message as never))
  }

  watch(
    ['http.server.request.start'],
    ({ request, response }: { request: object; response: NodeJS.EventEmitter }) => {
      begin(request)
      response.once('close', () => end(request))
    },
  )
  watch(['undici:request:create'], ({ request }: { request: object }) => begin(request))
  watch(['undici:request:trailers', 'undici:request:error'], ({ request }: { request: object }) =>
    end(request),
  )
  // A connection that greets first is one of SMTP, and is under way until it is closed.
  watch(['net.client.socket'], ({ socket }: { socket: Socket }) => {
    socket.once('connect', () => {
      if (String(socket.remotePort) !== process.env.SIMULATED_SMTP_PORT) return
      begin(socket)
      socket.once('close', () => end(socket))
    })
  })
  const { postMessage } = Worker.prototype
  Worker.prototype.postMessage = function (this: Worker, ...args) {
    begin(this)
    this.once('message', () => end(this))
    return postMessage.apply(this, args)
  }

  return () => {
    const forgotten = realNow() - BigInt(FORGOTTEN_MS) * 1_000_000n
    for (const [one, since] of running) if (since < forgotten) running.delete(one)
    return running.size === 0 && process.getActiveResourcesInfo().every((name) => OPEN.has(name))
  }
}
