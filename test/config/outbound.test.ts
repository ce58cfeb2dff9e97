import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backupSources } from '../../src/config/sources/backup_sources.ts'
import { certificateFor } from '../outgoing/receiver.ts'
import { configured, openFolder } from './folder.ts'

const ADVICE =
  'Write a list of addresses and networks in CIDR form, each optionally with a port, such as allow'
const EXAMPLE = '["127.0.0.1/32", "10.0.0.0/8:8080", "[fd00::/8]:8080"]'

test('permits addresses and networks, with and without a port', () => {
  const allow = [
    '127.0.0.1',
    '127.0.0.1/32',
    '10.0.0.0/8:8080',
    '127.0.0.1:8080',
    '0.0.0.0/0',
    'fd00::/8',
    '::1',
  ]
  const all = [...allow, '[::1]', '[fd00::/8]:8080', '[::1]:65535', '169.254.169.254']
  expect(configured(`[outbound]\nallow = ${JSON.stringify(all)}`).config.outbound.allow).toEqual(all)
  const variable = { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1, 10.0.0.0/8:8080' }
  expect(configured('', variable).config.outbound.allow).toEqual(['127.0.0.1', '10.0.0.0/8:8080'])
})

test.each([
  ['localhost', 'is not an IP address or a network in CIDR form'],
  ['', 'is not an IP address or a network in CIDR form'],
  ['127.1', 'is not an IP address or a network in CIDR form'],
  ['10.0.0.0/33', 'is not an IP address or a network in CIDR form'],
  ['10.0.0.0/8/8', 'is not an IP address or a network in CIDR form'],
  ['fe80::1%eth0', 'is not an IP address or a network in CIDR form'],
  ['[fd00::/8]8080', 'is not an IP address or a network in CIDR form'],
  ['10.0.0.0:8080/8', 'is not an IP address or a network in CIDR form'],
  ['10.0.0.0/8:0', 'has a port that is not from 1 to 65535'],
  ['[fd00::/8]:65536', 'has a port that is not from 1 to 65535'],
  ['10.0.0.5/8', 'does not begin at the first address of its network; "10.0.0.0/8" does'],
  ['fd00::1/8', 'does not begin at the first address of its network; "fd00::/8" does'],
  ['::ffff:127.0.0.1', 'is an IPv4 address in IPv6 form; "127.0.0.1" is the same address'],
])('refuses %j', (entry, problem) => {
  const folder = openFolder()
  folder.write('config.toml', `[outbound]\nallow = [\n  "127.0.0.1",\n  "${entry}",\n]`)
  expect(folder.issues()).toEqual([
    `config.toml:4  outbound.allow[1]  "${entry}" ${problem}. ${ADVICE} = ${EXAMPLE}`,
  ])
})

test('reads the certificates of ca_file, relative to the config file, and backups contain it', () => {
  const folder = openFolder()
  const { ca } = certificateFor('hooks.example')
  const file = folder.write('etc/ca.pem', `# Our authority\n${ca}${ca}`, 0o644)
  folder.write('etc/config.toml', '[outbound]\nca_file = "ca.pem"')
  const loaded = folder.load({}, 'etc/config.toml')
  expect(loaded.config.outbound).toEqual({ allow: [], ca_file: file, ca: `# Our authority\n${ca}${ca}` })
  expect(backupSources(loaded).files).toEqual([{ path: 'ca.pem', source: file }])
})

test('refuses a ca_file that contains no certificate, a damaged one or a private key', () => {
  const folder = openFolder()
  const { ca, secure } = certificateFor('hooks.example')
  folder.write('config.toml', '\n[outbound]\nca_file = "ca.pem"')
  const advice = 'Write the path of a file that contains certificates in PEM form.'
  const expectIssue = (problem: string) =>
    expect(folder.issues()).toEqual([
      `config.toml:3  outbound.ca_file  ${join(folder.path, 'ca.pem')} ${problem}. ${advice}`,
    ])
  expectIssue('does not exist')
  const texts = { 'contains no certificate in PEM form': 'certificate', 'contains a private key': secure.key }
  for (const [problem, text] of Object.entries(texts)) {
    folder.write('ca.pem', text)
    expectIssue(problem)
  }
  folder.write('ca.pem', `${ca}${ca.replace(/MII?/, 'AAA')}`)
  expectIssue('contains a damaged certificate')
})
