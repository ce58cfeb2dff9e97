/** The interface of a source of exchange rates. */
import type { Quote } from './judging.ts'
import type { Span } from './series.ts'

export type Source = {
  /** The name that is stored with its rates. */
  name: string
  /**
   * The rates that the source has of these currencies in a span of at most a year.
   *
   * @throws SourceFault if the request fails or the response is unusable; the signal's reason when aborted.
   */
  fetchQuotes(span: Span, currencies: readonly string[], signal: AbortSignal): Promise<Quote[]>
}
