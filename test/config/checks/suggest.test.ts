import { expect, test } from 'vitest'
import { closestMatch } from '../../../src/config/checks/suggest.ts'

const among = (word: string, names: string[]) => closestMatch(word, names, (name) => name)

test.each([
  ['prot', ['host', 'port'], 'port'],
  ['PORT', ['host', 'port'], 'port'],
  ['warning', ['info', 'warn'], 'warn'],
  ['bundle', ['bundle_id', 'name'], 'bundle_id'],
  ['shutdwon_seconds', ['shutdown_seconds'], 'shutdown_seconds'],
  ['ab', ['ac', 'ad'], 'ac'],
  ['abc', ['xbz'], null],
  ['server', ['server_host'], null],
  ['app', ['apps', 'apple'], 'apps'],
  ['zone', [], null],
])('%j among %j means %j', (word, names, expected) => {
  expect(among(word, names)).toBe(expected)
})
