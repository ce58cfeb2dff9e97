/** The state of one install's SDK in this process, which the other files work on. */
import type { Wait } from './backoff.ts'
import type { Device, Environment } from './environment.ts'
import { uuid } from './ids.ts'
import type { Entry } from './items.ts'

/** Where calls go now. */
export type Target = { l: string; b: string; k?: string; d: Device }

type Soft = Wait & { tries: number }
type Call = { run(): Promise<void>; done(): void }

export type Sdk = ReturnType<typeof newSdk>

export const newSdk = (env: Environment, target: () => Target, debug: (line: string) => void) => ({
  env,
  target,
  debug,
  /** Names this process in the lease. */
  owner: uuid(env.random),
  /** Writes that the storage refused, removals as null. */
  unsaved: new Map<string, string | null>(),
  /** Items by key: the text below a key never changes. */
  cache: new Map<string, Entry>(),
  /** Whether the stored state has refused proofs. */
  hasProofs: false,
  /** The highest sequence number so far. */
  last: 0,
  /** The key of the item that is being sent: it is neither joined nor dropped. */
  inFlight: null as string | null,
  /** Waits after a lost connection, by destination. They end with the process. */
  soft: {} as { [lane: string]: Soft | undefined },
  answer: null as string | null,
  /** Calls that the storage has not taken yet. */
  calls: [] as Call[],
  /** The end of the work on the storage, the work on the calls, and the sending. */
  tail: Promise.resolve() as Promise<unknown>,
  working: null as Promise<void> | null,
  sending: null as Promise<void> | null,
  isAgain: false,
  stalls: 0,
  cancelTimer: () => {},
})
