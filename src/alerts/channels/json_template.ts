/** The body that the owner chooses for the JSON channel: a JSON object whose texts have placeholders such as `{{title}}`. */
import type { ChannelMessage } from './channel.ts'

/** What a placeholder can name. `token` is the secret of the channel. */
const NAMES = [
  'id',
  'tag',
  'title',
  'body',
  'url',
  'urgency',
  'is_payment',
  'at',
  'badge',
  'fields',
  'token',
] as const
type Name = (typeof NAMES)[number]
type Values = Readonly<Record<Name, unknown>>

const PLACEHOLDER = /\{\{\s*(\w+)\s*\}\}/g
const WHOLE = /^\{\{\s*(\w+)\s*\}\}$/

const isName = (text: string): text is Name => NAMES.some((name) => name === text)

/** The placeholders of a template, as they are named in it. */
const namesIn = (template: string): string[] =>
  [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name)

/** What is wrong with a template; null if it can be used. */
export function templateProblem(template: string): string | null {
  const unknown = namesIn(template).find((name) => !isName(name))
  if (unknown !== undefined) return `has no placeholder {{${unknown}}}; there are ${NAMES.join(', ')}`
  try {
    const problems: string[] = []
    const value: unknown = JSON.parse(template, (key, part: unknown) => {
      if (key.includes('{{'))
        problems.push(`has a placeholder in the name ${key.slice(0, 40)}; only texts can have them`)
      if (typeof part === 'string' && part.replace(PLACEHOLDER, '').includes('{{'))
        problems.push('has {{ without a placeholder that is closed, such as {{title}}')
      return part
    })
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (problems[0] ?? null) : 'must be a JSON object'
  } catch {
    return 'must be a JSON object, with placeholders in quotes such as {"message": "{{body}}"}'
  }
}

/** Whether a template has the secret of the channel, which is then not sent as a header. */
export const hasToken = (template: string): boolean => namesIn(template).includes('token')

/** The body of a message. A text that is one placeholder becomes its value, such as a number; in other texts it is text. */
export function filled(template: string, message: ChannelMessage, token: string | undefined): object {
  // Some services refuse a message without a text.
  const body = message.body === '' ? message.title : message.body
  const values: Values = { ...message, body, token: token ?? '' }
  const valueNamed = (name: string): unknown => (isName(name) ? values[name] : '')
  return JSON.parse(template, (_, value: unknown) => {
    if (typeof value !== 'string') return value
    const whole = WHOLE.exec(value)?.[1]
    if (whole !== undefined) return valueNamed(whole)
    return value.replace(PLACEHOLDER, (__, name: string) => textOf(valueNamed(name)))
  })
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
