/** What the owner does with rules: add, change, remove. */
import type { Apps } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Feed } from '../../events/feed.ts'
import { newId } from '../../ids.ts'
import type { Channels } from '../channels/channels.ts'
import type { Rule, Rules } from '../rules/rules.ts'
import { type RuleSettings, settingsOf } from '../rules/templates.ts'
import { DECLARED } from './channels.ts'

/** What the owner enters. Settings that are not given have the template's defaults. */
type NewRule = Pick<Rule, 'organization_id' | 'name' | 'template' | 'channels' | 'is_on' | 'source'> & {
  settings: Partial<RuleSettings>
}
type RuleChanges = Partial<Pick<NewRule, 'name' | 'settings' | 'channels' | 'is_on'>>

const MAX_RULES = 100

type Deps = {
  clock: Clock
  feed: Pick<Feed, 'head'>
  rules: Rules
  channels: Pick<Channels, 'get'>
  apps: Pick<Apps, 'get'>
  /** The seq of the last event that a rule has read. */
  positionOf: (id: string) => number
}

/** Finds rules, and checks what they name. */
function openChecks({ rules, channels, apps }: Deps) {
  /** @throws Refusal 404 `unknown_rule`, 409 `declared_in_config` */
  function requireOwn(id: string): Rule {
    const rule = rules.get(id)
    if (rule === null) throw new Refusal(404, 'unknown_rule', `there is no rule ${id.slice(0, 40)}`)
    if (rule.source !== DECLARED) return rule
    throw new Refusal(409, 'declared_in_config', `${rule.name} is declared in config.toml; change it there`)
  }

  /**
   * Checks the name of a rule, and what it did not name before: a channel that was removed since then stays named.
   *
   * @throws Refusal 404 `unknown_channel`, 404 `unknown_app`, 409 `name_taken`
   */
  function assertValid(rule: Rule, before: Rule | null): void {
    const { organization_id, name, id } = rule
    if (rules.list(organization_id).some((other) => other.name === name && other.id !== id))
      throw new Refusal(409, 'name_taken', `another rule has the name ${name}`)
    const isOwn = (owned: { organization_id: string } | null) => owned?.organization_id === organization_id
    const isNew = (list: readonly string[] | null | undefined) => (one: string) => !list?.includes(one)
    const channel = rule.channels?.filter(isNew(before?.channels)).find((one) => !isOwn(channels.get(one)))
    if (channel !== undefined)
      throw new Refusal(404, 'unknown_channel', `there is no channel ${channel.slice(0, 40)}`)
    const app = rule.settings.apps?.filter(isNew(before?.settings.apps)).find((one) => !isOwn(apps.get(one)))
    if (app !== undefined) throw new Refusal(404, 'unknown_app', `no app has the id ${app.slice(0, 40)}`)
  }

  return { requireOwn, assertValid }
}

/** Opens the administration. All writing functions must run inside a unit of work. */
export function openRuleAdministration(deps: Deps) {
  const { clock, feed, rules, positionOf } = deps
  const { requireOwn, assertValid } = openChecks(deps)

  /**
   * Adds a rule, which begins with the next event.
   *
   * @throws Refusal 404 `unknown_channel`, 404 `unknown_app`, 409 `name_taken`, 409 `too_many_rules`.
   */
  function add({ settings, ...fields }: NewRule): Rule {
    if (rules.list(fields.organization_id).length >= MAX_RULES)
      throw new Refusal(
        409,
        'too_many_rules',
        `an organization has at most ${MAX_RULES} rules; remove one first`,
      )
    const rule: Rule = {
      ...fields,
      id: newId('alr'),
      settings: settingsOf(fields.template, settings),
      cursor: feed.head(),
      created_at: clock(),
    }
    assertValid(rule, null)
    rules.put(rule)
    return rule
  }

  /**
   * Changes a rule. One that is switched on begins with the next event.
   *
   * @throws Refusal as `add`, 404 `unknown_rule`, 409 `declared_in_config`.
   */
  function change(id: string, { settings, ...changes }: RuleChanges): Rule {
    const rule = requireOwn(id)
    const isSwitchedOn = changes.is_on === true && !rule.is_on
    const changed: Rule = {
      ...rule,
      ...changes,
      settings: { ...rule.settings, ...settings },
      // After a crash, what was read before the change is not read again with other filters.
      cursor: isSwitchedOn ? feed.head() : Math.max(rule.cursor, positionOf(id)),
    }
    assertValid(changed, rule)
    rules.put(changed)
    return changed
  }

  /** Removes a rule. Its messages stay in the history. @throws Refusal as `change` */
  function remove(id: string): Rule {
    const rule = requireOwn(id)
    rules.remove(id)
    return rule
  }

  return { add, change, remove }
}
