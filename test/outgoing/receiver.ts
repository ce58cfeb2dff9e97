/** Servers that receive outgoing requests: byte by byte, over TCP or TLS, on 127.0.0.1. */
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import tls from 'node:tls'
import { onTestFinished } from 'vitest'
import { issueCertificate } from '../../src/demo/signing/certificates.ts'
import type { Resolve } from '../../src/outgoing/addresses.ts'
import { openDispatcher } from '../../src/outgoing/dispatcher.ts'
import { closedAtEnd } from '../closing.ts'

/** `received` is the text that arrived on this connection, from its first byte. */
type OnData = (socket: Socket, received: string) => void

export type Receiver = Awaited<ReturnType<typeof openReceiver>>

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** Answers each complete request without a body with `response`. */
export const answering =
  (response: string): OnData =>
  (socket, received) => {
    if (received.endsWith('\r\n\r\n')) socket.write(response)
  }

/** Opens a server. `onData` is called whenever data arrives. */
export async function openReceiver(onData: OnData = answering(OK), secure?: tls.TlsOptions) {
  const texts: string[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const accept = (socket: Socket) => {
    const index = connections++
    texts[index] = ''
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (bytes) => {
      texts[index] += bytes.toString('latin1')
      onData(socket, texts[index] ?? '')
    })
  }
  const server = secure === undefined ? createServer(accept) : tls.createServer(secure, accept)
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    texts,
    connections: () => connections,
    open: () => sockets.size,
  }
}

type Options = Partial<Parameters<typeof openDispatcher>[0]>

/** A dispatcher, closed when the test ends. */
export const dispatcherWith = (options: Options = {}) =>
  closedAtEnd(openDispatcher({ allow: [], ca: null, ...options }))

/** A resolver that answers each call with the next list of addresses, and the last one from then on. */
export function resolverOf(...answers: string[][]): Resolve & { calls: () => number } {
  let calls = 0
  const resolve: Resolve = async () => {
    const addresses = answers[Math.min(calls++, answers.length - 1)] ?? []
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return Object.assign(resolve, { calls: () => calls })
}

/** A private certificate authority, and a certificate for `host` that it signed. */
export function certificateFor(host: string) {
  const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const valid = { from: Date.now() - 86_400_000, until: Date.now() + 86_400_000 }
  const root = issueCertificate({ name: 'Private CA', key: newKey(), isAuthority: true, ...valid })
  const leaf = issueCertificate({ name: host, key: newKey(), isAuthority: false, issuer: root, ...valid })
  const pemOf = (der: Buffer) =>
    `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`
  return {
    ca: pemOf(root.der),
    secure: { cert: pemOf(leaf.der), key: leaf.key.export({ type: 'pkcs8', format: 'pem' }) },
  }
}

/** Sends a GET request, or a POST request if there is a body. */
export const send = (
  dispatcher: ReturnType<typeof openDispatcher>,
  url: string,
  more: Partial<Parameters<typeof dispatcher.request>[0]> = {},
) => dispatcher.request({ url, method: more.body ? 'POST' : 'GET', headers: {}, body: null, ...more })
