/** The dialogs that add, change and remove a rule. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { type Problem, write } from '../../../http.ts'
import { Confirm, Dialog, useMutation } from '../../../parts/dialog.tsx'
import { ErrorMessage } from '../../../parts/error_message.tsx'
import { sentence } from '../../../words.ts'
import { OrganizationPick } from '../../organization_pick.tsx'
import { useSettings } from '../../settings_queries.ts'
import { RULES_PATH, type Rule, refreshAlerts, rulePath, type Template } from '../alert_queries.ts'
import { draftOf, fieldsOf, type RuleDraft, settingsOf } from './rule_draft.ts'
import { RuleFields } from './rule_fields.tsx'
import { RulePreview } from './rule_preview.tsx'

/** The errors of a refused request by path. */
function errorsOf(problem: Problem | null): Record<string, string> {
  if (problem === null) return {}
  const errors = Object.fromEntries(
    problem.errors.map(({ path, message }) => [
      path,
      sentence(`It ${message.replace(/^Invalid/, 'is an invalid')}.`),
    ]),
  )
  return problem.code === 'name_taken' ? { ...errors, name: problem.message } : errors
}

type PickProps = { templates: readonly Template[]; value: string; onPick: (name: string) => void }
const TemplatePick = ({ templates, value, onPick }: PickProps): JSX.Element => (
  <label class="field">
    <span>Report</span>
    <select class="select" value={value} onChange={(event) => onPick(event.currentTarget.value)}>
      {templates.map(({ name, title }) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </select>
  </label>
)

type FormProps = {
  title: string
  verb: string
  initial: RuleDraft
  templates: readonly Template[]
  isNew: boolean
  submit: (draft: RuleDraft) => Promise<void>
  onClose: () => void
}

function RuleForm({
  title,
  verb,
  initial,
  templates,
  isNew,
  submit,
  onClose,
}: FormProps): JSX.Element | null {
  const [draft, setDraft] = useState(initial)
  const { run, isBusy, failure } = useMutation(() => submit(draft))
  const change = (changes: Partial<RuleDraft>): void => setDraft((before) => ({ ...before, ...changes }))
  const template = templates.find(({ name }) => name === draft.template)
  if (!template) return null
  const errors = errorsOf(failure)

  function pickTemplate(name: string): void {
    const picked = templates.find((one) => one.name === name)
    if (!picked) return
    const { organization_id, channels } = draft
    const { settings, title: label } = picked
    setDraft(draftOf({ organization_id, channels, template: name, name: label, settings }))
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
      >
        {isNew && <TemplatePick templates={templates} value={draft.template} onPick={pickTemplate} />}
        <p class="small quiet">{template.about}</p>
        {isNew && (
          <OrganizationPick
            value={draft.organization_id}
            onPick={(organization_id) => change({ organization_id, apps: null, channels: null })}
          />
        )}
        <RuleFields draft={draft} template={template} errors={errors} change={change} />
        {fieldsOf(template).filters && <RulePreview draft={draft} />}
        <ErrorMessage message={failure?.message ?? null} />
        <button type="submit" class="button main" disabled={isBusy}>
          {verb}
        </button>
      </form>
    </Dialog>
  )
}

type AddProps = { templates: readonly Template[]; onClose: () => void }
export function AddRule({ templates, onClose }: AddProps): JSX.Element | null {
  const organizations = useSettings().data?.organizations ?? []
  const [first] = templates
  if (!first) return null
  const { name: template, title: name, settings } = first
  const organization_id = organizations[0]?.id ?? null
  return (
    <RuleForm
      title="Add rule"
      verb="Add rule"
      initial={draftOf({ organization_id, template, name, settings, channels: null })}
      templates={templates}
      isNew
      submit={async (draft) => {
        await write<Rule>('POST', RULES_PATH, {
          ...(draft.organization_id !== null && { organization_id: draft.organization_id }),
          name: draft.name.trim(),
          template: draft.template,
          settings: settingsOf(draft),
          channels: draft.channels,
        })
        await refreshAlerts()
        onClose()
      }}
      onClose={onClose}
    />
  )
}

type RuleProps = { rule: Rule; onClose: () => void }
export const EditRule = ({
  rule,
  templates,
  onClose,
}: RuleProps & { templates: readonly Template[] }): JSX.Element => (
  <RuleForm
    title={`Edit “${rule.name}”`}
    verb="Save"
    initial={draftOf(rule)}
    templates={templates}
    isNew={false}
    submit={async (draft) => {
      const body = { name: draft.name.trim(), settings: settingsOf(draft), channels: draft.channels }
      await write<Rule>('PATCH', rulePath(rule.id), body)
      await refreshAlerts()
      onClose()
    }}
    onClose={onClose}
  />
)

export const RemoveRule = ({ rule, onClose }: RuleProps): JSX.Element => (
  <Confirm
    title={`Remove “${rule.name}”`}
    verb="Remove"
    onClose={onClose}
    action={async () => {
      await write('DELETE', rulePath(rule.id))
      await refreshAlerts()
    }}
  >
    <p>It reports nothing more. Its messages stay in the history.</p>
  </Confirm>
)
