/** The stored rules. All writing functions must run inside a unit of work. */
import type { Clock } from '../../clock.ts'
import { newId } from '../../ids.ts'
import type { Store } from '../../store/store.ts'
import { type RuleSettings, settingsOf, TEMPLATES, type TemplateName } from './templates.ts'

/** A rule. `channels`: ids of channels, null for all of the organization. `source`: dashboard or config. */
export type Rule = {
  id: string
  organization_id: string
  name: string
  template: TemplateName
  settings: RuleSettings
  channels: readonly string[] | null
  is_on: boolean
  source: string
  cursor: number
  created_at: number
}

type Row = Omit<Rule, 'settings' | 'channels' | 'is_on'> & {
  settings: string
  channels: string | null
  is_on: number
}

export type Rules = ReturnType<typeof openRules>

const COLUMNS = 'id, organization_id, name, template, settings, channels, is_on, source, cursor, created_at'

/** Opens the rules. */
export function openRules(store: Store, clock: Clock) {
  const all = store.prepare<[], Row>(
    `select ${COLUMNS} from alert_rules where deleted_at is null order by created_at, rowid`,
  )
  const upsert = store.prepare<Row>(`
    insert into alert_rules ( id,  organization_id,  name,  template,  settings,  channels,  is_on,  source,  cursor,  created_at)
    values                  (:id, :organization_id, :name, :template, :settings, :channels, :is_on, :source, :cursor, :created_at)
    on conflict (id) do update set name = excluded.name, template = excluded.template, settings = excluded.settings, channels = excluded.channels,
      is_on = excluded.is_on, source = excluded.source, cursor = excluded.cursor`)
  const remove = store.prepare<[number, string]>(
    'update alert_rules set deleted_at = ? where id = ? and deleted_at is null',
  )
  const move = store.prepare<{ id: string; cursor: number }>(
    'update alert_rules set cursor = max(cursor, :cursor) where id = :id',
  )
  const cached = store.cached(['alert_rules'], () => all.all().map(ruleOf))

  /** All rules, oldest first, or those of one organization. */
  const list = (organization_id: string | null = null): readonly Rule[] =>
    cached('').filter((rule) => organization_id === null || rule.organization_id === organization_id)

  const get = (id: string): Rule | null => cached('').find((rule) => rule.id === id) ?? null

  /** Adds or changes a rule. */
  function put(rule: Rule): void {
    const { settings, channels, is_on } = rule
    upsert.run({
      ...rule,
      settings: JSON.stringify(settings),
      channels: channels && JSON.stringify(channels),
      is_on: is_on ? 1 : 0,
    })
  }

  return {
    list,
    get,
    put,
    addDefaults: openDefaults(store, clock, put),
    /** Removes a rule. Its messages stay. */
    remove: (id: string): void => void remove.run(clock(), id),
    /** Stores that a rule has seen the events up to `cursor`. */
    move: (id: string, cursor: number): void => void move.run({ id, cursor }),
  }
}

/** Returns the function that adds the default rules. */
function openDefaults(store: Store, clock: Clock, put: (rule: Rule) => void) {
  const anyRule = store.prepare<[string], object>(
    'select 1 from alert_rules where organization_id = ? limit 1',
  )

  /** Adds the default rules to an organization that never had a rule. They begin after `cursor`. */
  return (organization_id: string, cursor: number): void => {
    if (anyRule.get(organization_id) !== undefined) return
    for (const { name: template, title: name } of TEMPLATES.filter(({ is_default }) => is_default))
      put({
        id: newId('alr'),
        organization_id,
        name,
        template,
        settings: settingsOf(template),
        channels: null,
        is_on: true,
        source: 'dashboard',
        cursor,
        created_at: clock(),
      })
  }
}

const ruleOf = ({ settings, channels, is_on, ...row }: Row): Rule => ({
  ...row,
  // A setting that a later version added has its default.
  settings: settingsOf(row.template, JSON.parse(settings)),
  channels: channels === null ? null : JSON.parse(channels),
  is_on: is_on === 1,
})
