/** The configuration in the documents is valid. */
import { expect, test } from 'vitest'
import { openFolder } from '../config/folder.ts'
import { keyFile, WEBHOOK_SECRET } from '../config/keys.ts'
import { blocksOf, PAGES } from './snippets.ts'

/** A recipient as `age-keygen` prints it; the pages abbreviate theirs. */
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'

const EXAMPLES = PAGES.flatMap(blocksOf)
  .filter(({ language }) => language === 'toml')
  .map((block) => ({ ...block, name: `${block.page}:${block.line}` }))

test.each(EXAMPLES)('$name is accepted', ({ text }) => {
  const folder = openFolder()
  for (const name of ['AuthKey_2X9R4HXF34', 'SubscriptionKey_9K8J7H6G5F'])
    folder.write(`keys/${keyFile(name)[0]}`, keyFile(name)[1])
  folder.write('keys/webhook_secret', WEBHOOK_SECRET)
  folder.write('keys/telegram.toml', 'token = "123456:abcdefghijklmnopqrstuvwxyz"')
  folder.write('metrics_token', 'long-random-text')
  folder.write('config.toml', text.replaceAll('age1…', RECIPIENT).replaceAll('/etc/windfall/', ''))
  expect(folder.issues()).toEqual([])
})

test('the pages show configuration', () => {
  expect(EXAMPLES.length).toBeGreaterThan(7)
})
