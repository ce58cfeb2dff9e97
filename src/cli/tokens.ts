/** The command `windfall tokens`: read-only API tokens for scripts and programs. */
import { defineCommand } from 'citty'
import type { ApiToken } from '../access/tokens.ts'
import { Refusal } from '../errors.ts'
import { commandName } from '../program/form.ts'
import { columns, configArg, instantText, organizationArg, sendVerb } from './instance/instance.ts'
import { print, printError, setResult } from './instance/output.ts'

const DAY_MS = 86_400_000

const create = defineCommand({
  meta: { name: 'create', description: 'Create a read token; it is shown only once' },
  args: {
    label: {
      type: 'string',
      default: 'made by hand',
      valueHint: 'TEXT',
      description: 'A name for the token',
    },
    app: {
      type: 'string',
      valueHint: 'BUNDLES',
      description: 'Only these apps (comma-separated bundle ids)',
    },
    days: {
      type: 'string',
      valueHint: 'DAYS',
      description: 'Days until it expires; never expires if omitted',
    },
    annotate: { type: 'boolean', description: 'Allow the token to write annotations as well' },
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
        can_annotate: args.annotate ?? false,
        valid_ms: args.days === undefined ? null : parseDaysAsMs(args.days),
      },
    )
    print(`${id}  ${token}`)
    const rights = args.annotate ? `${reads} and writes annotations` : reads
    printError(`The token reads ${rights}. It is shown only once.`)
  },
})

function parseDaysAsMs(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) > 0) return Number(text) * DAY_MS
  throw new Refusal(400, 'invalid_request', `--days must be a positive whole number, not ${text}`)
}

const list = defineCommand({
  meta: { name: 'list', description: 'List all tokens' },
  args: configArg,
  async run({ args }) {
    const tokens = await sendVerb<(ApiToken & { reads: string })[]>(args.config, 'tokens.list', {})
    setResult({ tokens })
    if (tokens.length === 0) return print(`There are no tokens yet; run: ${commandName} tokens create`)
    const header = ['id', 'token', 'reads', 'label', 'created', 'last used', 'state']
    const rows = tokens.map((token) => {
      const times = [instantText(token.created_at), instantText(token.used_at)]
      return [token.id, `wf_…${token.hint}`, token.reads, token.label, ...times, stateText(token)]
    })
    print(columns([header, ...rows]))
  },
})

function stateText(token: ApiToken): string {
  if (token.revoked_at !== null) return `revoked ${instantText(token.revoked_at)}`
  return token.expires_at === null ? 'in use' : `until ${instantText(token.expires_at)}`
}

const revoke = defineCommand({
  meta: { name: 'revoke', description: 'Revoke a token immediately' },
  args: {
    id: { type: 'positional', required: true, description: 'Id of the token, from `tokens list`' },
    ...configArg,
  },
  async run({ args }) {
    const token = await sendVerb<ApiToken>(args.config, 'tokens.revoke', { id: args.id })
    print(`${token.id} is revoked.`)
  },
})

export const tokensCommand = defineCommand({
  meta: { name: 'tokens', description: 'Create, list and revoke API tokens' },
  subCommands: { create, list, revoke },
})
