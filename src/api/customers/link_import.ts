/** `/api/v1/links/import`: imports which purchase belongs to which user, for the owner’s backend. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Keys } from '../../apps/keys.ts'
import type { Attribution } from '../../attribution/attribution.ts'
import type { Erasures } from '../../attribution/erasure/erasure.ts'
import { openJudgement } from '../../attribution/importing/judgement.ts'
import { openLinkImport } from '../../attribution/importing/link_import.ts'
import { clientAddress } from '../../http/addresses.ts'
import { header, readJson } from '../../http/body/body.ts'
import { jsonSchema } from '../../http/documented.ts'
import { type Access, defineRoute, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'
import { secretKeyOf } from './erasures.ts'

const MAX_ROWS = 1_000

/** A row is checked when it is imported, so that one invalid row does not refuse the others. */
const AnyRow = v.pipe(
  v.unknown(),
  jsonSchema({
    type: 'object',
    required: ['app', 'app_user_id', 'original_transaction_id'],
    properties: {
      app: { type: 'string', description: 'The bundle id of a connected app' },
      app_user_id: { type: 'string', description: 'As in `identify`' },
      original_transaction_id: { type: 'string', description: 'Apple’s original transaction id' },
      attributes: {
        type: ['object', 'null'],
        description: 'Attributes of the user, merged as in `identify`',
      },
    },
  }),
)

const ImportBody = v.object({
  dry_run: v.optional(v.pipe(v.boolean(), v.description('Count only; nothing is stored')), false),
  links: v.pipe(
    v.array(AnyRow),
    v.minLength(1, 'must not be empty'),
    v.maxLength(MAX_ROWS, `must have at most ${MAX_ROWS} rows; send several requests`),
    v.description(
      `1 to ${MAX_ROWS} rows. A row that is invalid is listed in \`faults\`; the others are imported`,
    ),
  ),
})

const rows = (text: string) => v.pipe(v.number(), v.description(text))
const ImportAnswer = v.object({
  dry_run: v.boolean(),
  linked: rows('Purchases that belonged to no user'),
  moved: rows('Purchases that belonged to another user'),
  unchanged: rows('Purchases that belonged to this user'),
  refused: rows('Rows in `faults`'),
  faults: v.array(
    v.object({
      row: v.pipe(v.number(), v.description('The index in `links`, from 0')),
      code: v.pipe(v.string(), v.description('invalid_request, unknown_app or forgotten')),
      message: v.string(),
    }),
  ),
})

type Deps = {
  store: Store
  keys: Keys
  apps: Apps
  auth: Auth
  audit: Audit
  attribution: Attribution
  erasures: Erasures
  limits: { apple_body_bytes: number }
}

/** The bearer of a secret key, or the owner after a recent password entry, whose import may name every app. */
type Importer = { id: string; organization_id: string | null }

export function linkImportRoutes(deps: Deps): Route[] {
  const { store, keys, auth, audit, limits } = deps
  const linkImport = openLinkImport(deps)
  const access: Access<Importer> = {
    security: ['secret_key', 'session'],
    refusals: {
      401: 'credential_required, invalid_key, sign_in_required',
      403: 'secret_key_required, not_for_guests, cross_site, reauthentication_required',
    },
    admit(event) {
      const authorization = header(event, 'authorization')
      if (authorization !== undefined || auth.cookieCaller(event) === null)
        return secretKeyOf(keys, authorization ?? null)
      auth.freshOwner.admit(event)
      return { id: 'owner', organization_id: null }
    },
  }

  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/links/import',
      tag: 'Customers',
      summary: 'Imports which purchase belongs to which user, up to 1,000 rows',
      description:
        'Each row counts as an `attribute` call with a secret key, and as an `identify` call if it has attributes. It sends no webhook and does not count in the rate limit. Idempotent.',
      access,
      body: ImportBody,
      read_body: (event) => readJson(event, limits.apple_body_bytes),
      answers: { 200: { description: 'All rows are on disk', schema: ImportAnswer } },
      async handler({ event, caller, body: { dry_run, links } }) {
        store.assertFreeSpace()
        const { id: actor, organization_id } = caller
        const outcome = dry_run
          ? openJudgement()(links, linkImport.judge(links, { organization_id }))
          : await linkImport.run(links, { organization_id })
        const { linked, moved, refused } = outcome
        if (!dry_run)
          await store.commit(() =>
            audit.note({
              actor,
              address: clientAddress(event),
              action: 'links.imported',
              detail: `${linked} linked, ${moved} moved, ${refused} refused`,
            }),
          )
        return { dry_run, ...outcome }
      },
    }),
  ]
}
