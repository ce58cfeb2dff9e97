/** The form of a channel: its values, the request bodies, and the errors of the server by field. */
import type { Problem } from '../../../http.ts'
import { sentence } from '../../../words.ts'
import type { Channel } from '../alert_queries.ts'
import type { KindField, KindForm } from './channel_kinds.ts'

/** `values` are the texts of the fields, by `keyOf`. */
export type ChannelDraft = {
  organization_id: string | null
  name: string
  values: Readonly<Record<string, string>>
  hides_amounts: boolean
  digests: readonly string[]
}

const TOPIC_CHARACTERS = 12
/** Without characters that look alike, because people type a topic into another device. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

export const keyOf = ({ where, name }: Pick<KindField, 'where' | 'name'>): string => `${where}.${name}`

/** Everyone who knows a topic of ntfy can read it, so the form suggests one that nobody can guess. */
function suggestedTopic(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(TOPIC_CHARACTERS))
  return `windfall-${[...bytes].map((byte) => ALPHABET[byte % ALPHABET.length]).join('')}`
}

/** The draft of a new channel. */
export const emptyDraft = ({ kind, title }: KindForm, organization_id: string | null): ChannelDraft => ({
  organization_id,
  name: title,
  values: kind === 'ntfy' ? { 'settings.topic': suggestedTopic() } : {},
  hides_amounts: false,
  digests: [],
})

/** The draft that shows a stored channel. Its secrets are not known. */
export const draftOf = ({
  organization_id,
  name,
  settings,
  hides_amounts,
  digests,
}: Channel): ChannelDraft => ({
  organization_id,
  name,
  values: Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [`settings.${key}`, String(value)]),
  ),
  hides_amounts,
  digests,
})

/** The entered values of one place, by name. */
function valuesAt(where: KindField['where'], { fields }: KindForm, { values }: ChannelDraft) {
  const entries = fields.flatMap((field): [string, string | number][] => {
    const text = values[keyOf(field)]?.trim() ?? ''
    if (field.where !== where || text === '') return []
    return [[field.name, field.isNumber ? Number(text) : text]]
  })
  return Object.fromEntries(entries)
}

/** The body that creates the channel. */
export const createBody = (form: KindForm, draft: ChannelDraft): object => ({
  ...(draft.organization_id !== null && { organization_id: draft.organization_id }),
  ...changeBody(form, draft),
  kind: form.kind,
})

/** The body that changes the channel. Secrets that are not entered stay. */
export function changeBody(form: KindForm, draft: ChannelDraft): object {
  const secrets = valuesAt('secrets', form, draft)
  return {
    name: draft.name.trim(),
    ...(form.fields.length > 0 && { settings: valuesAt('settings', form, draft) }),
    ...(Object.keys(secrets).length > 0 && { secrets }),
    hides_amounts: draft.hides_amounts,
    digests: draft.digests,
  }
}

/** The errors of a refused request by field. `other` belongs to no field. */
export function formProblem(
  problem: Problem | null,
  form: KindForm,
): { fields: Record<string, string>; other: string | null } {
  if (problem === null) return { fields: {}, other: null }
  const keys = [...form.fields.map(keyOf), 'name']
  const fields = Object.fromEntries(
    problem.errors
      .filter(({ path }) => keys.includes(path))
      .map(({ path, message }) => [path, sentence(`It ${message}.`)]),
  )
  if (problem.code === 'name_taken') fields.name = problem.message
  return { fields, other: Object.keys(fields).length === 0 ? problem.message : null }
}
