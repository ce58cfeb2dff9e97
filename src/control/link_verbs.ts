/** Control verbs that import a file of links in parts. */
import * as v from 'valibot'
import { COMMAND_LINE } from '../access/audit.ts'
import type { Windfall } from '../app.ts'
import { type FileImport, openFileImports } from '../attribution/importing/file_imports.ts'
import { openLinkImport } from '../attribution/importing/link_import.ts'
import { type Verbs, verb } from './socket.ts'

const wholeNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const optionalSlug = v.optional(v.nullable(v.string()), null)
const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

const Begin = v.object({ id, file_name: v.string(), is_again: v.boolean() })
const Rows = v.object({ id, organization: optionalSlug, from: wholeNumber, rows: v.array(v.unknown()) })
const Judge = v.object({ organization: optionalSlug, from: wholeNumber, rows: v.array(v.unknown()) })

/** The verbs `links.import.*`. `links.judge.show` is a dry run. */
export function linkVerbs(windfall: Windfall): Verbs {
  const { organizations, audit } = windfall
  const linkImport = openLinkImport(windfall)
  const fileImports = openFileImports({ ...windfall, linkImport })
  const organizationId = (slug: string | null): string | null =>
    slug === null ? null : organizations.resolve(slug).id

  const noteFinished = ({ file_name, linked, moved, refused }: FileImport): void =>
    audit.note({
      ...COMMAND_LINE,
      action: 'links.imported',
      subject: file_name,
      detail: `${linked} linked, ${moved} moved, ${refused} refused`,
    })

  return {
    'links.import.begin': verb(Begin, ({ id, file_name, is_again }) =>
      fileImports.begin(id, file_name, is_again),
    ),
    'links.import.rows': verb(Rows, ({ id, organization, from, rows }) =>
      fileImports.addRows(id, { from, rows, organization_id: organizationId(organization) }),
    ),
    'links.import.finish': verb(v.object({ id }), ({ id }) => fileImports.finish(id, noteFinished)),
    'links.judge.show': verb(Judge, ({ organization, from, rows }) =>
      linkImport.judge(rows, { organization_id: organizationId(organization), first: from }),
    ),
  }
}
