/** Answers each question of `windfall connect` from a command-line option or by a prompt. */
import { Refusal } from '../../errors.ts'
import type { Prompt } from './prompt.ts'

/** The command-line options, by name. */
export type Flags = Partial<Record<FlagName, string>>
export type FlagName =
  | 'connect-key'
  | 'connect-key-id'
  | 'issuer'
  | 'vendor'
  | 'purchase-key'
  | 'purchase-key-id'
  | 'purchase-issuer'
  | 'organization'

export type Answers = ReturnType<typeof openAnswers>

/** Printed whenever the command ends before it has written a file. */
export const NOTHING_WRITTEN = 'Nothing was written.'

/** The answer if there is no such key, id or number. */
export const NONE = 'none'

export function openAnswers({
  prompt,
  flags,
  interactive,
}: {
  prompt: Prompt
  flags: Flags
  interactive: boolean
}) {
  const usedOptions = new Set<FlagName>()
  /** The value that was entered in place of “yes” in `afterProblem`. It answers the next question. */
  let enteredEarly: string | null = null

  /**
   * The answer to a question; null for “none”. The first time, the command-line option answers the question. Later, or
   * without the option, the person is prompted. `fallback` is the answer of an empty line.
   *
   * @throws Refusal 400 `option_needed` if there is neither an answer nor a terminal.
   */
  async function get(
    name: FlagName,
    question: string,
    fallback: string | null = null,
  ): Promise<string | null> {
    const option = usedOptions.has(name) ? undefined : flags[name]
    usedOptions.add(name)
    const entered = enteredEarly
    enteredEarly = null
    const answer =
      option ?? entered ?? (interactive ? await prompt.ask(`   ${question}`, fallback) : fallback)
    if (answer === null) throw new Refusal(400, 'option_needed', `--${name} is required`)
    return answer === NONE || answer === '' ? null : answer
  }

  /**
   * Prints a problem with an answer. Prompts for another answer or, if `canKeep`, whether to keep this one.
   *
   * @throws Refusal 400 `not_connected` if the person declines every prompt, or if there is no terminal.
   */
  async function afterProblem(problem: string, canKeep: boolean): Promise<'retry' | 'keep'> {
    if (!interactive) throw new Refusal(400, 'not_connected', problem)
    prompt.print(`   ✗ ${problem}`)
    const reply = await prompt.confirmOrEnter('   Enter another?')
    if (typeof reply === 'string') enteredEarly = reply
    if (reply !== false) return 'retry'
    if (canKeep && (await prompt.confirm('   Continue with it anyway?', false))) return 'keep'
    throw new Refusal(400, 'not_connected', NOTHING_WRITTEN)
  }

  return { get, afterProblem, print: prompt.print }
}
