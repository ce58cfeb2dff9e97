/** The command `windfall connect`: what it asks for, answered by an option or in the conversation. */
import { Refusal } from '../errors.ts'
import type { Talk } from './connect-talk.ts'

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

/** The word for having none of something. */
export const NONE = 'none'

export function openAnswers({
  talk,
  flags,
  interactive,
}: {
  talk: Talk
  flags: Flags
  interactive: boolean
}) {
  const used = new Set<FlagName>()

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
    const answer = given ?? (interactive ? await talk.ask(`   ${question}`, fallback) : fallback)
    if (answer === null) throw new Refusal(400, 'option_needed', `--${name} is needed`)
    return answer === NONE || answer === '' ? null : answer
  }

  /**
   * Says what is wrong, and asks how to go on: with another answer, or (where `can_stay`) with this one all the same.
   *
   * @throws Refusal 400 `not_connected` for neither, and where nobody can be asked.
   */
  async function goOnAfter(problem: string, can_stay: boolean): Promise<'again' | 'stay'> {
    if (!interactive) throw new Refusal(400, 'not_connected', `${problem}\nNothing was written.`)
    talk.say(`   ✗ ${problem}`)
    if (await talk.confirm('   Give another?', true)) return 'again'
    if (can_stay && (await talk.confirm('   Go on with it all the same?', false))) return 'stay'
    throw new Refusal(400, 'not_connected', 'Nothing was written.')
  }

  return { get, goOnAfter, say: talk.say }
}
