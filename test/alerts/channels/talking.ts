/** A TCP server on 127.0.0.1 that a test lets speak. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Opens a server that calls `talk` with each connection; by default it says nothing. `release` closes all connections. */
export async function openTalking(talk: (socket: Socket) => void = () => {}) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    talk(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const release = (): void => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  onTestFinished(release)
  return { port: (server.address() as AddressInfo).port, sockets, release }
}
