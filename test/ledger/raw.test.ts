import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { renewedPayload } from '../apple/samples.ts'
import { openTestApp, type TestApp } from '../helpers.ts'
import { runs } from '../random.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})

const roundTrip = async (text: string): Promise<string> => {
  const { store, ledger } = app.windfall
  return ledger.raw.unpack(await store.commit(() => ledger.raw.pack(text)))
}

test('folds nested signed texts, and restores them', async () => {
  const jws = app.authority.sign(renewedPayload(app.authority))
  const { store, ledger } = app.windfall
  const packed = await store.commit(() => ledger.raw.pack(jws))
  expect(packed.codec).toBe(1)
  expect(packed.body.length).toBeLessThan(1_100)
  expect(ledger.raw.unpack(packed)).toBe(jws)
})

/** A JWS with this payload. */
const withPayload = (payload: string | Uint8Array): string =>
  `eyJh.${Buffer.from(payload).toString('base64url')}.c2ln`

test.each([
  ['no JWS at all', 'hello'],
  ['too many parts', 'a.b.c.d'],
  ['a payload that is not base64url', 'eyJh.not+base64==.sig'],
  ['a payload with a loose last bit', 'eyJh.e31.c2ln'],
  ['a payload that is not UTF-8', withPayload(Uint8Array.of(0xff, 0xfe))],
  ['a payload with the first mark of the fold', withPayload('{"a":"\u0001"}')],
  ['a payload with the second mark of the fold', withPayload('{"a":"\u0002"}')],
  ['a payload with the third mark of the fold', withPayload('{"a":"\u0003"}')],
  ['something like a nested text that is none', withPayload('{"a":"eyJx.!!.y"}')],
  ['nothing', ''],
])('restores %s byte for byte', async (_, text) => {
  expect(await roundTrip(text)).toBe(text)
})

test('restores any text of three parts byte for byte', async () => {
  const part = fc.oneof(
    fc.string(),
    fc.json().map((json) => Buffer.from(json).toString('base64url')),
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64url')),
  )
  const nested = fc.tuple(part, part, part).map((parts) => `eyJ${parts.join('.')}`)
  const outer = nested.map((text) => Buffer.from(JSON.stringify({ inside: text })).toString('base64url'))
  const property = fc.asyncProperty(part, fc.oneof(part, outer), part, async (...parts) => {
    const text = parts.join('.')
    fc.pre(text.isWellFormed())
    expect(await roundTrip(text)).toBe(text)
  })
  await fc.assert(property, runs(300, 10_000))
})
