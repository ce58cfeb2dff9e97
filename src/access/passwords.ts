/** What we compute: hashes of passwords (argon2id, RFC 9106), two at a time, as PHC strings. */
// As a whole: of an old Node an import by name would fail before the program can say that it is too old.
import crypto from 'node:crypto'
import { Refusal } from '../errors.ts'
import { openLimiter, type Queue, type Waiter } from '../limiter.ts'

/** What a hash costs: kibibytes, passes, lanes. Older hashes that cost less are made anew at the next sign-in. */
type Cost = { memory: number; passes: number; parallelism: number }
const COST: Cost = { memory: 65_536, passes: 3, parallelism: 1 }
/** What a stored hash may cost at most, whoever wrote it there. */
const MAX_COST: Cost = { memory: 262_144, passes: 10, parallelism: 4 }
const SALT_BYTES = 16
const HASH_BYTES = 32
/** Each takes 64 MiB while it is made. */
const MAX_RUNNING = 2
const MAX_WAITING = 32

type Hashed = { salt: Buffer; hash: Buffer; cost: Cost }

/** Whether a hash is made before those of callers who failed lately. */
type QueuePriority = 'first' | 'later'

/**
 * Of those who wait, `first` ones are served before `later` ones, and the latest of them before the others: a caller
 * that guesses from many addresses has one `first` attempt from each, and the owner who comes later waits for none of them.
 * Where too many wait already, one that is `first` displaces another, and one that is `later` is refused itself.
 */
function openPasswordQueue(): Queue<QueuePriority> {
  const waiting: Record<QueuePriority, Waiter[]> = { first: [], later: [] }
  const { first, later } = waiting

  function add(waiter: Waiter, priority: QueuePriority): void {
    if (first.length + later.length >= MAX_WAITING) {
      const displaced = priority === 'later' ? waiter : (later.pop() ?? first.shift())
      displaced?.refuse(busy())
      if (displaced === waiter) return
    }
    waiting[priority].push(waiter)
  }

  return { add, next: () => first.pop() ?? later.shift() }
}

function busy(): Refusal {
  const headers = { 'retry-after': '5' }
  return new Refusal(503, 'busy', 'too many passwords are being checked at once; try again', { headers })
}

const limiter = openLimiter(MAX_RUNNING, openPasswordQueue())

/** The same characters are the same password, however the keyboard composed them. */
const bytesOf = (password: string): Buffer => Buffer.from(password.normalize('NFKC'))

type Derived = { salt: Buffer; bytes: number; cost: Cost; priority: QueuePriority }

function derive(password: string, { salt, bytes, cost, priority }: Derived): Promise<Buffer> {
  const given = { message: bytesOf(password), nonce: salt, tagLength: bytes, ...cost }
  return limiter.run(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        crypto.argon2('argon2id', given, (error, hash) => (error ? reject(error) : resolve(hash)))
      }),
    priority,
  )
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

/** The PHC string of a password, set by a caller who is signed in already: `$argon2id$v=19$m=65536,t=3,p=1$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = crypto.randomBytes(SALT_BYTES)
  const hash = await derive(password, { salt, bytes: HASH_BYTES, cost: COST, priority: 'first' })
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`
}

/** What a PHC string says; null where it is none that we would check. */
export function readHash(phc: string): Hashed | null {
  const pattern = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([\w+/]{11,86})\$([\w+/]{22,86})$/
  const [, memory, passes, parallelism, salt = '', hash = ''] = pattern.exec(phc) ?? []
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  const fits = (name: keyof Cost): boolean => cost[name] >= 1 && cost[name] <= MAX_COST[name]
  if (!fits('memory') || !fits('passes') || !fits('parallelism')) return null
  return { salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64'), cost }
}

/**
 * Whether a password is the one that was hashed. `stale`: the hash costs less than those made today.
 *
 * @throws Refusal 503 `busy`; for `later` callers when many wait, for `first` ones when many of these came after them.
 */
export async function checkPassword(
  password: string,
  phc: string,
  priority: QueuePriority,
): Promise<{ fits: boolean; stale: boolean }> {
  const known = readHash(phc)
  if (!known) return { fits: false, stale: false }
  const { salt, hash, cost } = known
  const given = await derive(password, { salt, bytes: hash.length, cost, priority })
  const stale = cost.memory < COST.memory || cost.passes < COST.passes || hash.length < HASH_BYTES
  return { fits: crypto.timingSafeEqual(given, hash), stale }
}
