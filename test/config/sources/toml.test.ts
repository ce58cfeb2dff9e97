import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commentedConfig } from '../../../src/config/documents.ts'
import { readToml } from '../../../src/config/sources/toml.ts'
import { openFolder } from '../folder.ts'

const linesOf = (text: string) => {
  const toml = readToml(text)
  return 'lines' in toml ? Object.fromEntries(toml.lines) : toml
}

test('finds the line of every key and list item in every TOML syntax', () => {
  const text = [
    'base_url = "a"',
    'server.port = 1',
    '[log] # why',
    '"level" = """',
    'two lines"""',
    'format = "json"',
    '[[apps]]',
    'bundle_id = "a"',
    '[[apps]]',
    'bundle_id = "b"',
    '[limits]',
    'list = [',
    '  1,',
    '  { a = 2,',
    '    b.c = [3] },',
    ']',
  ].join('\n')
  expect(linesOf(text)).toEqual({
    base_url: 1,
    server: 2,
    'server.port': 2,
    log: 3,
    'log.level': 4,
    'log.format': 6,
    apps: 7,
    'apps[0]': 7,
    'apps[0].bundle_id': 8,
    'apps[1]': 9,
    'apps[1].bundle_id': 10,
    limits: 11,
    'limits.list': 12,
    'limits.list[0]': 13,
    'limits.list[1]': 14,
    'limits.list[1].a': 14,
    'limits.list[1].b': 15,
    'limits.list[1].b.c': 15,
    'limits.list[1].b.c[0]': 15,
  })
})

test.each([
  ['a = 1\nb = ', 2, 5, 'invalid value'],
  ['a = "x', 1, 5, 'unfinished string'],
  ['a = 99999999999999999999', 1, 5, 'integer value cannot be represented losslessly'],
])('%j cannot be read, and it is said where', (text, line, column, fault) => {
  expect(readToml(text)).toMatchObject({ line, fault, column: expect.any(Number) })
  const folder = openFolder()
  folder.write('config.toml', text)
  const advice = 'Each line is key = value, a [section] or a # comment. Put text in quotes.'
  expect(folder.issues()).toEqual([
    `config.toml:${line}  is not valid TOML at column ${column}: ${fault}. ${advice}`,
  ])
})

const MOVE = (line: number) =>
  `Move the settings of this section below line ${line}, and remove this heading.`
const ONE = 'Remove one of the two lines.'

test.each([
  ['[log]\n[server]\nport = 1\n[log]', 4, `[log] is already in line 1. ${MOVE(1)}`],
  ['[log]\n[server] # one\n\n  [ server ] # two', 4, `[ server ] is already in line 2. ${MOVE(2)}`],
  ['server.port = 1\n[server]', 2, `[server] is already in line 1. ${MOVE(1)}`],
  [
    '[[endpoints]]\n[endpoints.headers]\n[[endpoints]]\n[endpoints.headers]\na = 1\n[endpoints.headers]',
    6,
    `[endpoints.headers] is already in line 4. ${MOVE(4)}`,
  ],
  ['a = 1\na = 2', 2, `a is already set in line 1. ${ONE}`],
  ['[log]\nlevel = "a"\n[server]\nlevel = [\n1]\n"level" = [', 6, `"level" is already set in line 4. ${ONE}`],
  ['[server]\na.b = 1\na = 2', 3, `a is already set in line 2. ${ONE}`],
  ['[server]\na = """\n[server]\n"""\na.b = 2', 5, `a.b is already set in line 2. ${ONE}`],
])('%j repeats what is already there, and the line of the first is named', (text, line, words) => {
  const folder = openFolder()
  folder.write('config.toml', text)
  expect(folder.issues()).toEqual([`config.toml:${line}  ${words}`])
})

test('a list of inline tables that repeats a key is refused with its line', () => {
  const folder = openFolder()
  folder.write('config.toml', 'a = [\n  { b = 1, b = 2 },\n]')
  expect(folder.issues()).toEqual([
    expect.stringMatching(/^config\.toml:2 {2}is not valid TOML at column \d+: /),
  ])
})

test('accepts a byte order mark and Windows line endings', () => {
  const folder = openFolder()
  folder.write('config.toml', '\ufeff[server]\r\nport = 1\r\nhosts = []\r\n')
  expect(folder.load().config.server.port).toBe(1)
  expect(folder.load().locationByPath.get('server.hosts')).toBe('config.toml:3')
})

test('returns values if only the lines cannot be found', () => {
  expect(readToml('a = 1 # \ud800')).toMatchObject({ values: { a: 1 }, lines: new Map() })
})

test('accepts any file or reports issues in whole sentences', () => {
  const settings = commentedConfig()
    .split('\n')
    .filter((line) => /^#?[\w[]/.test(line))
    .map((line) => line.replace('#', ''))
  const value = fc.oneof(
    fc.constantFrom('1', '-1', '0.5', 'nan', 'inf', 'true', '""', '"a"', '[]', '["a", 1]', '{}', '{ a = 1 }'),
    fc.constantFrom('2020-01-01', '"10.0.0.0/8"', '"com.a"', '"acme"', '[[]]', '[{ slug = "acme" }]'),
  )
  const line = fc.oneof(
    fc.constantFrom(...settings),
    fc
      .tuple(fc.constantFrom(...settings), value)
      .map(([setting, other]) => setting.replace(/=.*/, `= ${other}`)),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
  )
  const folder = openFolder()
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      folder.write('config.toml', lines.join('\n'))
      for (const complaint of folder.issues()) expect(complaint).toMatch(/^config\.toml(:\d+)? {2}.+\. .+/s)
    }),
    { numRuns: 500 },
  )
})
