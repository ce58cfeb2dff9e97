/** Finds who holds most of what all clients share, such as connections and places in a queue. */
import type { Client } from './client.ts'

type Network<Held> = { count: number; byAddress: Map<string, Held[]> }

/**
 * Chooses up to `count` of `held`, one after another: each is the first in the list of those that belong to the client
 * which then holds most. That is the network with most of them, and in it the address with most.
 */
export function chooseOfLargest<Held>(
  held: Iterable<Held>,
  clientOf: (one: Held) => Client,
  count = 1,
): Held[] {
  const networks = byNetwork(held, clientOf)
  const chosen: Held[] = []
  while (chosen.length < count) {
    const network = maximum(networks.values(), (one) => one.count)
    const ofAddress = network && maximum(network.byAddress.values(), (some) => some.length)
    const first = ofAddress?.shift()
    if (network === undefined || first === undefined) break
    network.count -= 1
    chosen.push(first)
  }
  return chosen
}

function byNetwork<Held>(held: Iterable<Held>, clientOf: (one: Held) => Client): Map<string, Network<Held>> {
  const networks = new Map<string, Network<Held>>()
  for (const one of held) {
    const client = clientOf(one)
    const network = networks.get(client.network) ?? { count: 0, byAddress: new Map<string, Held[]>() }
    const ofAddress = network.byAddress.get(client.address) ?? []
    ofAddress.push(one)
    network.byAddress.set(client.address, ofAddress)
    network.count += 1
    networks.set(client.network, network)
  }
  return networks
}

function maximum<One>(all: Iterable<One>, sizeOf: (one: One) => number): One | undefined {
  let largest: One | undefined
  for (const one of all) if (largest === undefined || sizeOf(one) > sizeOf(largest)) largest = one
  return largest
}
