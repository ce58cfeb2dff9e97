import { beforeAll, expect, test } from 'vitest'
import { closedAtEnd } from './closing.ts'

const closed: string[] = []
const open = (name: string) => closedAtEnd({ close: async () => void closed.push(name) })

beforeAll(() => {
  open('before the tests')
})

test('a resource stays open during its test, unless the test closes it', async () => {
  open('first')
  await open('second').close()
  expect(closed).toEqual(['second'])
})

test('closes a resource once when its test ends, and a shared resource later', () => {
  expect(closed).toEqual(['second', 'first'])
})
