/**
 * The SQL that SQLite stores for a schema, without building an empty database: that takes 8 ms and 3 MB of each start.
 * SQLite stores each statement from the name of its object on (https://sqlite.org/schematab.html).
 */

/** Comments, quoted text, semicolons, and everything between them. */
const PARTS = /--[^\n]*|'[^']*'|"[^"]*"|;|[^-;'"]+|-/g
const LEADING = /^(?:\s|--[^\n]*\n)+/
const CREATE = /^create\s+(unique\s+)?(table|index|view|trigger)\s+(\w+)/i

type StoredObject = { type: string; name: string; sql: string }

/** Splits SQL into statements, without the comments before each. The body of a trigger ends with `end`. */
function statementsOf(sql: string): string[] {
  const statements: string[] = []
  let statement = ''
  for (const [part] of sql.matchAll(PARTS)) {
    const text = part === ';' ? statement.replace(LEADING, '') : null
    if (text !== null && (!/^create\s+trigger\b/i.test(text) || /\bend\s*$/i.test(text))) {
      statements.push(text)
      statement = ''
    } else statement += part
  }
  return statements
}

function storedObject(statement: string): StoredObject[] {
  const [, unique = '', type = '', name = ''] = CREATE.exec(statement) ?? []
  if (name === '') return []
  const prefix = `CREATE ${unique === '' ? '' : 'UNIQUE '}${type.toUpperCase()} `
  const fromName = statement.replace(CREATE, name).trimEnd()
  return [{ type: type.toLowerCase(), name, sql: prefix + fromName }]
}

/** The SQL of all objects of a schema, by type and name, separated by semicolons. */
export function storedSql(schema: string): string {
  const objects = statementsOf(schema).flatMap(storedObject)
  const keyOf = ({ type, name }: StoredObject): string => `${type} ${name}`
  const sorted = objects.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  return sorted.map(({ sql }) => sql).join(';')
}
