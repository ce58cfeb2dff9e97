/** The questions of `windfall connect`, each answered by an option or in the conversation. */
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

/** What every early end prints. */
export const NOTHING_WRITTEN = 'Nothing was written.'

/** The answer for having none. */
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
  const used = new Set<FlagName>()
  /** What was entered instead of yes. */
  let waiting: string | null = null

  /**
   * Answers a question: with the option, unless it was refused before, with what is typed, or with `fallback`; null for
   * “none”.
   *
   * @throws Refusal 400 `option_needed` if there is no terminal.
   */
  async function get(
    name: FlagName,
    question: string,
    fallback: string | null = null,
  ): Promise<string | null> {
    const given = used.has(name) ? undefined : flags[name]
    used.add(name)
    const typed = waiting
    waiting = null
    const answer = given ?? typed ?? (interactive ? await prompt.ask(`   ${question}`, fallback) : fallback)
    if (answer === null) throw new Refusal(400, 'option_needed', `--${name} is required`)
    return answer === NONE || answer === '' ? null : answer
  }

  /**
   * Prints a problem and asks how to continue: with another answer, or (with `canStay`) with this one.
   *
   * @throws Refusal 400 `not_connected` for neither, or if there is no terminal.
   */
  async function afterProblem(problem: string, canStay: boolean): Promise<'again' | 'stay'> {
    if (!interactive) throw new Refusal(400, 'not_connected', problem)
    prompt.print(`   ✗ ${problem}`)
    const another = await prompt.confirmOrGive('   Enter another?')
    if (typeof another === 'string') waiting = another
    if (another !== false) return 'again'
    if (canStay && (await prompt.confirm('   Continue with it anyway?', false))) return 'stay'
    throw new Refusal(400, 'not_connected', NOTHING_WRITTEN)
  }

  return { get, afterProblem, say: prompt.print }
}
