/** What was built: the build writes these constants into the bundle. */

/** `commit` is null if the build was not made in a git repository; `sqlite` is the version of SQLite in the addon. */
type Build = { version: string; commit: string | null; sqlite: string }
declare const BUNDLED_BUILD: Build | undefined

const build: Build | null = typeof BUNDLED_BUILD === 'object' ? BUNDLED_BUILD : null

/** The version of Windfall. */
export const version: string = build?.version ?? 'development'

/** The versions that `windfall --version` prints. */
export const versions = {
  windfall: version,
  commit: build?.commit ?? null,
  node: process.versions.node,
  sqlite: build?.sqlite ?? null,
}
