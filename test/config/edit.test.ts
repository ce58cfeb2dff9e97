import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commentedConfig } from '../../src/config/documents.ts'
import { type AccountEntry, accountLines, withAccount } from '../../src/config/edit.ts'
import { readToml } from '../../src/config/sources/toml.ts'
import { runs } from '../random.ts'

const ENTRY: AccountEntry = {
  issuer_id: '69a6de70-03db-47e3-e053-5b8c7c11a4d1',
  vendor_numbers: ['80012345'],
  connect_key_id: '2X9R4HXF34',
  connect_key: null,
  connect_key_file: 'keys/AuthKey_2X9R4HXF34.p8',
}
const LINES = `[[accounts]]
issuer_id = "69a6de70-03db-47e3-e053-5b8c7c11a4d1"
vendor_numbers = ["80012345"]
connect_key_id = "2X9R4HXF34"
connect_key_file = "keys/AuthKey_2X9R4HXF34.p8"
`
const accountsOf = (text: string | null) => {
  const toml = readToml(text ?? 'none')
  return 'values' in toml ? toml.values.accounts : toml
}

test.each([
  ['', ''],
  ['# mine\n', '\n'],
  ['base_url = "https://a.b" # where', '\n\n'],
  [commentedConfig('com.acme.notes'), '\n'],
  ['[[accounts]]\norganization = "other" # theirs\n', '\n'],
])('an account is appended to %j and nothing else changes', (text, gap) => {
  expect(withAccount(text, ENTRY, null)).toBe(text + gap + LINES)
  expect(accountLines(ENTRY).join('\n')).toBe(LINES.trimEnd())
})

test('keeps the line endings of the file', () => {
  expect(withAccount('# mine\r\n', ENTRY, null)).toBe(`# mine\r\n\r\n${LINES.replaceAll('\n', '\r\n')}`)
  const before = '[[accounts]]\r\nissuer_id = "old"\r\n# end\r\n'
  expect(withAccount(before, { issuer_id: 'new', connect_key_id: 'K' }, 0)).toBe(
    '[[accounts]]\r\nissuer_id = "new"\r\nconnect_key_id = "K"\r\n# end\r\n',
  )
})

test('writes only the changed settings of an existing account', () => {
  const before = `# the first
[[accounts]] # ours
  # who
  issuer_id   = '69a6de70-03db-47e3-e053-5b8c7c11a4d1'   # quoted otherwise
  vendor_numbers = [ 80012345 ]
  connect_key_id = "OLDOLDOLD1" # spring
  connect_key = """
-----BEGIN PRIVATE KEY-----
# no comment
-----END PRIVATE KEY-----
"""
  purchase_key = 'x' # to be replaced

# the rest
[[accounts]]
organization = "zeta"
[log]
level = "warn"
`
  expect(
    withAccount(before, { ...ENTRY, purchase_key: null, purchase_key_file: 'keys/S.p8' }, 0),
  ).toBe(`# the first
[[accounts]] # ours
  # who
  issuer_id   = '69a6de70-03db-47e3-e053-5b8c7c11a4d1'   # quoted otherwise
  vendor_numbers = [ 80012345 ]
  connect_key_id = "2X9R4HXF34" # spring
connect_key_file = "keys/AuthKey_2X9R4HXF34.p8"
purchase_key_file = "keys/S.p8"
   # to be replaced

# the rest
[[accounts]]
organization = "zeta"
[log]
level = "warn"
`)
  expect(withAccount(before, { organization: 'zeta' }, 1)).toBe(before)
})

test('adds settings to an empty account and to one at the end of the file', () => {
  expect(withAccount('[[accounts]]', { connect_key_id: 'K' }, 0)).toBe('[[accounts]]\nconnect_key_id = "K"')
  expect(withAccount('[[accounts]]\nissuer_id = "a" # b', { issuer_id: null, connect_key_id: 'K' }, 0)).toBe(
    '[[accounts]]\nconnect_key_id = "K"\n # b',
  )
})

test.each([
  'accounts = [{ vendor_numbers = ["80012345"] }]',
  'accounts = [\n  { vendor_numbers = ["80012345"] },\n]\n[log]\nlevel = "warn"',
])('what is written as %j is left to the person', (text) => {
  expect(withAccount(text, ENTRY, null)).toBeNull()
  expect(withAccount(text, ENTRY, 0)).toBeNull()
})

test('does not edit invalid TOML', () => {
  expect(withAccount('[[accounts]\nx', ENTRY, null)).toBeNull()
})

test('edits the account and keeps everything around it', () => {
  const comment = fc.stringMatching(/^[ -~]{0,12}$/)
  const nested = 'k = """\n[[accounts]]\n"""'
  const code = fc.constantFrom('', '[log]', '[[apps]]', '[server] # s', 'x.y = 1', nested, "v = 'a'")
  const lines = fc.array(
    fc.oneof(
      comment.map((text) => `# ${text}`),
      code,
    ),
    { maxLength: 6 },
  )
  const ours = fc.constantFrom([], ['[[accounts]] # ours', 'issuer_id = "old" # who'])
  const { connect_key: _, ...entry } = ENTRY
  fc.assert(
    fc.property(lines, ours, fc.constantFrom('\n', '\r\n'), (above, account, newline) => {
      const text = [...above, ...account].join(newline)
      fc.pre(restOf(text) !== null)
      const after = withAccount(text, ENTRY, account.length > 0 ? 0 : null) ?? ''
      expect(accountsOf(after)).toEqual([entry])
      expect(restOf(after)).toEqual(restOf(text))
      for (const line of above) expect(after).toContain(line)
    }),
    runs(60, 3000),
  )
})

/** All that a text says besides its accounts; null when it cannot be read. */
function restOf(text: string): Record<string, unknown> | null {
  const toml = readToml(text)
  return 'values' in toml ? { ...toml.values, accounts: null } : null
}
