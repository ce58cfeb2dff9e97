/** Password hashes (argon2id, RFC 9106) as PHC strings, at most two computed at a time. */
// A default import: a named one would fail on an old Node before the program can report the version.
import crypto from 'node:crypto'
import { Refusal } from '../errors.ts'
import { openLimiter, type Queue, type Waiter } from '../limiter.ts'
import type { Lane } from './attempts/throttle.ts'

/** The cost of a hash: kibibytes, passes, lanes. Cheaper stored hashes are replaced at the next sign-in. */
type Cost = { memory: number; passes: number; parallelism: number }
const COST: Cost = { memory: 65_536, passes: 3, parallelism: 1 }
/** The highest cost that a stored hash may have: the database is not trusted here. */
const MAX_COST: Cost = { memory: 262_144, passes: 10, parallelism: 4 }
const SALT_BYTES = 16
const HASH_BYTES = 32
/** The maximum number of concurrent computations. Each takes 64 MiB. */
const MAX_RUNNING = 2
const MAX_WAITING = 32

type Hashed = { salt: Buffer; hash: Buffer; cost: Cost }

/**
 * A queue that serves `known` before `clean` and `clean` before `later`, and the newest `clean` before older ones: an
 * attacker has one `clean` attempt from each network, and the owner, who arrives later, must not wait for all of them.
 * When the queue is full, a waiter displaces one that is served after it, and a `later` one is refused.
 */
function openPasswordQueue(): Queue<Lane> {
  const waiting: Record<Lane, Waiter[]> = { known: [], clean: [], later: [] }
  const { known, clean, later } = waiting

  function displacedBy(waiter: Waiter, lane: Lane): Waiter {
    if (lane === 'later') return waiter
    return later.pop() ?? clean.shift() ?? waiter
  }

  function add(waiter: Waiter, lane: Lane): void {
    if (known.length + clean.length + later.length >= MAX_WAITING) {
      const displaced = displacedBy(waiter, lane)
      displaced.refuse(busy())
      if (displaced === waiter) return
    }
    waiting[lane].push(waiter)
  }

  return { add, next: () => known.shift() ?? clean.pop() ?? later.shift() }
}

function busy(): Refusal {
  const headers = { 'retry-after': '5' }
  return new Refusal(503, 'busy', 'too many password checks at the same time; try again', { headers })
}

const limiter = openLimiter(MAX_RUNNING, openPasswordQueue())

/** Normalizes to NFKC: keyboards compose the same characters differently. */
const bytesOf = (password: string): Buffer => Buffer.from(password.normalize('NFKC'))

type DeriveOptions = { salt: Buffer; bytes: number; cost: Cost; lane: Lane }

function derive(password: string, { salt, bytes, cost, lane }: DeriveOptions): Promise<Buffer> {
  const given = { message: bytesOf(password), nonce: salt, tagLength: bytes, ...cost }
  return limiter.run(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        crypto.argon2('argon2id', given, (error, hash) => (error ? reject(error) : resolve(hash)))
      }),
    lane,
  )
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

/** The PHC string of a new password, set by an authenticated caller: `$argon2id$v=19$m=65536,t=3,p=1$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.randomBytes(SALT_BYTES)
  const hash = await derive(password, { salt, bytes: HASH_BYTES, cost: COST, lane: 'known' })
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`
}

/** Parses a PHC string; null if it is not valid or too expensive to check. */
export function readHash(phc: string): Hashed | null {
  const pattern = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([\w+/]{11,86})\$([\w+/]{22,86})$/
  const [, memory, passes, parallelism, salt = '', hash = ''] = pattern.exec(phc) ?? []
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  const fits = (name: keyof Cost): boolean => cost[name] >= 1 && cost[name] <= MAX_COST[name]
  if (!fits('memory') || !fits('passes') || !fits('parallelism')) return null
  return { salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64'), cost }
}

/**
 * Whether a password matches a hash (`fits`), and whether the hash was computed at less than the current cost
 * (`stale`).
 *
 * @throws Refusal 503 `busy` when the queue is full, or a caller that goes first displaces this one.
 */
export async function checkPassword(
  password: string,
  phc: string,
  lane: Lane,
): Promise<{ fits: boolean; stale: boolean }> {
  const known = readHash(phc)
  if (!known) return { fits: false, stale: false }
  const { salt, hash, cost } = known
  const given = await derive(password, { salt, bytes: hash.length, cost, lane })
  const stale = cost.memory < COST.memory || cost.passes < COST.passes || hash.length < HASH_BYTES
  return { fits: crypto.timingSafeEqual(given, hash), stale }
}
