/** The owner's authenticator app: its sealed secret, and the time steps whose codes were accepted. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Store } from '../../store/store.ts'
import { openGuesses } from './guesses.ts'

type Location = { table: string; row: string; column: string }
/** Seals texts, so that the database alone does not reveal them. `open` throws if the key is gone. */
export type Sealing = {
  seal: (text: string, location: Location) => string
  open: (sealed: string, location: Location) => string
}

/** A code that is right. `use` runs inside a unit of work; false if the code was used meanwhile. */
export type RightCode = { kind: 'code' | 'recovery code'; use: () => boolean }

type Row = { sealed: string; last_step: number; created_at: number }

const LOCATION: Location = { table: 'authenticator', row: '1', column: 'sealed' }

export type Authenticator = ReturnType<typeof openAuthenticator>

type Deps = { store: Store; clock: Clock; monotonic: Clock; sealing: Sealing }

/** Opens the authenticator app. */
export function openAuthenticator({ store, clock, monotonic, sealing }: Deps) {
  const find = store.prepare<[], Row>('select sealed, last_step, created_at from authenticator where id = 1')
  const insert = store.prepare<Row>(`
    insert into authenticator (id,  sealed,  last_step,  created_at)
    values                    (1,  :sealed, :last_step, :created_at)`)
  // The sealed text differs for each secret, so a step counts only for the secret that it was computed with.
  const updateStep = store.prepare<{ step: number; sealed: string }>(
    'update authenticator set last_step = :step where sealed = :sealed and last_step < :step',
  )
  const remove = store.prepare<[]>('delete from authenticator')
  const guesses = openGuesses(monotonic)

  /** @throws Refusal 409 `key_unreadable`. */
  function secretOf({ sealed }: Row): string {
    try {
      return sealing.open(sealed, LOCATION)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const detail = `codes of the authenticator app cannot be checked: ${why}. Use a recovery code or a passkey, or run windfall owner reset on the server`
      throw new Refusal(409, 'key_unreadable', detail)
    }
  }

  /**
   * The code, if it is right and its time step was not accepted before; otherwise null.
   *
   * @throws Refusal 429 `rate_limited`, 409 `key_unreadable`.
   */
  async function check(code: string): Promise<RightCode | null> {
    const current = find.get()
    if (current === undefined) return null
    const secret = secretOf(current)
    const takeBack = guesses.take()
    // A start does not need the library, so it is loaded on first use.
    const { stepOf } = await import('./totp.ts')
    const step = stepOf(secret, code, clock())
    if (step === null || step <= current.last_step) return null
    takeBack()
    return { kind: 'code', use: () => updateStep.run({ step, sealed: current.sealed }).changes === 1 }
  }

  /** Stores a secret whose code at `last_step` was accepted. Inside a unit of work. @throws Refusal 409 `key_unreadable`. */
  function add(secret: string, last_step: number): void {
    insert.run({ sealed: sealing.seal(secret, LOCATION), last_step, created_at: clock() })
  }

  return {
    /** When the app was set up; null without one. */
    since: (): number | null => find.get()?.created_at ?? null,
    check,
    add,
    /** Inside a unit of work. */
    remove: (): void => void remove.run(),
  }
}
