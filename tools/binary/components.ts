/** The list of components (SBOM) of an executable, as CycloneDX 1.6 JSON (https://cyclonedx.org/docs/1.6/json/). */

type Package = { name: string; version: string; license: string }
type Listed = {
  version: string
  sha256: string
  packages: readonly Package[]
  build: { commit: string | null; sqlite: string }
}

/** The text of the list. It depends on the executable alone, so it has no time and no random number. */
export function componentsOf({ version, sha256, packages, build: { commit, sqlite } }: Listed): string {
  const own = {
    type: 'application',
    'bom-ref': `windfall@${version}`,
    name: 'windfall',
    version,
    licenses: [{ license: { id: 'MIT' } }],
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    ...(commit !== null && { properties: [{ name: 'windfall:commit', value: commit }] }),
  }
  const components = [
    ...packages.map(componentOf),
    // Compiled into the addon of better-sqlite3.
    {
      type: 'library',
      'bom-ref': `sqlite@${sqlite}`,
      name: 'sqlite',
      version: sqlite,
      licenses: [{ license: { id: 'blessing' } }],
    },
  ]
  const refs = components.map((component) => component['bom-ref'])
  const list = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(sha256)}`,
    version: 1,
    metadata: { component: own },
    components,
    dependencies: [{ ref: own['bom-ref'], dependsOn: refs }, ...refs.map((ref) => ({ ref }))],
  }
  return `${JSON.stringify(list, null, 2)}\n`
}

function componentOf({ name, version, license }: Package) {
  const purl =
    name === 'node' ? `pkg:generic/node@${version}` : `pkg:npm/${name.replace('@', '%40')}@${version}`
  const licenses = /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }]
  return { type: 'library', 'bom-ref': purl, name, version, purl, licenses }
}

/** A UUID (version 8 of RFC 9562: custom) made of a hash. */
function uuidOf(hex: string): string {
  const digits = [...hex.slice(0, 32)]
  digits[12] = '8'
  digits[16] = '8'
  const text = digits.join('')
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join(
    '-',
  )
}
