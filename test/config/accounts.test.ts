import { join } from 'node:path'
import { expect, test } from 'vitest'
import { complaintsOf, configured, openFolder } from './folder.ts'
import { KEY, NO_KEYS, newKey } from './keys.ts'

const ISSUER = '69a6de70-03db-47e3-e053-5b8c7c11a4d1'
const OTHER_ISSUER = '57246542-96fe-1a63-e053-0824d011072a'
const account = (...lines: string[]) => ['[[accounts]]', ...lines].join('\n')
const whole = account(
  `issuer_id = "${ISSUER}"`,
  'vendor_numbers = ["80012345", 80054321]',
  'connect_key_id = "2X9R4HXF34"',
  'connect_key_file = "keys/AuthKey_2X9R4HXF34.p8"',
  'purchase_key_id = "ABCDE12345"',
  'purchase_key_file = "keys/SubscriptionKey_ABCDE12345.p8"',
)
const multiLine = (pem: string) => `'''\n${pem}'''`

test('reads both keys from files next to the config file', () => {
  const folder = openFolder()
  const [connect_key, purchase_key] = [newKey(), newKey()]
  folder.write('etc/config.toml', whole)
  folder.write('etc/keys/AuthKey_2X9R4HXF34.p8', connect_key)
  folder.write('etc/keys/SubscriptionKey_ABCDE12345.p8', purchase_key)
  expect(folder.load({}, 'etc/config.toml').config.accounts).toEqual([
    {
      organization: 'default',
      issuer_id: ISSUER,
      vendor_numbers: ['80012345', '80054321'],
      connect_key_id: '2X9R4HXF34',
      connect_key: connect_key.trim(),
      purchase_issuer_id: ISSUER,
      purchase_key_id: 'ABCDE12345',
      purchase_key: purchase_key.trim(),
    },
  ])
})

test('reads a key from the environment with escaped line endings', () => {
  const env = {
    WINDFALL_ACCOUNTS_0_VENDOR_NUMBERS: '80012345,80054321',
    WINDFALL_ACCOUNTS_0_CONNECT_KEY_ID: '2X9R4HXF34',
    WINDFALL_ACCOUNTS_0_CONNECT_KEY: KEY.replaceAll('\n', '\\n'),
  }
  const expected = { vendor_numbers: ['80012345', '80054321'], connect_key: KEY.trim() }
  expect(openFolder().load(env).config.accounts).toMatchObject([expected])
  const whole_list = `[{ connect_key_id = "2X9R4HXF34", connect_key = ${JSON.stringify(KEY)} }]`
  expect(openFolder().load({ WINDFALL_ACCOUNTS: whole_list }).config.accounts).toMatchObject([
    { vendor_numbers: [], connect_key: KEY.trim() },
  ])
})

test('accepts an individual key without an issuer next to an In-App Purchase key with one', () => {
  const individual = ['connect_key_id = "2X9R4HXF34"', `connect_key = ${multiLine(KEY)}`]
  const purchases = ['purchase_key_id = "ABCDE12345"', `purchase_key = ${multiLine(newKey())}`]
  const { config } = configured(
    account(...individual, ...purchases, `purchase_issuer_id = "${OTHER_ISSUER}"`),
  )
  expect(config.accounts).toMatchObject([{ issuer_id: null, purchase_issuer_id: OTHER_ISSUER }])
  expect(complaintsOf(account(...individual, ...purchases))).toEqual([
    `config.toml:1  accounts[0].issuer_id  is missing, and an In-App Purchase key requires it. Write issuer_id = "${ISSUER}"; App Store Connect shows it above the list of keys.`,
  ])
})

test.each(NO_KEYS)('reports an invalid key (%s) with the name of its file', (_, pem, words) => {
  const folder = openFolder()
  const file = folder.write('keys/key.p8', pem)
  folder.write('config.toml', account('connect_key_id = "2X9R4HXF34"', 'connect_key_file = "keys/key.p8"'))
  const advice = 'Write the contents of the .p8 file'
  const issues = folder.issues()
  expect(issues).toEqual([
    `${file}  accounts[0].connect_key  the value ${words}. ${advice}, such as connect_key = "-----BEGIN PRIVATE KEY-----…"`,
  ])
  expect(issues[0]).not.toContain('hunter2')
})

test('reports an unreadable key file at its setting', () => {
  const folder = openFolder()
  folder.write('config.toml', whole)
  folder.write('keys/SubscriptionKey_ABCDE12345.p8', KEY, 0o644)
  const [connect, purchase] = ['AuthKey_2X9R4HXF34', 'SubscriptionKey_ABCDE12345'].map((name) =>
    join(folder.path, 'keys', `${name}.p8`),
  )
  expect(folder.issues()).toEqual([
    `config.toml:5  accounts[0].connect_key_file  ${connect} does not exist. Write the path of a file that contains only the connect_key.`,
    `config.toml:7  accounts[0].purchase_key_file  ${purchase} is accessible to other users (mode 0644). Run: chmod 600 ${purchase}`,
  ])
})

test.each([
  [
    'issuer_id = "acme"',
    'issuer_id  "acme" is not an issuer id. Write the issuer id, such as issuer_id = "69a6de70-03db-47e3-e053-5b8c7c11a4d1"',
  ],
  [
    'connect_key_id = "AuthKey_2X9R4HXF34.p8"',
    'connect_key_id  "AuthKey_2X9R4HXF34.p8" is not a key id. Write the key id, such as connect_key_id = "2X9R4HXF34"',
  ],
  [
    'vendor_numbers = "80012345"',
    'vendor_numbers  is the text "80012345". Write a list of vendor numbers, such as vendor_numbers = ["80012345"]',
  ],
  [
    'vendor_numbers = ["80012345"]',
    'vendor_numbers  are set without the App Store Connect key that fetches their reports. Run `windfall connect`, or write connect_key_id and connect_key_file.',
  ],
  [
    'connect_key_id = "2X9R4HXF34"',
    'connect_key_id  is set without its key. Write connect_key_file = "keys/ABCDE12345.p8", the file from Apple, or remove connect_key_id.',
  ],
  [
    'organization = "acme"',
    'organization  "acme" is not declared. Add [[organizations]] with slug = "acme", or leave organization out.',
  ],
  ['vender_numbers = []', 'vender_numbers  unknown setting. Did you mean accounts[0].vendor_numbers?'],
])('of an account with %s it is said what to write', (line, complaint) => {
  expect(complaintsOf(account(line))).toEqual([`config.toml:2  accounts[0].${complaint}`])
})

test.each([
  ['"Acme"', '"Acme" is not a vendor number'],
  ['1', 'is the number 1'],
  ['80012345.5', 'is the number 80012345.5'],
])('%s is complained of as a vendor number', (number, problem) => {
  const key = `connect_key_id = "2X9R4HXF34"\nconnect_key = ${multiLine(KEY)}`
  expect(complaintsOf(account(`vendor_numbers = ["80012345", ${number}]`, key))).toEqual([
    `config.toml:2  accounts[0].vendor_numbers[1]  ${problem}. Write a list of vendor numbers, such as vendor_numbers = ["80012345"]`,
  ])
})

test('reports a key without an id', () => {
  expect(complaintsOf(account(`connect_key = ${multiLine(KEY)}`))).toEqual([
    `config.toml:1  accounts[0].connect_key_id  is missing, but its key is set. Write connect_key_id = "ABCDE12345": it is in the name of the key file.`,
  ])
})

test('refuses a duplicate vendor number, except in two organizations', () => {
  const key = `connect_key_id = "2X9R4HXF34"\nconnect_key = ${multiLine(KEY)}`
  expect(complaintsOf(account('vendor_numbers = ["80012345", "80067890", "80012345"]', key))).toEqual([
    'config.toml:2  accounts[0].vendor_numbers[2]  is the same as accounts[0].vendor_numbers[0] in line 2. Its reports are fetched once: remove one of the two.',
  ])
  const two = '[[organizations]]\nslug = "a"\n[[organizations]]\nslug = "b"\n'
  const same = (slug: string) => account(`organization = "${slug}"\nvendor_numbers = ["80012345"]`, key)
  expect(complaintsOf(`${two}${same('a')}\n${same('b')}`)).toEqual([])
})

test('requires one account per organization, and the organization of an account if there are several', () => {
  const advice = 'An organization has one account: put all its keys and vendor numbers there.'
  expect(complaintsOf(`${account()}\n${account()}`)).toEqual([
    `config.toml:2  accounts[1].organization  is the same as accounts[0].organization in line 1. ${advice}`,
  ])
  const two = '[[organizations]]\nslug = "a"\n[[organizations]]\nslug = "b"\n'
  expect(complaintsOf(`${two}${account('organization = "a"')}\n${account('organization = "b"')}`)).toEqual([])
  expect(complaintsOf(`${two}${account('organization = "a"')}\n${account('organization = "a"')}`)).toEqual([
    `config.toml:8  accounts[1].organization  is the same as accounts[0].organization in line 6. ${advice}`,
  ])
  expect(complaintsOf(two + account())).toEqual([
    'config.toml:5  accounts[0].organization  is missing, and 2 organizations are declared. Write organization = "a" or "b"',
  ])
})

test.each([
  ['in the place of its file', 'connect_key_file = "-----BEGIN PRIVATE KEY-----hunter2"'],
  ['in the place of its id', 'connect_key_id = "-----BEGIN PRIVATE KEY-----hunter2"'],
  ['cut short', `connect_key = "-----BEGIN PRIVATE KEY-----hunter2"`],
])('a key %s is not shown', (_, line) => {
  const issues = complaintsOf(account(line)).join('\n')
  expect(issues).not.toBe('')
  expect(issues).not.toContain('hunter2')
})
