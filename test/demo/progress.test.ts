import { expect, test } from 'vitest'
import { openSimulationProgress } from '../../src/cli/demo/progress.ts'

const SPAN = { from: Date.UTC(2024, 0, 1), until: Date.UTC(2026, 0, 1) }
const HALF = Date.UTC(2025, 0, 1)

function openOutput(isTTY: boolean) {
  const written: string[] = []
  let ms = 0
  const progress = openSimulationProgress(SPAN, { isTTY, write: (text) => written.push(text) }, () => ms)
  return { written, progress, wait: (more: number) => (ms += more) }
}

test('without a terminal, prints a line every ten seconds', () => {
  const { written, progress, wait } = openOutput(false)
  progress.show(SPAN.from)
  wait(9_999)
  progress.show(HALF)
  expect(written).toEqual([])
  wait(1)
  progress.show(HALF)
  wait(5_000)
  progress.show(HALF)
  wait(5_000)
  progress.show(SPAN.until)
  progress.end()
  expect(written).toEqual(['  50%, up to 2025-01-01\n', '  100%, up to 2026-01-01\n'])
})

test('on a terminal, redraws one line and removes it at the end', () => {
  const { written, progress } = openOutput(true)
  progress.show(HALF)
  progress.end()
  expect(written).toEqual([`\r  ${'█'.repeat(15)}${'░'.repeat(15)}  2025-01-01`, '\r\u001b[2K'])
})
