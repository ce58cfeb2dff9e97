/** Mutations of a signed payload that need no key. Each is a function of a valid payload and a random source. */
import type { Random } from '../../src/demo/world/random.ts'
import type { Submission } from './verdicts.ts'
import type { World } from './world.ts'

/** Returns the changed text. */
type Mutation = (base: Submission, random: Random, world: World) => string

type Header = Record<string, unknown> & { x5c: string[] }

export const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url')

export function partsOf(jws: string): [string, string, string] {
  const [header = '', payload = '', signature = ''] = jws.split('.')
  return [header, payload, signature]
}

export const headerIn = (jws: string): Header =>
  JSON.parse(Buffer.from(partsOf(jws)[0], 'base64url').toString('utf8'))

function flipBit(bytes: Buffer, random: Random): Buffer {
  const flipped = Buffer.from(bytes)
  const at = random.whole(0, flipped.length - 1)
  flipped[at] = (flipped[at] ?? 0) ^ (1 << random.whole(0, 7))
  return flipped
}

/** Flips one bit of one decoded part. */
const flipIn = (part: 0 | 1 | 2): Mutation => {
  return ({ jws }, random) => {
    const parts = partsOf(jws)
    parts[part] = flipBit(Buffer.from(parts[part], 'base64url'), random).toString('base64url')
    return parts.join('.')
  }
}

const withHeader = (change: (header: Header, random: Random, world: World) => object): Mutation => {
  return ({ jws }, random, world) => {
    const [, payload, signature] = partsOf(jws)
    return [encode(change(headerIn(jws), random, world)), payload, signature].join('.')
  }
}

const withChain = (change: (x5c: string[], random: Random, world: World) => string[]): Mutation =>
  withHeader((header, random, world) => ({ ...header, x5c: change(header.x5c, random, world) }))

const base64 = (der: Buffer | undefined): string => (der ?? Buffer.alloc(0)).toString('base64')
const otherText = (world: World, random: Random): string => random.pick([...world.made, ...world.genuine]).jws

/** Replaces the `cut` characters at `at` by `insert`. */
const splice = (text: string, at: number, cut: number, insert: string): string =>
  text.slice(0, at) + insert + text.slice(at + cut)

const ALPHABET = 'ABCXYZabcxyz0189-_+/=. \n\tü'

export const MUTATIONS: Record<string, Mutation> = {
  'a bit of the text flipped': ({ jws }, random) =>
    flipBit(Buffer.from(jws, 'latin1'), random).toString('latin1'),
  'a bit of the header flipped': flipIn(0),
  'a bit of the payload flipped': flipIn(1),
  'a bit of the signature flipped': flipIn(2),
  'a bit of a certificate flipped': withChain((x5c, random) => {
    const at = random.whole(0, 2)
    const flipped = flipBit(Buffer.from(x5c[at] ?? '', 'base64'), random).toString('base64')
    return x5c.with(at, flipped)
  }),
  'stray bits after the signature': ({ jws }) => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    return jws.slice(0, -1) + alphabet[alphabet.indexOf(jws.slice(-1)) + 1]
  },
  'a character replaced': ({ jws }, random) =>
    splice(jws, random.whole(0, jws.length - 1), 1, random.pick([...ALPHABET])),
  'a character inserted': ({ jws }, random) =>
    splice(jws, random.whole(0, jws.length), 0, random.pick([...ALPHABET])),
  'characters removed': ({ jws }, random) =>
    splice(jws, random.whole(0, jws.length - 1), random.whole(1, 8), ''),
  truncated: ({ jws }, random) => jws.slice(0, random.whole(0, jws.length - 1)),
  'truncated at a dot': ({ jws }, random) => jws.split('.').slice(0, random.whole(1, 2)).join('.'),
  'the signature removed': ({ jws }) => jws.slice(0, jws.lastIndexOf('.') + 1),
  padded: ({ jws }, random) => jws + random.pick(['=', '==', '.', '..', '.e30', '\0']),
  'white space added': ({ jws }, random) => {
    const space = random.pick([' ', '\n', '\r\n', '\t', '\ufeff'])
    return splice(jws, random.pick([0, jws.length, jws.indexOf('.'), random.whole(0, jws.length)]), 0, space)
  },
  'the other base64 alphabet': ({ jws }) => jws.replaceAll('-', '+').replaceAll('_', '/'),
  'parts reordered': ({ jws }, random) => {
    const [header, payload, signature] = partsOf(jws)
    return random
      .pick([
        [payload, header, signature],
        [header, signature, payload],
        [signature, payload, header],
      ])
      .join('.')
  },
  'the payload of another text': ({ jws }, random, world) => {
    const [header, , signature] = partsOf(jws)
    return [header, partsOf(otherText(world, random))[1], signature].join('.')
  },
  'the signature of another text': ({ jws }, random, world) => {
    const [header, payload] = partsOf(jws)
    return [header, payload, partsOf(otherText(world, random))[2]].join('.')
  },
  'the header of another text': ({ jws }, random, world) => {
    const [, payload, signature] = partsOf(jws)
    return [partsOf(otherText(world, random))[0], payload, signature].join('.')
  },
  'another algorithm': withHeader((header, random) => ({
    ...header,
    alg: random.pick([
      'none',
      'None',
      'HS256',
      'RS256',
      'PS256',
      'ES384',
      'ES512',
      'EdDSA',
      'es256',
      '',
      null,
    ]),
  })),
  'no algorithm and no signature': ({ jws }) =>
    `${encode({ ...headerIn(jws), alg: 'none' })}.${partsOf(jws)[1]}.`,
  'a header with more fields': withHeader((header, random) => ({
    ...header,
    ...random.pick([{ typ: 'JWT' }, { kid: 'x' }, { b64: false }, { jku: 'https://example.com' }]),
  })),
  'a shorter chain': withChain((x5c, random) => x5c.slice(0, random.whole(0, 2))),
  'a longer chain': withChain((x5c, random) => [...x5c, random.pick(x5c)]),
  'the chain reordered': withChain((x5c, random) => {
    const [leaf = '', intermediate = '', root = ''] = x5c
    return random.pick([
      [root, intermediate, leaf],
      [intermediate, leaf, root],
      [leaf, root, intermediate],
      [intermediate, root, leaf],
    ])
  }),
  'one certificate three times': withChain((x5c, random) => Array<string>(3).fill(random.pick(x5c))),
  'a leaf of another authority': withChain((x5c, random, world) => {
    const { stranger, same_intermediate, same_root } = world
    return x5c.with(0, base64(random.pick([stranger, same_intermediate, same_root]).chain[0]))
  }),
  'a certificate of another text': withChain((x5c, random, world) => {
    const at = random.whole(0, 2)
    return x5c.with(at, headerIn(otherText(world, random)).x5c[at] ?? '')
  }),
}
