/** The exported tables of users and of the purchases that are linked to them. */
import { columnsOf, type ExportTable, text } from './table.ts'

// The columns of the tables, by the aliases of `from`.
const h = columnsOf('h')
const l = columnsOf('l')
const u = columnsOf('u')

/** Until an erasure has scrubbed them, links can still name its user. */
const namesNoErased = (appId: string, columns: readonly string[]): string => `not exists (
  select 1 from main.erasures where finished_at is null and erasures.app_id = ${appId}
    and erasures.app_user_id in (${columns.join(', ')}))`

const users: ExportTable = {
  name: 'users',
  about:
    'The users of your apps, from identify calls. The times of calls are days, so that not each call changes a row.',
  from: 'main.users u',
  where: null,
  columns: [
    u.integer('id', 'A number that is never used again; it names the user after the erasure'),
    u.text('app_id', 'The app'),
    u.text('app_user_id', 'Your id of the user'),
    u.text('platform', 'The platform of the last call that named one'),
    u.text('os_version', 'The version of its system'),
    u.text('device_model', 'Its model'),
    u.text('locale', 'Its locale'),
    u.text('attributes', 'JSON: each attribute’s value in the last call that set it'),
    u.text('proved_attributes', 'JSON: the same for calls that were proved'),
    u.text('verification', 'The label of the last call: `verified` or `unverified`'),
    u.text('unattested', 'Why the last call was not attested, as the SDK states it'),
    text(
      'proved_on',
      "strftime('%Y-%m-%d', u.proved_at / 1000, 'unixepoch')",
      'The UTC day of the last proved call',
    ),
    text('seen_on', "strftime('%Y-%m-%d', u.seen_at / 1000, 'unixepoch')", 'The UTC day of the last call'),
    u.integer('created_at', 'When the user was first identified'),
  ],
  key: ['id'],
  page: ['u.id'],
  app: 'u.app_id',
  organization: null,
  tracking: { kind: 'logged', source: 'users', key: ['id'] },
}

const links: ExportTable = {
  name: 'links',
  about: 'Which user each purchase belongs to.',
  from: 'main.links l',
  where: namesNoErased('l.app_id', ['l.app_user_id', 'l.proved_app_user_id']),
  columns: [
    l.integer('id', 'The number of the link; its id in the API is `lnk_` and this number'),
    l.text('app_id', 'The app'),
    l.text('store', '`apple` or `google`'),
    l.text('transaction_id', 'The original transaction id, or the Play purchase token'),
    l.text('platform', 'The platform of the last call that named one'),
    l.text('app_user_id', 'The user'),
    l.text('proved_app_user_id', 'The user whom the last proved call named'),
    l.text('proofs', 'JSON: the proofs of that call, of `purchase`, `device` and `server`'),
    l.text('credential', 'What the call was made with that last changed the link'),
    l.text('product_id', 'The product that the app named'),
    l.text('unattested', 'Why the last call was not attested'),
    l.integer('created_at', 'When the link was made'),
    l.integer('updated_at', 'When it last changed'),
  ],
  key: ['id'],
  page: ['l.id'],
  app: 'l.app_id',
  organization: null,
  tracking: { kind: 'logged', source: 'links', key: ['id'] },
}

const moves: ExportTable = {
  name: 'link_moves',
  about: 'Every change of a link after its first call. A user of null was erased.',
  from: 'main.link_history h join main.links l on l.id = h.link_id',
  where: namesNoErased('l.app_id', [
    'h.from_app_user_id',
    'h.to_app_user_id',
    'h.from_proved_app_user_id',
    'h.to_proved_app_user_id',
  ]),
  columns: [
    h.integer('id', 'The number of the change; the owner can undo it with the id `mov_` and this number'),
    l.text('app_id', 'The app'),
    h.integer('link_id', 'The link'),
    h.text('from_app_user_id', 'The user before'),
    h.text('to_app_user_id', 'The user after'),
    h.text('from_proved_app_user_id', 'The proved user before'),
    h.text('to_proved_app_user_id', 'The proved user after'),
    h.text('from_proofs', 'JSON: the proofs before'),
    h.text('to_proofs', 'JSON: the proofs after'),
    h.text('from_credential', 'The credential before'),
    h.text('to_credential', 'The credential after; `owner` if the owner undid a change'),
    h.integer('moved_at', 'When it changed'),
  ],
  key: ['id'],
  page: ['h.id'],
  app: 'l.app_id',
  organization: null,
  tracking: { kind: 'logged', source: 'link_history', key: ['id'] },
}

export const PEOPLE_TABLES = [users, links, moves]
