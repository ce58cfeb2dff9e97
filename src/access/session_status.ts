/** What may be asked: who is signed in, as every route that changes it answers. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Store } from '../store/store.ts'
import { FRESH_MS, type Readers } from './auth.ts'
import type { Owner } from './owner.ts'
import type { Doorway } from './session_cookie.ts'
import type { Sessions } from './sessions.ts'

export const SessionAnswer = v.object({
  state: v.picklist(['setup', 'signed_out', 'owner', 'guest']),
  reach: v.pipe(
    v.nullable(v.object({ organization_id: v.nullable(v.string()), apps: v.nullable(v.array(v.string())) })),
    v.description('What may be read: null within it is all; null while nobody is signed in'),
  ),
  basis: v.pipe(
    v.nullable(v.picklist(['gross', 'proceeds'])),
    v.description('Of a guest: the only basis that money is told in'),
  ),
  fresh: v.pipe(v.boolean(), v.description('The password was entered within the last fifteen minutes')),
  fresh_until: v.pipe(v.nullable(v.number()), v.description('Until when it counts as that')),
  storage: v.pipe(
    v.picklist(['ok', 'full', 'failing', 'damaged', 'replaced']),
    v.description('Whether the database can be written, or why not'),
  ),
  insecure: v.pipe(v.boolean(), v.description('Over plain http from another machine, as configured')),
  expires_at: v.pipe(v.nullable(v.number()), v.description('When the session is over unless it is used')),
})

type Deps = {
  store: Pick<Store, 'condition'>
  owner: Owner
  sessions: Sessions
  doorway: Doorway
  readers: Readers
}

export function openStanding({ store, owner, sessions, doorway, readers }: Deps) {
  /** How the caller of this request stands; after a sign-in, with the session it has just been given. */
  function standing(event: H3Event, caller = readers.signedIn(event)): v.InferOutput<typeof SessionAnswer> {
    const insecure = doorway.isInsecure(event)
    const storage = store.condition()
    if (caller === null) {
      const state = owner.password() === null ? 'setup' : 'signed_out'
      return { ...NOBODY, state, storage, insecure }
    }
    const { kind, reach, session } = caller
    const fresh = kind === 'owner' && readers.isFresh(session)
    const link = kind === 'guest' ? caller.link : null
    const expires_at = Math.min(sessions.overAt(session), link?.expires_at ?? Number.POSITIVE_INFINITY)
    const fresh_until = fresh ? session.confirmed_at + FRESH_MS : null
    const { organization_id } = reach
    const apps = reach.apps && [...reach.apps]
    return {
      state: kind,
      reach: { organization_id, apps },
      basis: link?.basis ?? null,
      fresh,
      fresh_until,
      storage,
      insecure,
      expires_at,
    }
  }

  return standing
}

const NOBODY = { reach: null, basis: null, fresh: false, fresh_until: null, expires_at: null }
