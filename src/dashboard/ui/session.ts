/** Who is looking: the owner, a guest with a share link, nobody yet. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

export type Session = {
  state: 'setup' | 'signed_out' | 'owner' | 'guest'
  reach: { organization_id: string | null; apps: string[] | null } | null
  /** A guest sees money in this form alone. */
  basis: 'gross' | 'proceeds' | null
  /** The password was given within the last quarter of an hour. */
  fresh: boolean
  /** Over plain http, with everybody on the way able to read along. */
  insecure: boolean
  expires_at: number | null
}

export const SessionContext = createContext<Session>({
  state: 'signed_out',
  reach: null,
  basis: null,
  fresh: false,
  insecure: false,
  expires_at: null,
})
export const useSession = (): Session => useContext(SessionContext)
