/** What a source of exchange rates can do. */
import type { Quote } from './judging.ts'
import type { Span } from './series.ts'

export type Source = {
  /** As it stands beside each rate that came from it. */
  name: string
  /**
   * Rates of these currencies in a span of at most a year, as far as the source has them.
   *
   * @throws SourceFault in words when it cannot be asked or believed; the signal's reason when that was aborted.
   */
  ask(span: Span, currencies: readonly string[], signal: AbortSignal): Promise<Quote[]>
}
