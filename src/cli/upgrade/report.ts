/** Prints the progress and the outcome of an upgrade. */
import { print, setResult } from '../instance/output.ts'

/** The names of the six steps. */
const STEPS = ['check', 'backup', 'rehearsal', 'switch', 'wait', 'go back'] as const

/** How an upgrade ended. */
export type Outcome =
  | { outcome: 'upgraded'; from: string; to: string }
  | { outcome: 'unchanged'; from: string; to: string }
  | { outcome: 'went_back'; from: string; to: string; reason: string; database: string | null }
  | { outcome: 'by_hand'; from: string; to: string; commands: string[] }
  | {
      outcome: 'undecided'
      /** Why nothing was restored: writes were acknowledged, or no copy from before the migration was found. */
      why: 'acknowledged' | 'no_copy'
      from: string
      to: string
      reason: string
      database: string
      backup: string | null
      keep: string[]
      go_back: string[]
    }

export type Report = ReturnType<typeof openReport>

export function openReport() {
  const steps: { step: number; name: string; text: string }[] = []

  /** Prints what step `number` (1 to 6) does or found. */
  function step(number: number, text: string): void {
    const name = STEPS[number - 1] ?? ''
    steps.push({ step: number, name, text })
    print(`${number}/6  ${name.padEnd(9)}  ${text}`)
  }

  function outcome(result: Outcome): void {
    setResult({ ...result, steps })
    print(textOf(result).join('\n'))
  }

  return { step, outcome }
}

function textOf(result: Outcome): string[] {
  const { from, to } = result
  if (result.outcome === 'unchanged') return [`Windfall ${to} is installed and runs already.`]
  if (result.outcome === 'upgraded') return ['', `Upgraded from ${from} to ${to}.`]
  if (result.outcome === 'by_hand')
    return ['', 'No systemd service runs this program. Go on by hand:', ...indented(result.commands)]
  if (result.outcome === 'went_back')
    return [
      '',
      `Windfall ${to} did not start: ${result.reason}`,
      `Windfall ${from} serves again, and nothing that was stored is lost.`,
      ...(result.database === null
        ? []
        : [
            `The database that ${to} had migrated is ${result.database}. Delete it when you no longer need it.`,
          ]),
    ]
  return [
    '',
    `Windfall ${to} failed, and is stopped: ${result.reason}`,
    result.why === 'acknowledged'
      ? 'Writes since the migration were acknowledged, so nothing was restored. Decide between two files:'
      : 'The copy from before the migration was not found, so nothing was restored. Decide between two files:',
    `  ${result.database}  has everything, in the form of ${to}`,
    `  ${result.backup ?? 'the newest backup'}  is from before the migration`,
    '',
    `To keep everything and stay with ${to}, repair the cause, then:`,
    ...indented(result.keep),
    `To go back to ${from} and lose what was stored since:`,
    ...indented(result.go_back),
  ]
}

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`)
