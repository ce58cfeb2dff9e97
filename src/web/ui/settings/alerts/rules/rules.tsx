/** Settings, Alerts: the rules. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../../http.ts'
import { lateDialog } from '../../../loading/late.tsx'
import { Card } from '../../../parts/card.tsx'
import { useMutation } from '../../../parts/dialog.tsx'
import { ErrorMessage } from '../../../parts/error_message.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { Empty, QueryView } from '../../../parts/query_view.tsx'
import { organizationName, useSettings } from '../../settings_queries.ts'
import { type Rule, refreshAlerts, rulePath, type Template, useChannels, useRules } from '../alert_queries.ts'
import { narrowedWords } from './rule_draft.ts'

const AddRule = lateDialog('Add rule', () => import('./rule_dialogs.tsx').then((module) => module.AddRule))
const EditRule = lateDialog('Edit rule', () => import('./rule_dialogs.tsx').then((module) => module.EditRule))
const RemoveRule = lateDialog('Remove rule', () =>
  import('./rule_dialogs.tsx').then((module) => module.RemoveRule),
)

type RowProps = { rule: Rule; templates: readonly Template[] }
function Row({ rule, templates }: RowProps): JSX.Element {
  const settings = useSettings().data
  const channels = useChannels().data?.channels ?? []
  const [dialog, setDialog] = useState<'edit' | 'remove' | null>(null)
  const { run, isBusy, problem } = useMutation(async () => {
    await write<Rule>('PATCH', rulePath(rule.id), { is_on: !rule.is_on })
    await refreshAlerts()
  })
  const isDeclared = rule.source !== 'dashboard'
  const narrowed = narrowedWords(rule, new Map(channels.map(({ id, name }) => [id, name])))
  const close = (): void => setDialog(null)
  return (
    <li class="alert-row">
      <div class="alert-words choices">
        <label>
          <input type="checkbox" checked={rule.is_on} disabled={isDeclared || isBusy} onClick={run} />
          <strong>{rule.name}</strong>
        </label>
        <div class="tiny quiet rule-about">
          {templates.find(({ name }) => name === rule.template)?.about}
          {narrowed !== '' && <div>{narrowed}</div>}
          {isDeclared && <div>declared in config.toml</div>}
          {(settings?.organizations.length ?? 0) > 1 && (
            <div>{organizationName(settings, rule.organization_id)}</div>
          )}
        </div>
        <ErrorMessage message={problem} />
      </div>
      {!isDeclared && (
        <div class="row">
          <button
            type="button"
            class="button"
            aria-label={`Edit ${rule.name}`}
            onClick={() => setDialog('edit')}
          >
            Edit
          </button>
          <button
            type="button"
            class="button plain icon"
            aria-label={`Remove ${rule.name}`}
            onClick={() => setDialog('remove')}
          >
            <Icon name="trash" />
          </button>
        </div>
      )}
      {dialog === 'edit' && <EditRule rule={rule} templates={templates} onClose={close} />}
      {dialog === 'remove' && <RemoveRule rule={rule} onClose={close} />}
    </li>
  )
}

export function Rules(): JSX.Element {
  const result = useRules()
  const [isAdding, setAdding] = useState(false)
  return (
    <Card
      title="Rules"
      tools={
        <button type="button" class="button" onClick={() => setAdding(true)}>
          <Icon name="plus" /> Add rule
        </button>
      }
    >
      <QueryView result={result} height={300}>
        {({ rules, templates }) =>
          rules.length === 0 ? (
            <Empty icon="filter" title="No rules yet">
              <p>
                The first channel brings the default rules: every sale, trials, refunds, milestones and what
                needs you.
              </p>
            </Empty>
          ) : (
            <ul class="plain-list">
              {rules.map((rule) => (
                <Row key={rule.id} rule={rule} templates={templates} />
              ))}
            </ul>
          )
        }
      </QueryView>
      {isAdding && result.data && (
        <AddRule templates={result.data.templates} onClose={() => setAdding(false)} />
      )}
    </Card>
  )
}
