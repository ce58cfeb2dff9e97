/** The viewers process: keeps many streams of the feed open and counts their events. */
import { connect, type Socket } from 'node:net'
import { serveRequests } from '../child.ts'

export type ViewersRequest = { watch: { url: string; token: string; viewers: number } } | { leave: true }
/** `disconnected`: the number of viewers whose stream the server closed. */
export type ViewerCounts = { messages: number; disconnected: number }

let sockets: Socket[] = []
let messages = 0
let disconnected = 0

function countEvents(chunk: Buffer): void {
  let at = chunk.indexOf('id: ')
  while (at >= 0) {
    messages += 1
    at = chunk.indexOf('\nid: ', at)
    if (at >= 0) at += 1
  }
}

function openStream(url: URL, token: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.write(
        `GET /api/v1/events/stream HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${token}\r\n\r\n`,
      )
    })
    socket.once('data', (head: Buffer) => {
      if (!head.toString('latin1').startsWith('HTTP/1.1 200'))
        return reject(new Error(`the stream was refused: ${head.toString()}`))
      socket.on('data', countEvents)
      socket.once('close', () => {
        disconnected += 1
      })
      resolve(socket)
    })
  })
}

async function handle(message: ViewersRequest): Promise<object> {
  if ('leave' in message) {
    const watched: ViewerCounts = { messages, disconnected }
    for (const socket of sockets) socket.removeAllListeners('close').destroy()
    sockets = []
    return watched
  }
  const { url, token, viewers } = message.watch
  messages = 0
  disconnected = 0
  for (let opened = 0; opened < viewers; opened += 1) sockets.push(await openStream(new URL(url), token))
  return {}
}

serveRequests<ViewersRequest>(handle, async () => {})
