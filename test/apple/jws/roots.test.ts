import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { APPLE_ROOTS } from '../../../src/apple/jws/roots.ts'
import { haveVectors, readVector } from '../vectors.ts'

const PUBLISHED = '63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179'

test('the only root is Apple Root CA - G3, by its published fingerprint', () => {
  const fingerprints = APPLE_ROOTS.map((pem) => new X509Certificate(pem).fingerprint256)
  expect(fingerprints.map((one) => one.replaceAll(':', '').toLowerCase())).toEqual([PUBLISHED])
})

test('the root is a certificate authority and valid until 2039', () => {
  const root = new X509Certificate(APPLE_ROOTS[0] ?? '')
  expect(root.ca).toBe(true)
  expect(root.validToDate.toISOString()).toBe('2039-04-30T18:19:06.000Z')
})

test.skipIf(!haveVectors)('the root is byte for byte the file that Apple publishes', () => {
  const root = new X509Certificate(APPLE_ROOTS[0] ?? '')
  expect(root.raw.equals(readVector('certs/AppleRootCA-G3.der'))).toBe(true)
})
