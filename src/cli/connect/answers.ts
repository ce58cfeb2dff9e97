/** The command `windfall connect`: what it asks for, answered by an option or in the conversation. */
import { Refusal } from '../../errors.ts'
import type { Prompt } from './prompt.ts'

/** What can be said on the command line, by the name of the option. */
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

/** How every end before the end is told. */
export const NOTHING_WRITTEN = 'Nothing was written.'

/** The word for having none of something. */
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
  /** What was typed instead of yes. */
  let waiting: string | null = null

  /**
   * The answer to a question: the option where it was given and not yet refused, what is typed, or `fallback`; null
   * for “none”.
   *
   * @throws Refusal 400 `option_needed` where nobody can be asked.
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
    if (answer === null) throw new Refusal(400, 'option_needed', `--${name} is needed`)
    return answer === NONE || answer === '' ? null : answer
  }

  /**
   * Says what is wrong, and asks how to go on: with another answer, or (where `can_stay`) with this one all the same.
   *
   * @throws Refusal 400 `not_connected` for neither, and where nobody can be asked.
   */
  async function afterProblem(problem: string, canStay: boolean): Promise<'again' | 'stay'> {
    if (!interactive) throw new Refusal(400, 'not_connected', problem)
    prompt.print(`   ✗ ${problem}`)
    const another = await prompt.confirmOrGive('   Give another?')
    if (typeof another === 'string') waiting = another
    if (another !== false) return 'again'
    if (canStay && (await prompt.confirm('   Go on with it all the same?', false))) return 'stay'
    throw new Refusal(400, 'not_connected', NOTHING_WRITTEN)
  }

  return { get, afterProblem, say: prompt.print }
}
