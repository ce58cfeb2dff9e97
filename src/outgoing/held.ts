/**
 * Holds outgoing requests of a restored or copied database until the owner resumes them, because the original may still
 * serve: a copy for tests must not send to the owner’s backend or phone.
 */
import type { Clock } from '../clock.ts'
import { newId } from '../ids.ts'
import { type HeldMark, openHeldMark } from '../store/held_mark.ts'
import { skipSequences } from '../store/sequences.ts'
import { openSetting } from '../store/setting.ts'
import type { Store } from '../store/store.ts'
import { openInstanceFile } from './instance_file.ts'

/** A copy and its original must not use the same sequence numbers for different events. */
const SKIPPED_NUMBERS = 1_000_000

export type Held = Awaited<ReturnType<typeof openHeld>>

type Deps = { store: Store; clock: Clock }

/** Opens the held state. A database that is recognized as a copy is held, with its sequences raised. */
export async function openHeld({ store, clock }: Deps) {
  const mark = openHeldMark(store)
  await identify({ store, clock }, mark)

  /** Why and since when outgoing requests are held; null if they are sent. */
  const state = (): HeldMark | null => mark.get()

  /** Allows outgoing requests. Must run inside a unit of work. Idempotent. */
  const resume = (): void => mark.clear()

  return { state, resume }
}

/**
 * Compares the id in the database with the file `instance`. A database without an id, new or of an older version, gets
 * one. For a first id the file is written before the database, for a copy after it: a crash between the two steps only
 * repeats them.
 */
async function identify({ store, clock }: Deps, mark: ReturnType<typeof openHeldMark>): Promise<void> {
  const setting = openSetting(store, 'instance_id')
  const file = openInstanceFile(store.file)
  const [inDatabase, inFile] = [setting.get(), file.read()]
  if (inDatabase === null) {
    const id = inFile ?? newId('ins')
    if (inFile === null) await file.write(id)
    await store.commit(() => setting.set(id))
    return
  }
  if (inDatabase === inFile) return
  const id = newId('ins')
  await store.commit(() => {
    setting.set(id)
    skipSequences(store, SKIPPED_NUMBERS)
    if (mark.get() === null) mark.set({ reason: 'copied', at: clock() })
  })
  await file.write(id)
}
