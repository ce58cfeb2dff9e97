/** What the commands of webhooks share: answers of the server, arguments, and texts. */
import type { InferOutput } from 'valibot'
import type {
  CreatedEndpointAnswer,
  DeliveryAnswer,
  EndpointAnswer,
  EndpointsAnswer,
} from '../../api/forwarding/answers.ts'
import { openPrompt } from '../connect/prompt.ts'
import { instantText, plural, stripControls } from '../instance/instance.ts'

export type Endpoint = InferOutput<typeof EndpointAnswer>
export type Endpoints = InferOutput<typeof EndpointsAnswer>
export type Created = InferOutput<typeof CreatedEndpointAnswer>
export type Delivery = InferOutput<typeof DeliveryAnswer>

/** The argument that names an endpoint. */
export const nameArg = {
  name: {
    type: 'positional',
    required: true,
    description: 'Name or id of the endpoint, from `webhooks list`',
  },
} as const

/** Asks a question that is answered with no by default. */
export async function confirm(question: string): Promise<boolean> {
  const prompt = openPrompt({ input: process.stdin, output: process.stderr })
  try {
    return await prompt.confirm(question, false)
  } finally {
    prompt.close()
  }
}

/** The words of a list that is separated by commas; undefined if it is not given. */
export const listOf = (text: string | undefined): string[] | undefined =>
  text?.split(',').map((word) => word.trim())

/** The result of the last attempt: status, milliseconds, and the result as a sentence. */
export function resultText({ last_attempt: last }: Pick<Delivery, 'last_attempt'>): string {
  if (last === null) return 'not tried yet'
  const ms = last.ms === null ? null : `${last.ms} ms`
  return [last.status, ms, stripControls(last.words)].filter((part) => part !== null).join('  ')
}

/** The beginning of the receiver’s answer, without control characters. */
export const excerptOf = ({ attempt_log }: Pick<Delivery, 'attempt_log'>): string | null => {
  const excerpt = attempt_log.at(-1)?.excerpt ?? null
  return excerpt === null ? null : stripControls(excerpt)
}

/** How many events wait for an endpoint, and since when. */
export function waitingText({ health }: Pick<Endpoint, 'health'>): string {
  const { waiting, is_waiting_capped, oldest_waiting_at } = health
  if (waiting === 0) return 'No event waits'
  const count = `${is_waiting_capped ? 'More than ' : ''}${plural(waiting, 'event')}`
  return `${count} ${waiting === 1 ? 'waits' : 'wait'}, the oldest since ${instantText(oldest_waiting_at)}`
}
