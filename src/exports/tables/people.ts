/** The exported tables of users and of the purchases that are linked to them. */
import { type ExportTable, integer, text } from './table.ts'

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
    integer('id', 'u.id', 'A number that is never used again; it names the user after the erasure'),
    text('app_id', 'u.app_id', 'The app'),
    text('app_user_id', 'u.app_user_id', 'Your id of the user'),
    text('platform', 'u.platform', 'The platform of the last call that named one'),
    text('os_version', 'u.os_version', 'The version of its system'),
    text('device_model', 'u.device_model', 'Its model'),
    text('locale', 'u.locale', 'Its locale'),
    text('attributes', 'u.attributes', 'JSON: each attribute’s value in the last call that set it'),
    text('proved_attributes', 'u.proved_attributes', 'JSON: the same for calls that were proved'),
    text('verification', 'u.verification', 'The label of the last call: `verified` or `unverified`'),
    text('unattested', 'u.unattested', 'Why the last call was not attested, as the SDK states it'),
    text(
      'proved_on',
      "strftime('%Y-%m-%d', u.proved_at / 1000, 'unixepoch')",
      'The UTC day of the last proved call',
    ),
    text('seen_on', "strftime('%Y-%m-%d', u.seen_at / 1000, 'unixepoch')", 'The UTC day of the last call'),
    integer('created_at', 'u.created_at', 'When the user was first identified'),
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
    integer('id', 'l.id', 'The id of the link'),
    text('app_id', 'l.app_id', 'The app'),
    text('store', 'l.store', '`apple` or `google`'),
    text('transaction_id', 'l.transaction_id', 'The original transaction id, or the Play purchase token'),
    text('platform', 'l.platform', 'The platform of the last call that named one'),
    text('app_user_id', 'l.app_user_id', 'The user'),
    text('proved_app_user_id', 'l.proved_app_user_id', 'The user whom the last proved call named'),
    text('proofs', 'l.proofs', 'JSON: the proofs of that call, of `purchase`, `device` and `server`'),
    text('credential', 'l.credential', 'What the call was made with that last changed the link'),
    text('product_id', 'l.product_id', 'The product that the app named'),
    text('unattested', 'l.unattested', 'Why the last call was not attested'),
    integer('created_at', 'l.created_at', 'When the link was made'),
    integer('updated_at', 'l.updated_at', 'When it last changed'),
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
    integer('id', 'h.id', 'The id of the change, with which the owner can undo it'),
    text('app_id', 'l.app_id', 'The app'),
    integer('link_id', 'h.link_id', 'The link'),
    text('from_app_user_id', 'h.from_app_user_id', 'The user before'),
    text('to_app_user_id', 'h.to_app_user_id', 'The user after'),
    text('from_proved_app_user_id', 'h.from_proved_app_user_id', 'The proved user before'),
    text('to_proved_app_user_id', 'h.to_proved_app_user_id', 'The proved user after'),
    text('from_proofs', 'h.from_proofs', 'JSON: the proofs before'),
    text('to_proofs', 'h.to_proofs', 'JSON: the proofs after'),
    text('from_credential', 'h.from_credential', 'The credential before'),
    text('to_credential', 'h.to_credential', 'The credential after; `owner` if the owner undid a change'),
    integer('moved_at', 'h.moved_at', 'When it changed'),
  ],
  key: ['id'],
  page: ['h.id'],
  app: 'l.app_id',
  organization: null,
  tracking: { kind: 'logged', source: 'link_history', key: ['id'] },
}

export const PEOPLE_TABLES = [users, links, moves]
