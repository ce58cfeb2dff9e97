/** Viewers of the feed: a process that keeps many stream connections open and counts events. */
import { connect, type Socket } from 'node:net'
import { answerRequests } from '../child.ts'

export type ViewersRequest = { watch: { url: string; token: string; viewers: number } } | { leave: true }
/** `cut` viewers were disconnected by the server. */
export type Watched = { messages: number; cut: number }

let sockets: Socket[] = []
let messages = 0
let cut = 0

function count(chunk: Buffer): void {
  let at = chunk.indexOf('id: ')
  while (at >= 0) {
    messages += 1
    at = chunk.indexOf('\nid: ', at)
    if (at >= 0) at += 1
  }
}

function view(url: URL, token: string): Promise<Socket> {
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
        return reject(new Error(`no stream: ${head.toString()}`))
      socket.on('data', count)
      socket.once('close', () => {
        cut += 1
      })
      resolve(socket)
    })
  })
}

async function answer(question: ViewersRequest): Promise<object> {
  if ('leave' in question) {
    const watched: Watched = { messages, cut }
    for (const socket of sockets) socket.removeAllListeners('close').destroy()
    sockets = []
    return watched
  }
  const { url, token, viewers } = question.watch
  messages = 0
  cut = 0
  for (let opened = 0; opened < viewers; opened += 1) sockets.push(await view(new URL(url), token))
  return {}
}

answerRequests<ViewersRequest>(answer, async () => {})
