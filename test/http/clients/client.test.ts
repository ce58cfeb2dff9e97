import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalAddress } from '../../../src/http/addresses.ts'
import { clientAt } from '../../../src/http/clients/client.ts'

test('groups IPv4 by address and /24, IPv6 by /64 and /48', () => {
  expect(clientAt('192.0.2.1')).toEqual({ address: '192.0.2.1', network: '192.0.2.0/24' })
  for (const [address, grouped, network] of [
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['1::2:3:4:5:6:7', '1:0:2:3::/64', '1:0:2::/48'],
  ] as const)
    expect(clientAt(address)).toEqual({ address: grouped, network })
})

test('IPv6 addresses share an address only with their first 64 bits, and a network only with their first 48', () => {
  const group = fc.oneof(fc.constant(0), fc.nat(0xffff))
  const groups = fc.array(group, { minLength: 8, maxLength: 8 })
  const address = (parts: readonly number[]) =>
    normalAddress(parts.map((part) => part.toString(16)).join(':')) ?? ''
  fc.assert(
    fc.property(groups, groups, fc.nat(8), (one, other, shared) => {
      const two = [...one.slice(0, shared), ...other.slice(shared)]
      fc.pre(address(one).includes(':') && address(two).includes(':'))
      const isSame = (count: number) => one.slice(0, count).join() === two.slice(0, count).join()
      const clients = [clientAt(address(one)), clientAt(address(two))]
      expect(clients[0]?.address === clients[1]?.address).toBe(isSame(4))
      expect(clients[0]?.network === clients[1]?.network).toBe(isSame(3))
    }),
  )
})
