/** Shows how far the demo has simulated its history. */

const REPORT_EVERY_MS = 10_000
const BAR_LENGTH = 30

type Span = { from: number; until: number }
type Output = { write(text: string): unknown; isTTY?: boolean }

/**
 * Shows the progress through `span`: on a terminal as a bar on one line, elsewhere as a line every ten seconds of
 * `readMs`.
 */
export function openSimulationProgress({ from, until }: Span, output: Output, readMs: () => number) {
  const isTerminal = output.isTTY === true
  let reported_ms = readMs()

  /** Shows that the history is simulated up to `at`. */
  function show(at: number): void {
    const fraction = Math.min(1, Math.max(0, (at - from) / (until - from)))
    const day = new Date(at).toISOString().slice(0, 10)
    if (isTerminal) {
      const bar = '█'.repeat(Math.round(fraction * BAR_LENGTH)).padEnd(BAR_LENGTH, '░')
      output.write(`\r  ${bar}  ${day}`)
    } else if (readMs() - reported_ms >= REPORT_EVERY_MS) {
      reported_ms = readMs()
      output.write(`  ${Math.floor(fraction * 100)}%, up to ${day}\n`)
    }
  }

  /** Removes the bar. */
  function end(): void {
    if (isTerminal) output.write('\r\u001b[2K')
  }

  return { show, end }
}
