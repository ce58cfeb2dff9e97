/** Where the tests of the SDKs keep what they made or downloaded: outside the checkout, for all checkouts of this user. */
import { homedir } from 'node:os'
import { join } from 'node:path'

export const cacheFolder = (name: string): string =>
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), name)
