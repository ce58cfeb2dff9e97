import { beforeAll, expect, test } from 'vitest'
import { closedAtEnd } from './closing.ts'

const closed: string[] = []
const open = (name: string) => closedAtEnd({ close: async () => void closed.push(name) })

beforeAll(() => {
  open('before the tests')
})

test('keeps what a test opens open during the test', async () => {
  open('first')
  await open('second').close()
  expect(closed).toEqual(['second'])
})

test('it is closed once when the test ends; what was opened for all tests is still open', () => {
  expect(closed).toEqual(['second', 'first'])
})
