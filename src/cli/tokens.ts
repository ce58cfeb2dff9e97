/** The command `windfall tokens`: read-only access to the feed for scripts and machines. */
import { defineCommand } from 'citty'
import type { ApiToken } from '../access/tokens.ts'
import { Refusal } from '../errors.ts'
import {
  columns,
  configArg,
  organizationArg,
  print,
  printError,
  sendVerb,
  shownAt,
} from './instance/instance.ts'

const DAY_MS = 86_400_000

const create = defineCommand({
  meta: { name: 'create', description: 'Make a read token; it is shown this once' },
  args: {
    label: { type: 'string', default: 'made by hand', valueHint: 'TEXT', description: 'What it is for' },
    app: {
      type: 'string',
      valueHint: 'BUNDLES',
      description: 'Only these apps: bundle ids, separated by commas',
    },
    days: { type: 'string', valueHint: 'DAYS', description: 'How long it is valid; for ever without' },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { token, id, reads } = await sendVerb<ApiToken & { token: string; reads: string }>(
      args.config,
      'tokens.create',
      {
        organization: args.organization ?? null,
        apps: args.app === undefined ? null : args.app.split(','),
        label: args.label,
        valid_ms: args.days === undefined ? null : days(args.days),
      },
    )
    print(`${id}  ${token}`)
    printError(`It reads ${reads}. This is the only time it is shown.`)
  },
})

function days(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) > 0) return Number(text) * DAY_MS
  throw new Refusal(400, 'invalid_request', `--days takes a whole number of days; ${text} is none`)
}

const list = defineCommand({
  meta: { name: 'list', description: 'Show all tokens' },
  args: configArg,
  async run({ args }) {
    const tokens = await sendVerb<(ApiToken & { reads: string })[]>(args.config, 'tokens.list', {})
    if (tokens.length === 0) return print('There is no token yet: windfall tokens create')
    const head = ['id', 'token', 'reads', 'label', 'made', 'last used', 'state']
    const rows = tokens.map((token) => {
      const times = [shownAt(token.created_at), shownAt(token.used_at)]
      return [token.id, `wf_…${token.hint}`, token.reads, token.label, ...times, stateOf(token)]
    })
    print(columns([head, ...rows]))
  },
})

function stateOf(token: ApiToken): string {
  if (token.revoked_at !== null) return `revoked ${shownAt(token.revoked_at)}`
  return token.expires_at === null ? 'in use' : `until ${shownAt(token.expires_at)}`
}

const revoke = defineCommand({
  meta: { name: 'revoke', description: 'End a token at once' },
  args: {
    id: { type: 'positional', required: true, description: 'Id of the token, as `tokens list` shows it' },
    ...configArg,
  },
  async run({ args }) {
    const token = await sendVerb<ApiToken>(args.config, 'tokens.revoke', { id: args.id })
    print(`${token.id} is revoked.`)
  },
})

export const tokensCommand = defineCommand({
  meta: { name: 'tokens', description: 'Make, list and revoke read-only API tokens' },
  subCommands: { create, list, revoke },
})
