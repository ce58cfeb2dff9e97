import { expect, test } from 'vitest'
import { clientAt } from '../../../src/http/clients/client.ts'
import { chooseOfLargest } from '../../../src/http/clients/largest.ts'

const of = (...addresses: string[]) => addresses.map((address, index) => ({ address, index }))
const chosen = (held: ReturnType<typeof of>, count?: number) =>
  chooseOfLargest(held, ({ address }) => clientAt(address), count).map(({ index }) => index)

test('chooses from the network with most, in it from the address with most, the first one', () => {
  const held = of('192.0.2.1', '2001:db8::1', '2001:db8:0:1::1', '2001:db8:0:1::2', '192.0.2.1')
  expect(chosen(held)).toEqual([2])
})

test('each choice counts what the choices before it left', () => {
  const held = of('192.0.2.1', '192.0.2.1', '192.0.2.1', '198.51.100.1', '198.51.100.1')
  expect(chosen(held, 3)).toEqual([0, 1, 3])
  expect(chosen(held, 9)).toEqual([0, 1, 3, 2, 4])
})

test('chooses nothing of nothing', () => {
  expect(chosen([])).toEqual([])
})
