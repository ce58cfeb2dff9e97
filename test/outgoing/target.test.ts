import { expect, test } from 'vitest'
import { parseTarget } from '../../src/outgoing/target.ts'

test.each([
  ['https://hooks.example/a?b=c', 'https://hooks.example/a?b=c'],
  ['HTTPS://Hooks.Example', 'https://hooks.example/'],
  ['http://2130706433:8080', 'http://127.0.0.1:8080/'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
])('%s is a target', (text, href) => {
  const target = parseTarget(text)
  expect('url' in target && target.url.href).toBe(href)
})

test.each([
  ['', /https/],
  ['hooks.example', /https/],
  ['/hooks', /https/],
  ['ftp://hooks.example/', /https/],
  ['file:///etc/passwd', /https/],
  ['javascript:alert(1)', /https/],
  ['https:hooks.example', /no host/],
  ['https:///hooks.example', /no host/],
  ['https:\\\\hooks.example', /no host/],
  ['https://?a', /no host/],
  ['https://user@hooks.example/', /user name/],
  ['https://user:secret@hooks.example/', /password/],
  ['https://:secret@hooks.example/', /password/],
  ['https://hooks.example/#part', /fragment/],
  ['https://hooks.example/#', /fragment/],
  ['https://hooks.example:0/', /port 0/],
  ['https://hooks.example:99999/', /invalid/],
  ['https://256.256.256.256/', /invalid/],
  ['https://[fe80::1%25eth0]/', /invalid/],
  ['https://hooks.example/a b', /white space/],
  [' https://hooks.example/', /white space/],
  ['https://hooks.exa\tmple/', /white space/],
  ['https://hooks.example/\0', /control character/],
  [`https://hooks.example/${'a'.repeat(2048)}`, /2,048/],
])('%j is refused', (text, words) => {
  const target = parseTarget(text)
  expect('refusal' in target && target.refusal).toMatch(words)
})
