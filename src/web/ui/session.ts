/** The session: owner, guest or signed out. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { SessionAnswer } from '../../access/session_status.ts'

export type Session = InferOutput<typeof SessionAnswer>

export const SessionContext = createContext<Session>({
  state: 'signed_out',
  reach: null,
  basis: null,
  metrics: null,
  fresh: false,
  fresh_until: null,
  storage: 'ok',
  insecure: false,
  expires_at: null,
  passkeys: null,
  importing: null,
})
/** Explains why the database cannot be written; null if it can be. */
export function storageMessage(storage: Session['storage']): string | null {
  if (storage === 'ok') return null
  return {
    full: 'The server’s disk is full and nothing can be recorded. Free some space; Windfall resumes automatically.',
    damaged: 'The database is damaged. Stop Windfall and restore a backup.',
    failing: 'The database cannot be written. See the server log.',
    replaced:
      'The database file was replaced or deleted while Windfall was running. Run windfall backup FILE before you stop Windfall, then windfall restore FILE.',
  }[storage]
}

export const useSession = (): Session => useContext(SessionContext)
