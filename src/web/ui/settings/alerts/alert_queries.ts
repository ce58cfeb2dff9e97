/** Queries of alerts: channels, rules, settings and messages. Owner only. */
import type { InferOutput } from 'valibot'
import type { ChannelAnswer, ChannelTestAnswer } from '../../../../api/alerts/channels.ts'
import type { AlertSettingsAnswer, MessagesAnswer } from '../../../../api/alerts/history.ts'
import type { PreviewAnswer, RuleAnswer, RulesAnswer } from '../../../../api/alerts/rules.ts'
import { type Paged, usePagedQuery } from '../../paged_queries.ts'
import { invalidate, type QueryResult, useQuery } from '../../queries.ts'

export type Channel = InferOutput<typeof ChannelAnswer>
export type ChannelTest = InferOutput<typeof ChannelTestAnswer>
export type Rule = InferOutput<typeof RuleAnswer>
type Rules = InferOutput<typeof RulesAnswer>
export type Template = Rules['templates'][number]
export type Preview = InferOutput<typeof PreviewAnswer>
export type AlertSettings = InferOutput<typeof AlertSettingsAnswer>['organizations'][number]
type Messages = InferOutput<typeof MessagesAnswer>
export type Message = Messages['messages'][number]

const ALERTS_PATH = '/api/v1/alerts'
export const CHANNELS_PATH = `${ALERTS_PATH}/channels`
export const RULES_PATH = `${ALERTS_PATH}/rules`
export const SETTINGS_PATH = `${ALERTS_PATH}/settings`

/** The path of a channel, or of one of its actions. */
export const channelPath = (id: string, action?: string): string =>
  `${CHANNELS_PATH}/${encodeURIComponent(id)}${action === undefined ? '' : `/${action}`}`

/** The path of a rule. */
export const rulePath = (id: string): string => `${RULES_PATH}/${encodeURIComponent(id)}`

const LIST_MS = 10_000

export const useChannels = (): QueryResult<{ channels: Channel[] }> =>
  useQuery<{ channels: Channel[] }>(CHANNELS_PATH, {}, { interval_ms: LIST_MS })
export const useRules = (): QueryResult<Rules> => useQuery<Rules>(RULES_PATH)
export const useAlertSettings = (): QueryResult<{ organizations: AlertSettings[] }> =>
  useQuery<{ organizations: AlertSettings[] }>(SETTINGS_PATH, {}, { interval_ms: LIST_MS })
export const useMessages = (): Paged<Messages> =>
  usePagedQuery<Messages>(`${ALERTS_PATH}/messages`, { limit: 25 }, 'before', { interval_ms: LIST_MS })

/** Reads everything about alerts again, after a change. */
export const refreshAlerts = (): Promise<void> => invalidate(ALERTS_PATH)
