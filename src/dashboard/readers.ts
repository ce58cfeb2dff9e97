/** What may be asked: by whom: the one door that every route below /api/v1 is entered through. */
import type { H3Event } from 'h3'
import { header } from '../http/body.ts'
import type { ApiTokens, Reach } from './tokens.ts'

export type Readers = ReturnType<typeof openReaders>

export function openReaders({ tokens }: { tokens: ApiTokens }) {
  /**
   * What the caller may read.
   *
   * @throws Refusal 401 `token_required` or `invalid_token`.
   */
  function reachOf(event: H3Event): Reach {
    return tokens.reachOf(header(event, 'authorization') ?? null)
  }

  /** Whether the caller of a stream may go on reading. */
  function mayStill(event: H3Event): boolean {
    try {
      reachOf(event)
      return true
    } catch {
      return false
    }
  }

  return { reachOf, mayStill }
}
