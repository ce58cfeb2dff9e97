/** Who is looking: the owner, a guest with a share link, nobody yet. */

import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { SessionAnswer } from '../owner/standing.ts'

export type Session = InferOutput<typeof SessionAnswer>

export const SessionContext = createContext<Session>({
  state: 'signed_out',
  reach: null,
  basis: null,
  fresh: false,
  fresh_until: null,
  insecure: false,
  expires_at: null,
})
export const useSession = (): Session => useContext(SessionContext)
