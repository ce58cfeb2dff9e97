/** Lists the kinds of channels. */
import type { ChannelKind } from './channel.ts'
import { discordAt } from './discord.ts'
import { email } from './email.ts'
import { googleChat } from './google_chat.ts'
import { gotify } from './gotify.ts'
import { json } from './json.ts'
import { mattermost } from './mattermost.ts'
import { ntfy } from './ntfy.ts'
import { pushover } from './pushover.ts'
import { slackAt } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'
import { WEB_PUSH, webPush } from './web_push/web_push.ts'

type AnyKind = ChannelKind<Record<string, unknown>, object>

/** Each kind receives only settings that its own schemas accepted. */
const KINDS = [
  ntfy,
  telegram,
  slackAt(null),
  discordAt(null),
  mattermost,
  teams,
  googleChat,
  pushover,
  gotify,
  email,
  json,
  webPush,
] as unknown as readonly AnyKind[]

/** The names of the kinds that a person adds. A device is added by itself. */
export const KIND_NAMES: readonly string[] = KINDS.map(({ kind }) => kind).filter((kind) => kind !== WEB_PUSH)

/** The kind with this name; null if there is none. */
export const findKind = (name: string): AnyKind | null => KINDS.find(({ kind }) => kind === name) ?? null

/** The kind with this name. @throws Error if there is none. */
export function kindOf(name: string): AnyKind {
  const kind = findKind(name)
  if (kind === null) throw new Error(`there is no kind of channel ${name}`)
  return kind
}
