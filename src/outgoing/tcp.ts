/** Opens TCP connections to hosts that a person entered, for protocols other than HTTP. */
import { isIP, Socket } from 'node:net'
import type { AddressRules } from './address_rules.ts'
import { permittedAddresses, type Resolve } from './addresses.ts'
import { codeOf, OutgoingError } from './failures.ts'

const CONNECT_TIMEOUT_MS = 10_000
/** The addresses of a host that are tried. */
const MAX_ADDRESSES = 4

/** `permitsPlain`: whether the address is permitted without encryption, because [outbound] allow names it. */
type CheckedSocket = { socket: Socket; permitsPlain: boolean }

type Deps = Readonly<{ rules: () => AddressRules; resolve: Resolve }>

/** Returns the function that connects. */
export function openTcp({ rules, resolve }: Deps) {
  /**
   * Connects to the first address of a host that answers. The name is resolved once, and all its addresses are checked.
   * The protocol must be encrypted unless `permitsPlain`.
   *
   * @throws OutgoingError
   */
  return async (host: string, port: number): Promise<CheckedSocket> => {
    let failure: unknown = null
    for (const address of await addressesOf(host, port))
      try {
        const socket = await connected(address, port, host)
        const permitsPlain = rules().refusalOf({ address, port, isPlain: true }) === null
        return { socket, permitsPlain }
      } catch (error) {
        failure = error
      }
    throw failure
  }

  async function addressesOf(hostname: string, port: number): Promise<string[]> {
    if (isIP(hostname) === 0) {
      const found = await permittedAddresses({ hostname, port, isPlain: false }, { rules, resolve })
      return found.slice(0, MAX_ADDRESSES).map(({ address }) => address)
    }
    const refusal = rules().refusalOf({ address: hostname, port, isPlain: false })
    if (refusal !== null) throw new OutgoingError('address', refusal)
    return [hostname]
  }
}

function connected(address: string, port: number, host: string): Promise<Socket> {
  const socket = new Socket()
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      socket.destroy()
      reject(
        new OutgoingError(
          'connect',
          `No connection to ${host}:${port} (${reason}). Check the name and the port.`,
        ),
      )
    }
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => fail('timeout'))
    socket.once('error', (error) => fail(codeOf(error)))
    socket.connect({ host: address, port }, () => {
      socket.setTimeout(0)
      socket.removeAllListeners('timeout')
      socket.removeAllListeners('error')
      resolve(socket)
    })
  })
}
