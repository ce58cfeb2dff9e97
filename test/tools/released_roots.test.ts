/** The released program trusts Apple's roots and calls Apple's hosts, and has nothing else to trust or call. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { APPLE_HOSTS } from '../../src/apple/api/hosts.ts'
import { APP_ATTEST_ROOTS } from '../../src/apple/attest/roots.ts'
import { APPLE_ROOTS } from '../../src/apple/jws/roots.ts'
import { RATE_ORIGINS } from '../../src/rates/origins.ts'
import { at } from '../../tools/bundle.mjs'
import { CONTINUATION, certificatesIn, certificatesInText, passkeyCertificates } from './certificates_in.ts'

const others = new Set(passkeyCertificates())
const apples = certificatesInText([...APPLE_ROOTS, ...APP_ATTEST_ROOTS].join(''))

test("the bundle trusts Apple's two roots and no other, and has Apple's hosts", () => {
  expect(apples).toHaveLength(2)
  const text = readFileSync(at('dist/windfall.cjs'), 'utf8').replaceAll(CONTINUATION, '')
  expect(certificatesInText(text).filter((one) => !others.has(one))).toEqual(apples)
  const { connect, server, lookup } = APPLE_HOSTS
  for (const origin of [connect, server.production, server.sandbox, lookup, ...Object.values(RATE_ORIGINS)])
    expect(text).toContain(origin)
  for (const name of ['worker.cjs', 'page.json', 'sql.json']) {
    const found = certificatesIn(at(`dist/${name}`)).filter((one) => !others.has(one))
    expect({ name, found: found.filter((one) => !apples.includes(one)) }).toEqual({ name, found: [] })
  }
})
