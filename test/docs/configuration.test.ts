/** The configuration in the documents is valid. */
import { describe, expect, test } from 'vitest'
import { firstConfig } from '../../src/cli/install/first_config.ts'
import { commentedConfig } from '../../src/config/documents.ts'
import { openFolder } from '../config/folder.ts'
import { keyFile, WEBHOOK_SECRET } from '../config/keys.ts'
import { blocksOf, PAGES } from './snippets.ts'

/** A recipient as `age-keygen` prints it; the pages abbreviate theirs. */
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'

const EXAMPLES = PAGES.flatMap(blocksOf)
  .filter(({ language }) => language === 'toml')
  .map((block) => ({ ...block, name: `${block.page}:${block.line}` }))

/** A folder with the files that the examples name. */
function folderOfExamples() {
  const folder = openFolder()
  for (const name of ['AuthKey_2X9R4HXF34', 'SubscriptionKey_9K8J7H6G5F'])
    folder.write(`keys/${keyFile(name)[0]}`, keyFile(name)[1])
  folder.write('keys/webhook_secret', WEBHOOK_SECRET)
  folder.write('keys/telegram.toml', 'token = "123456:abcdefghijklmnopqrstuvwxyz"')
  folder.write('metrics_token', 'long-random-text')
  folder.write('secret_access_key', 'long-random-text')
  return folder
}

/** The text of an example with a recipient, and with files of this folder. */
const here = (text: string): string => text.replaceAll('age1…', RECIPIENT).replaceAll('/etc/windfall/', '')

test.each(EXAMPLES)('$name is accepted', ({ text }) => {
  const folder = folderOfExamples()
  folder.write('config.toml', here(text))
  expect(folder.issues()).toEqual([])
})

describe.each([
  ['init', commentedConfig()],
  ['install', firstConfig('data')],
])('at the end of what %s writes', (_, written) => {
  test.each(EXAMPLES)('$name is accepted, or the message says where to put it', ({ text }) => {
    const folder = folderOfExamples()
    folder.write('config.toml', `${written}${here(text)}`)
    const heading = /^\[\w+\]/m.exec(text)?.[0]
    if (text.startsWith('[[')) return expect(folder.issues()).toEqual([])
    if (heading === undefined) {
      const words = /^config\.toml:\d+ .* at the top of the file, before the first section\?$/
      expect(folder.issues()).toEqual([expect.stringMatching(words)])
      folder.write('config.toml', `${here(text)}${written}`)
      return expect(folder.issues()).toEqual([])
    }
    const lines = written.split('\n')
    const first = lines.indexOf(heading) + 1
    expect(folder.issues()).toEqual([
      `config.toml:${lines.length}  ${heading} is already in line ${first}. Move the settings of this section below line ${first}, and remove this heading.`,
    ])
    const settings = here(text).split('\n').slice(1)
    folder.write('config.toml', lines.toSpliced(first, 0, ...settings).join('\n'))
    // The file of install sets the schedule and the folder of backups.
    const repeated = /^config\.toml:\d+ {2}\w+ is already set in line \d+\. Remove one of the two lines\.$/
    expect(folder.issues().filter((issue) => !repeated.test(issue))).toEqual([])
  })
})

test('the pages show configuration', () => {
  expect(EXAMPLES.length).toBeGreaterThan(7)
})
